"""Reads robots.txt: bytes in, verdict out. No HTTP, no clock, no I/O."""

from scrapy_robotspec.protocol.models import Finding, Group, OtherLine, Rule, Verdict
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

__all__ = ["Finding", "Group", "OtherLine", "RobotsTxt", "Rule", "Verdict"]
