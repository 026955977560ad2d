"""A script that runs a crawl in a ``CrawlerProcess``: ``in_crawler_process.py SPIDER``.

It installs its reactor after the add-ons have changed the settings.
"""

import sys

from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

process = CrawlerProcess(get_project_settings())
process.crawl(sys.argv[1])
process.start()
