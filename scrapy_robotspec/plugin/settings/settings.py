"""The ``ROBOTSPEC_*`` settings: one frozen object, converted and checked.

Each setting is a field with its default and its converter. ``docs/settings.md`` says what a
setting does.
"""

from __future__ import annotations

# ruff: noqa: RUF009  (the calls below make fields, not values)
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from scrapy_robotspec import converters
from scrapy_robotspec.access.exchange import RedirectLimits
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.converters import Converter, convert, wrong
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.store import MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    from scrapy_robotspec.access.outcome import StatusPolicy
    from scrapy_robotspec.access.overrides import HostTable, Override
    from scrapy_robotspec.access.usage_policy import PolicyName
    from scrapy_robotspec.plugin.settings.composite import Chooser, Tokens

_T = TypeVar("_T")

PREFIX = "ROBOTSPEC_"

#: A file must live long enough to be used, whatever its server says of its lifetime (seconds).
_SHORTEST_LIFE = 0.1

#: Lower and upper bounds of one thing.
_PAIRS = (("cache_min_ttl", "cache_max_ttl"), ("retry_delay", "retry_max_delay"))


def _setting(default: Any, converter: Converter[_T]) -> _T:
    """A field with its converter. Where the default is None, an empty text means None."""
    made: _T = field(default_factory=lambda: default, metadata={"convert": converter})
    return made


def _composite(default: Any, name: str) -> Any:
    """A field whose converter is the function *name* of ``composite.py``."""

    def convert_by_name(raw: Any, **edition: Edition) -> Any:
        from scrapy_robotspec.plugin.settings import composite  # few crawls set one of these

        return getattr(composite, name)(raw, **edition)

    return _setting(default, convert_by_name)


_POLICY = AccessPolicy(edition=get_edition("google-2019"))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Field ``x_y`` is setting ``ROBOTSPEC_X_Y``. Times are in seconds, sizes in bytes."""

    edition: Edition = _composite(_POLICY.edition, "edition")
    user_agent_token: Tokens | Chooser | None = _composite(None, "token_source")
    cache: str = _setting(MEMORY, str)
    cache_schemes: Mapping[str, Callable[[str], object]] = _composite({}, "cache_schemes")
    cache_ttl: float = _setting(_POLICY.ttl, converters.seconds(_SHORTEST_LIFE))
    cache_min_ttl: float = _setting(_POLICY.min_ttl, converters.seconds())
    cache_max_ttl: float = _setting(_POLICY.max_ttl, converters.seconds(_SHORTEST_LIFE))
    cache_doubtful_ttl: float = _setting(_POLICY.doubtful_ttl, converters.seconds(_SHORTEST_LIFE))
    max_redirects: int = _setting(_POLICY.edition.minimum_redirects, converters.integer(0))
    refuse_private_redirects: bool = _setting(False, converters.boolean)
    max_size: int = _setting(_POLICY.edition.parsing_limit, converters.integer(1))
    fetch_timeout: float = _setting(30.0, converters.seconds(0.001))
    concurrent_fetches: int = _setting(32, converters.integer(1))
    unreachable: Literal["wait", "allow"] = _setting(
        _POLICY.unreachable, converters.one_of("wait", "allow")
    )
    hold_timeout: float = _setting(_POLICY.hold_timeout, converters.seconds())
    retry_times: int = _setting(_POLICY.retry_times, converters.integer(0))
    retry_delay: float = _setting(_POLICY.retry_delay, converters.seconds(0.001))
    retry_max_delay: float = _setting(_POLICY.retry_max_delay, converters.seconds(0.001))
    status_policy: StatusPolicy = _composite(_POLICY.status_policy, "status_policy")
    probe_server_errors: bool = _setting(False, converters.boolean)
    crawl_delay: bool = _setting(
        False,
        partial(
            converters.boolean, wanted="True or False, or ROBOTSPEC_DEFAULT_CRAWL_DELAY = seconds"
        ),
    )
    crawl_delay_max: float = _setting(60.0, converters.seconds())
    usage: tuple[str, ...] = _composite((), "usage_labels")
    usage_policy: PolicyName = _setting(
        "record", converters.one_of("record", "refuse-disallowed", "require-allowed")
    )
    default_crawl_delay: float | None = _setting(None, converters.seconds())
    inherit_meta: tuple[str, ...] = _setting(("proxy", "bindaddress"), converters.names)
    overrides: HostTable[Override] | None = _composite(None, "overrides")
    check_final_url: bool = _setting(True, converters.boolean)
    browser: Literal["page", "all", "off"] = _setting(
        "page", converters.one_of("page", "all", "off")
    )
    max_parked: int = _setting(1000, converters.integer(1))
    progress_after: float = _setting(5.0, converters.seconds())
    evidence: str | None = _composite(None, "evidence_folder")
    evidence_timestamp: str | None = _composite(None, "stamping_command")
    evidence_operator: str | None = _setting(None, converters.text("a text"))
    evidence_headers: tuple[str, ...] = _setting((), converters.names)
    dry_run: bool = _setting(False, converters.boolean)
    report: str | None = _composite(None, "report_file")

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
        given: dict[str, Any] = {}
        for name, each in cls.names().items():  # the edition is the first
            raw = settings.get(name)
            if raw is None or (raw == "" and getattr(default, each.name) is None):
                continue
            converter = each.metadata["convert"]
            if each.name in ("user_agent_token", "overrides"):
                converter = partial(converter, edition=given.get("edition", default.edition))
            given[each.name] = convert(name, raw, converter)
        # Defaults that the edition, or an upper bound, knows better.
        edition = given.get("edition", default.edition)
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

    @property
    def keeps_delays(self) -> bool:
        """Whether pages of an origin are kept apart."""
        return self.crawl_delay or self.default_crawl_delay is not None

    def policy(self) -> AccessPolicy:
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
