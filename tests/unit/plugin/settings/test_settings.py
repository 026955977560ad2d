"""ROBOTSPEC_* settings: what is taken, what is refused and in which words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scrapy.settings import Settings as ScrapySettings

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.editions import EDITIONS, get_edition
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.settings.settings import Settings


def read(**values: object) -> Settings:
    prefixed = {f"ROBOTSPEC_{name.upper()}": value for name, value in values.items()}
    return Settings.from_scrapy(ScrapySettings(prefixed))


def test_without_any_setting_the_defaults_hold() -> None:
    assert Settings.from_scrapy(ScrapySettings()) == Settings()


def named(value: object) -> str:
    """An id that is the same in every process."""
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("edition", "rfc9309", EDITIONS["rfc9309"]),
        ("edition", EDITIONS["classic"], EDITIONS["classic"]),
        ("edition", '{"base": "google", "name": "mine"}', {"base": "google", "name": "mine"}),
        ("user_agent_token", ["foobot-news", "foobot"], ("foobot-news", "foobot")),
        ("user_agent_token", "foobot-news, foobot", ("foobot-news", "foobot")),
        ("user_agent_token", '["foobot-news", "foobot"]', ("foobot-news", "foobot")),
        ("user_agent_token", '["foobot"]', ("foobot",)),
        ("user_agent_token", "foobot/1.0 (+http://foo.example)", ("foobot",)),
        ("user_agent_token", "*", ()),
        ("user_agent_token", "", None),
        ("user_agent_token", "os.path.relpath", os.path.relpath),
        ("user_agent_token", "os.path:relpath", os.path.relpath),
        ("cache", Path("robots.db"), "robots.db"),
        ("cache_schemes", {"x": "builtins.dict", "y": dict}, {"x": dict, "y": dict}),
        ("cache_schemes", '{"x": "builtins.dict"}', {"x": dict}),
        ("cache_min_ttl", 0, 0.0),
        ("max_redirects", "7", 7),
        ("hold_timeout", "0", 0.0),
        ("status_policy", '{"429": "unreachable"}', {429: Meaning.UNREACHABLE}),
        ("status_policy", {"4XX": "disallow"}, {"4xx": Meaning.DISALLOW}),
        ("status_policy", "", {}),
        ("probe_server_errors", "True", True),
        ("probe_server_errors", "0", False),
        ("crawl_delay", "false", False),
        ("usage", ["train-ai", "search", "train-ai"], ("train-ai", "search")),
        ("usage", "train-ai, *x", ("train-ai", "*x")),
        ("usage", "", ()),
        ("inherit_meta", "proxy,cookiejar", ("proxy", "cookiejar")),
        ("inherit_meta", '["proxy"]', ("proxy",)),
        ("evidence", Path("/"), "/"),
        ("evidence", "new/folder", "new/folder"),
        ("evidence", "", None),
        ("evidence_headers", "X-A, x_b", ("X-A", "x_b")),
        ("evidence_timestamp", "", None),
        ("report", Path("report.jsonl"), "report.jsonl"),
        ("report", "{name} {time} %(name)s.jsonl", "{name} {time} %(name)s.jsonl"),
        ("report", "", None),
    ],
    ids=named,
)
def test_a_value_is_taken(name: str, raw: object, expected: object) -> None:
    if name == "edition" and isinstance(expected, dict):
        expected = get_edition(expected)
    assert getattr(read(**{name: raw}), name) == expected


WRONG: list[tuple[str, object, str]] = [
    ("edition", "google-2018", "google-2019"),
    *(("edition", raw, "a name (google-2019, rfc9309,") for raw in (9309, "RFC 9309", "rfc")),
    ("edition", [], "a dict with 'base'"),
    ("edition", '{"base": ', "JSON"),
    ("edition", {"base": "google", "wildcard": False}, "wildcards"),
    ("edition", {"base": "google", "wildcards": "no"}, "True or False"),
    ("user_agent_token", "my bot", "letters, '-' and '_'"),
    ("user_agent_token", "MJ12bot", "'MJ'"),
    ("user_agent_token", [], "product token"),
    ("user_agent_token", ["foobot", 7], "product token"),
    ("user_agent_token", "no.such.module", "import path"),
    ("user_agent_token", "os.path.no_such_name", "import path"),
    ("user_agent_token", "os.path.sep", "f(request, crawler)"),
    ("cache_schemes", "file", "JSON"),
    ("cache_schemes", ["file"], "a dict such as {'postgres'"),
    ("cache_schemes", {"file": 7}, "from schemes to classes of stores"),
    ("cache_schemes", {"file": "no.such.module"}, "or their import paths (No module named 'no')"),
    ("cache_schemes", {"file": "os.path.sep"}, "not '/'"),
    ("cache_ttl", "a day", "seconds"),
    ("cache_ttl", "", "seconds"),
    ("cache_ttl", 0, "0.1"),
    ("cache_ttl", float("inf"), "seconds"),
    ("cache_ttl", float("nan"), "seconds"),
    ("cache_ttl", True, "seconds"),
    ("cache_min_ttl", -1, "at least 0"),
    ("cache_min_ttl", 100_000, "ROBOTSPEC_CACHE_MAX_TTL (86400)"),
    ("max_redirects", 4, "at least 5, as edition google-2019 demands"),
    ("max_redirects", 5.5, "whole number"),
    ("max_size", 0, "at least 1"),
    ("fetch_timeout", 0, "at least 0.001"),
    ("concurrent_fetches", 0, "at least 1"),
    ("unreachable", "disallow", "'wait' or 'allow'"),
    ("hold_timeout", "5 min", "seconds"),
    ("retry_times", True, "whole number"),
    ("retry_delay", 0, "at least 0.001"),
    ("retry_delay", 90, "ROBOTSPEC_RETRY_MAX_DELAY"),
    ("status_policy", {429: "deny"}, "'unreachable'"),
    ("status_policy", {"3xx": "allow"}, "'4xx'"),
    ("status_policy", {"40x": "allow"}, "100 to 599"),
    ("status_policy", {600: "allow"}, "100 to 599"),
    *(("status_policy", {key: "allow"}, "a 3xx is followed") for key in (301, "304", 399, "3xx")),
    ("status_policy", {True: "allow"}, "100 to 599"),
    ("status_policy", [429], "a dict"),
    ("status_policy", "429=unreachable", "JSON"),
    ("probe_server_errors", "yes", "True or False"),
    ("crawl_delay", 10, "True or False, or ROBOTSPEC_DEFAULT_CRAWL_DELAY = seconds"),
    ("usage", ["Train-AI"], "labels such as 'train-ai'"),
    ("usage", [1], "a list"),
    ("usage", {"train-ai": True}, "a list"),
    ("usage_policy", "refuse", "'record' or 'refuse-disallowed' or 'require-allowed'"),
    ("inherit_meta", {"proxy": 1}, "a list"),
    ("overrides", "example.com", "JSON"),
    *(
        (
            "overrides",
            {one: "ignore", other: "disallow"},
            f"{one!r} or {other!r}: both mean the same",
        )
        for one, other in (
            ("A.example", "a.example."),
            ("a.example:080", "a.example:80"),
            ("*.A.example", "*.a.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("[::1]", "[0:0::1]"),
        )
    ),
    ("status_policy", {404: "allow", "404": "disallow"}, "404 or '404': both mean the same"),
    ("status_policy", {"4XX": "allow", "4xx": "allow"}, "'4XX' or '4xx': both mean the same"),
    ("overrides", {"a.example": "allow"}, "for 'a.example' 'ignore' (not 'allow'), 'disallow'"),
    *(
        ("evidence", raw, "the local path of a folder")
        for raw in (1, b"x", ["a"], "a\0b", __file__)
    ),
    ("evidence", "s3://bucket/evidence", "the local path of a folder"),
    *(
        ("evidence_headers", raw, "names of headers, such as ['X-Crawler-Contact']")
        for raw in ("X-Contact: me", ["X Contact"], ["Kontaktmöglichkeit"], ["\ud800"])
    ),
    ("report", "s3://bucket/report.html", "give the local path of a file"),
    ("report", "file:///tmp/report.html", "give the local path of a file"),
    *(
        ("evidence_timestamp", raw, "a command that can be run")
        for raw in ("true {digest}", "true {output}", "nowhere {digest} {output}", "sh '", 1)
    ),
    ("report", 7, "the local path of a file"),
    ("report", "report.csv", "ends in .jsonl or .html"),
    ("report", "{date}.jsonl", "no placeholders but {time} and {name}"),
    ("report", "%(date)s.jsonl", "no placeholders but {time} and {name}"),
    ("report", "a\0b.html", "give the local path of a file"),
]


@pytest.mark.parametrize(("name", "raw", "remedy"), WRONG, ids=repr)
def test_a_wrong_value_is_named_with_setting_and_remedy(
    name: str, raw: object, remedy: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(**{name: raw})
    message = str(caught.value)
    assert message.startswith(f"ROBOTSPEC_{name.upper()} = {raw!r} is wrong: give ")
    assert remedy in message


def test_a_long_value_is_shown_in_part() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(overrides={"example.com": "x" * 10_000})
    assert len(str(caught.value)) < 500


def test_limits_of_the_edition_bind_only_where_it_sets_them() -> None:
    """FET-03, FMT-12: rfc9309 demands 500 KiB and five redirects, google-2010 neither."""
    assert all(read(edition=edition).edition.name == edition for edition in EDITIONS)
    assert read(edition="google-2010", max_redirects=0, max_size=10).max_redirects == 0
    with pytest.raises(ConfigurationError, match="at least 512000, as edition"):
        read(edition="rfc9309", max_size=511_999)
    own = {"base": "google-2019", "parsing_limit": 1000}
    assert read(edition=own).max_size == 1000
    assert read(edition=own, max_size=2000).max_size == 2000


def test_a_lower_bound_gives_way_to_an_upper_one_unless_both_are_set() -> None:
    assert read(cache_max_ttl=10).cache_min_ttl == 10
    assert read(cache_max_ttl=1000).cache_min_ttl == 300
    assert read(retry_max_delay=0.2).retry_delay == 0.2
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_CACHE_MIN_TTL = 20 is wrong"):
        read(cache_min_ttl=20, cache_max_ttl=10)


def test_the_policy_gets_what_the_settings_say() -> None:
    policy = read(
        edition="google",
        cache_ttl=50,
        cache_min_ttl=0,
        cache_max_ttl=70,
        status_policy={403: "disallow"},
        unreachable="allow",
        hold_timeout=1,
        retry_times=4,
        retry_delay=2,
        retry_max_delay=3,
    ).access_policy()
    assert policy.edition is EDITIONS["google"]
    assert (policy.ttl, policy.max_ttl, policy.hold_timeout) == (50, 70, 1)
    assert (policy.retry_times, policy.retry_delay, policy.retry_max_delay) == (4, 2, 3)
    assert (policy.unreachable, policy.status_policy) == ("allow", {403: Meaning.DISALLOW})


def test_a_file_lives_long_enough_to_be_used() -> None:
    """CAC-03: with a lifetime of nothing every request would be sent back for another fetch."""
    assert read(cache_min_ttl=0).access_policy().min_ttl > 0
