"""Idea 11: what a crawl was allowed and refused can be proved later, from files alone."""

from example.base import ExampleSpider


class EvidenceSpider(ExampleSpider):
    """Writes each robots.txt and each decision to the folder ``evidence``.

    ``robotspec replay evidence`` makes the decisions again. Needs the package ``warcio``:
    ``pip install 'scrapy-robotspec[evidence]'``.
    """

    name = "robots_11_evidence"
    cases = ("plain", "moved", "down")
    custom_settings = {
        "ROBOTSPEC_EVIDENCE": "evidence",
        "ROBOTSPEC_HOLD_TIMEOUT": 1.5,
        "ROBOTSPEC_RETRY_DELAY": 0.5,
    }
