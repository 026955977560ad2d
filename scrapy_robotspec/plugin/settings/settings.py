"""The ``ROBOTSPEC_*`` settings: one frozen object, converted and checked.

Each setting is a field with its default and its converter. ``docs/settings.md`` says what a
setting does.
"""

from __future__ import annotations

# ruff: noqa: RUF009  (the calls below make fields, not values)
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from scrapy_robotspec.access.exchange import RedirectLimits
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.converters import (
    Converter,
    boolean,
    convert,
    integer,
    names,
    one_of,
    seconds,
    text,
    wrong,
)
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.store import MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    from scrapy_robotspec.access.outcome import StatusPolicy
    from scrapy_robotspec.access.overrides import HostTable
    from scrapy_robotspec.access.usage_policy import PolicyName
    from scrapy_robotspec.plugin.settings.composite import Chooser, Tokens

PREFIX = "ROBOTSPEC_"
ENABLE = 'set ADDONS = {"scrapy_robotspec.Addon": 500}'

#: A file must live long enough to be used, whatever its server says of its lifetime (seconds).
_SHORTEST_LIFE = 0.1

#: Lower and upper bounds of one thing.
_PAIRS = (("cache_min_ttl", "cache_max_ttl"), ("retry_delay", "retry_max_delay"))


def _setting(default: Any, converter: Converter[Any] | None = None) -> Any:
    """A field with its converter; None: it is in the table of ``composite.py``.

    Where the default is None, an empty text means None.
    """
    return field(default_factory=lambda: default, metadata={"convert": converter})


_POLICY = AccessPolicy(edition=get_edition("google-2019"))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Field ``x_y`` is setting ``ROBOTSPEC_X_Y``. Times are in seconds, sizes in bytes."""

    edition: Edition = _setting(_POLICY.edition)
    user_agent_token: Tokens | Chooser | None = _setting(None)
    cache: str = _setting(MEMORY, str)
    cache_schemes: Mapping[str, Callable[[str], object]] = _setting({})
    cache_ttl: float = _setting(_POLICY.ttl, seconds(_SHORTEST_LIFE))
    cache_min_ttl: float = _setting(_POLICY.min_ttl, seconds())
    cache_max_ttl: float = _setting(_POLICY.max_ttl, seconds(_SHORTEST_LIFE))
    cache_doubtful_ttl: float = _setting(_POLICY.doubtful_ttl, seconds(_SHORTEST_LIFE))
    max_redirects: int = _setting(_POLICY.edition.minimum_redirects, integer(0))
    refuse_private_redirects: bool = _setting(False, boolean)
    max_size: int = _setting(_POLICY.edition.parsing_limit, integer(1))
    fetch_timeout: float = _setting(30.0, seconds(0.001))
    concurrent_fetches: int = _setting(32, integer(1))
    unreachable: Literal["wait", "allow"] = _setting(_POLICY.unreachable, one_of("wait", "allow"))
    hold_timeout: float = _setting(_POLICY.hold_timeout, seconds())
    retry_times: int = _setting(_POLICY.retry_times, integer(0))
    retry_delay: float = _setting(_POLICY.retry_delay, seconds(0.001))
    retry_max_delay: float = _setting(_POLICY.retry_max_delay, seconds(0.001))
    status_policy: StatusPolicy = _setting(_POLICY.status_policy)
    probe_server_errors: bool = _setting(False, boolean)
    crawl_delay: bool = _setting(
        False,
        partial(boolean, wanted="True or False, or ROBOTSPEC_DEFAULT_CRAWL_DELAY = seconds"),
    )
    crawl_delay_max: float = _setting(60.0, seconds())
    usage: tuple[str, ...] = _setting(())
    usage_policy: PolicyName = _setting(
        "record", one_of("record", "refuse-disallowed", "require-allowed")
    )
    default_crawl_delay: float | None = _setting(None, seconds())
    inherit_meta: tuple[str, ...] = _setting(("proxy", "bindaddress"), names)
    overrides: HostTable | None = _setting(None)
    check_final_url: bool = _setting(True, boolean)
    browser: Literal["page", "all", "off"] = _setting("page", one_of("page", "all", "off"))
    max_parked: int = _setting(1000, integer(1))
    progress_after: float = _setting(5.0, seconds())
    evidence: str | None = _setting(None)
    evidence_timestamp: str | None = _setting(None)
    evidence_operator: str | None = _setting(None, text)
    evidence_headers: tuple[str, ...] = _setting(())
    dry_run: bool = _setting(False, boolean)
    report: str | None = _setting(None)

    @property
    def most_fetches(self) -> int:
        """Max number of fetches in progress, silent ones included."""
        return self.concurrent_fetches * FetchLimiter.BURST_FACTOR

    @classmethod
    def names(cls) -> dict[str, Field[Any]]:
        """Every setting's name with its field."""
        return {PREFIX + each.name.upper(): each for each in fields(cls)}

    @classmethod
    def from_scrapy(cls, settings: BaseSettings) -> Settings:
        """Read and check all of them; a wrong one raises :class:`ConfigurationError`."""
        default = cls()
        given: dict[str, Any] = {"edition": default.edition}
        for name, each in cls.names().items():  # the edition is the first
            raw = settings.get(name)
            if raw is None or (raw == "" and getattr(default, each.name) is None):
                continue
            converter = each.metadata["convert"]
            if converter is None:
                from scrapy_robotspec.plugin.settings.composite import converter_of  # few set one

                converter = converter_of(each.name, given["edition"])
            given[each.name] = convert(name, raw, converter)
        # Defaults that the edition, or an upper bound, knows better.
        edition = given["edition"]
        adapted = {
            "max_size": edition.parsing_limit,
            "max_redirects": max(default.max_redirects, edition.minimum_redirects),
        }
        for low, high in _PAIRS:
            adapted[low] = min(getattr(default, low), given.get(high, getattr(default, high)))
        read = cls(**{**adapted, **given})
        _check_agreement(read, settings)
        return read

    @property
    def redirect_limits(self) -> RedirectLimits:
        """The redirects that a robots.txt request follows."""
        return RedirectLimits(
            max_redirects=self.max_redirects,
            refuse_private=self.refuse_private_redirects,
            recognises_loops=self.edition.recognises_redirect_loops,
        )

    def access_policy(self) -> AccessPolicy:
        """The access policy that these settings make."""
        return AccessPolicy(
            edition=self.edition,
            ttl=self.cache_ttl,
            min_ttl=max(self.cache_min_ttl, _SHORTEST_LIFE),
            max_ttl=self.cache_max_ttl,
            doubtful_ttl=self.cache_doubtful_ttl,
            status_policy=self.status_policy,
            unreachable=self.unreachable,
            hold_timeout=self.hold_timeout,
            retry_times=self.retry_times,
            retry_delay=self.retry_delay,
            retry_max_delay=self.retry_max_delay,
        )


def _check_agreement(read: Settings, settings: BaseSettings) -> None:
    """Raise ``ConfigurationError`` for the first settings that contradict each other."""

    def refuse(field_name: str, remedy: str) -> NoReturn:
        name = PREFIX + field_name.upper()
        raise wrong(name, settings.get(name, getattr(read, field_name)), remedy)

    edition = read.edition
    for name, least in (
        ("max_redirects", edition.minimum_redirects),
        ("max_size", edition.parsing_limit_minimum),
    ):
        if getattr(read, name) < least:
            refuse(name, f"at least {least}, as edition {edition.name} demands")
    for low, high in _PAIRS:
        most = getattr(read, high)
        if getattr(read, low) > most:
            refuse(low, f"at most {PREFIX}{high.upper()} ({most:g})")
