"""What a robots.txt file says: octets in, verdict out. No HTTP, no clock, no input or output."""

from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.values import Finding, Group, OtherLine, Rule, Verdict

__all__ = ["Finding", "Group", "OtherLine", "RobotsTxt", "Rule", "Verdict"]
