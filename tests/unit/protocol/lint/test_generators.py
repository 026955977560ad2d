"""Files that common generators write for valid options, and what the linter says of each.

``generators/`` holds their output, by name and version of the package.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt

FOLDER = Path(__file__).with_name("generators")
#: Line, code, and a part of the message, of each finding.
FOUND = {
    "astro-robots-2.3.1-base": [],  # its sitemap, docssitemap-index.xml, is a valid URL
    "dash-improve-my-llms-2.10.0-search-bots": [
        (10, "RS509", "does not reach 6 crawlers"),
        (52, "RS219", '"AI2Bot" is read as "AI"'),
        (70, "RS209", "may ignore robots.txt"),
        (70, "RS218", 'and 1 more) may fetch "/admin", which "*" may not'),
        (85, "RS209", "may ignore robots.txt"),
    ],
    "django-robots-manager-6.2.1-name-without-rules": [
        (6, "RS206", 'lets "ClaudeBot" fetch every page'),
    ],
    "django-robots-6.1-name-without-rules": [
        (3, "RS208", 'lets "Googlebot" fetch "/public", not "/"'),
        (7, "RS309", "A space in a path"),
        (10, "RS203", '"CCBot" does not follow the group'),
        (13, "RS206", 'lets "slow" fetch every page'),
        (17, "RS401", "A sitemap needs an absolute URL"),
        (17, "RS405", "The sitemap is disallowed"),
        (18, "RS405", "The sitemap is disallowed"),
    ],
    "express-robots-middleware-1.0.1-empty-value": [  # options "*": nothing, GPTBot: all
        (3, "RS208", 'lets "*" fetch no page'),
        (4, "RS216", "The site is closed"),
    ],
    "gatsby-plugin-robots-txt-1.8.0-env": [(2, "RS216", "The site is closed")],
    "generate-robotstxt-8.0.3-cleanparam": [],
    "generate-robotstxt-8.0.3-escapes": [
        (3, "RS321", "The percent sign of an escape is escaped again"),
    ],
    "generate-robotstxt-8.0.3-name-without-rules": [
        (3, "RS208", 'lets "GPTBot" fetch "/", not "/search"'),
    ],
    "hexo-generator-robotstxt-0.2.0-list-of-names": [
        (1, "RS203", '"CCBot" does not follow the group'),
        (4, "RS401", "A sitemap needs an absolute URL"),
    ],
    "nasa-gcn-remix-seo-2.0.1-closed": [(3, "RS304", 'lets "*" fetch "/"')],
    "next-16.4.6-name-without-rules": [(3, "RS208", 'lets "bingbot" fetch no page')],
    "next-16.4.6-relative-sitemap": [
        (2, "RS307", "A rule without a path has no effect"),
        (5, "RS401", "A sitemap needs an absolute URL"),
    ],
    "next-sitemap-4.2.3-list-of-names": [(6, "RS203", '"CCBot" does not follow the group')],
    "next-sitemap-4.2.3-name-without-rules": [(5, "RS208", 'lets "bingbot" fetch no page')],
    "nuxtjs-robots-6.2.3-block-ai-bots": [
        (6, "RS209", '"ChatGPT-User" may ignore robots.txt'),
        (18, "RS209", '"meta-externalfetcher" may ignore robots.txt'),
        (26, "RS209", '"Perplexity-User" may ignore robots.txt'),
        (39, "RS219", '"AI2Bot" is read as "AI"'),
    ],
    "nuxtjs-robots-6.2.3-name-without-rules": [(3, "RS208", 'lets "bingbot" fetch no page')],
}


@pytest.mark.parametrize("name", FOUND)
def test_each_effect_of_a_generated_file_is_said(name: str) -> None:
    """With its line, and no other finding."""
    found = RobotsTxt.parse(FOLDER.joinpath(f"{name}.txt").read_bytes()).lint()
    assert [(each.line, each.code) for each in found] == [each[:2] for each in FOUND[name]]
    for finding, (_, _, words) in zip(found, FOUND[name], strict=True):
        assert words in finding.message


def test_no_sample_is_left_out() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*FOUND}


@pytest.mark.parametrize("name", [name for name in FOUND if "name-without-rules" in name])
def test_the_page_names_the_generator(name: str) -> None:
    """``docs/lint.md`` shows what follows."""
    page = Path(__file__).parents[4].joinpath("docs", "lint.md").read_text(encoding="utf-8")
    package, _, version = name.removesuffix("-name-without-rules").rpartition("-")
    assert f"{package.replace('nuxtjs-', '@nuxtjs/')} {version}" in page
