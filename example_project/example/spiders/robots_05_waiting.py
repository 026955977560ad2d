"""Idea 5: 503 means "not now". Its pages wait in the scheduler and all others go on."""

from example.base import ExampleSpider


class WaitingSpider(ExampleSpider):
    """Meets an origin whose robots.txt answers 503 for three seconds, and two that are well."""

    name = "robots_05_waiting"
    cases = ("busy", "plain", "missing")
    custom_settings = {"ROBOTSPEC_RETRY_MAX_DELAY": 1}
