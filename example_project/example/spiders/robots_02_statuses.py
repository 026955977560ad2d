"""Idea 2: the status decides first. 4xx allows all; 5xx, or a broken connection, nothing."""

from example.base import ExampleSpider


class StatusesSpider(ExampleSpider):
    """Meets a 404 whose body looks like rules, a 403, a 503, and a connection that breaks."""

    name = "robots_02_statuses"
    cases = ("missing", "locked", "down", "broken")
    #: An example should not wait for minutes until it gives up what is unreachable.
    custom_settings = {
        "ROBOTSPEC_HOLD_TIMEOUT": 1.5,
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.5,
    }
