"""Idea 3: five redirects are followed. What is found applies to the origin first asked."""

from example.base import ExampleSpider


class RedirectsSpider(ExampleSpider):
    """Meets five redirects that lead to another origin, six redirects, and a circle."""

    name = "robots_03_redirects"
    cases = ("moved", "maze", "circle")
