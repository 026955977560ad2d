"""How things are shown to people: safe text, terminals, JSON and the HTML page.

Nothing is decided here and nothing is fetched. The command line, the ``scrapy robotspec`` command
and the crawl's report share this room.
"""
