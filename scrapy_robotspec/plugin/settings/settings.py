"""The ``ROBOTSPEC_*`` settings: one frozen object, converted and checked.

Each setting is a field with its default and its converter. ``docs/settings.md`` says what a
setting does.
"""

from __future__ import annotations

# ruff: noqa: RUF009  (the calls below make fields, not values)
import logging
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

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
    from scrapy_robotspec.plugin.settings.tokens import Chooser, Tokens

logger = logging.getLogger("scrapy_robotspec")

_T = TypeVar("_T")

PREFIX = "ROBOTSPEC_"

#: A file must live long enough to be used, whatever its server says of its lifetime (seconds).
_SHORTEST_LIFE = 0.1

#: Lower and upper bounds of one thing.
_PAIRS = (("cache_min_ttl", "cache_max_ttl"), ("retry_delay", "retry_max_delay"))


def _setting(default: Any, converter: Converter[_T]) -> _T:
    """A field with its converter."""
    return _field(default, lambda raw, edition: converter(raw))


def _composite(default: Any, name: str, *, by_edition: bool = False) -> Any:
    """A field whose converter is the function *name* of ``composite.py``.

    *by_edition*: it takes the edition too. Where the default is None, an empty text means None.
    """

    def convert_by_name(raw: Any, edition: Edition) -> Any:
        if default is None and raw == "":
            return None
        from scrapy_robotspec.plugin.settings import composite  # few crawls set one of these

        function = getattr(composite, name)
        return function(raw, edition) if by_edition else function(raw)

    return _field(default, convert_by_name)


def _field(default: Any, converter: Callable[[Any, Edition], _T]) -> _T:
    made: _T = field(default_factory=lambda: default, metadata={"convert": converter})
    return made


_POLICY = AccessPolicy(edition=get_edition("google-2019"))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Field ``x_y`` is setting ``ROBOTSPEC_X_Y``. Times are in seconds, sizes in bytes."""

    edition: Edition = _composite(_POLICY.edition, "edition")
    user_agent_token: Tokens | Chooser | None = _composite(None, "token_source", by_edition=True)
    cache: str = _setting(MEMORY, converters.text("a URI such as memory:// or sqlite:///x.db"))
    cache_ttl: float = _setting(_POLICY.ttl, converters.seconds(_SHORTEST_LIFE))
    cache_min_ttl: float = _setting(_POLICY.min_ttl, converters.seconds())
    cache_max_ttl: float = _setting(_POLICY.max_ttl, converters.seconds(_SHORTEST_LIFE))
    cache_doubtful_ttl: float = _setting(_POLICY.doubtful_ttl, converters.seconds(_SHORTEST_LIFE))
    max_redirects: int = _setting(_POLICY.edition.minimum_redirects, converters.integer(0))
    refuse_private_redirects: bool = _setting(False, converters.boolean)
    max_size: int = _setting(_POLICY.edition.parsing_limit, converters.integer(1))
    fetch_timeout: float = _setting(30.0, converters.seconds(above=True))
    concurrent_fetches: int = _setting(32, converters.integer(1))
    unreachable: Literal["wait", "allow"] = _setting(
        _POLICY.unreachable, converters.one_of("wait", "allow")
    )
    hold_timeout: float = _setting(_POLICY.hold_timeout, converters.seconds())
    retry_times: int = _setting(_POLICY.retry_times, converters.integer(0))
    retry_delay: float = _setting(_POLICY.retry_delay, converters.seconds(above=True))
    retry_max_delay: float = _setting(_POLICY.retry_max_delay, converters.seconds(above=True))
    status_policy: StatusPolicy = _composite(_POLICY.status_policy, "status_policy")
    probe_server_errors: bool = _setting(False, converters.boolean)
    crawl_delay: bool = _composite(False, "crawl_delay")
    crawl_delay_max: float = _setting(60.0, converters.seconds())
    usage: tuple[str, ...] = _composite((), "usage_labels")
    usage_policy: PolicyName = _setting(
        "record", converters.one_of("record", "refuse-disallowed", "require-allowed")
    )
    default_crawl_delay: float | None = _setting(None, converters.optional(converters.seconds()))
    inherit_meta: tuple[str, ...] = _setting(("proxy", "bindaddress"), converters.names)
    overrides: HostTable[Override] | None = _composite(None, "overrides", by_edition=True)
    check_final_url: bool = _setting(True, converters.boolean)
    browser: Literal["page", "all", "off"] = _setting(
        "page", converters.one_of("page", "all", "off")
    )
    max_parked: int = _setting(1000, converters.integer(1))
    progress_after: float = _setting(5.0, converters.seconds())
    evidence: str | None = _composite(None, "evidence_folder")
    evidence_timestamp: str | None = _composite(None, "stamping_command")
    evidence_operator: str | None = _composite(None, "operator")
    evidence_headers: tuple[str, ...] = _setting((), converters.names)
    dry_run: bool = _setting(False, converters.boolean)
    report: str | None = _composite(None, "report_file")

    given: frozenset[str] = frozenset()
    """Names of the fields that the user has set."""

    @property
    def most_fetches(self) -> int:
        """Max number of fetches in progress, silent ones included."""
        return self.concurrent_fetches * FetchLimiter.BURST_FACTOR

    @classmethod
    def names(cls) -> dict[str, Field[Any]]:
        """Every setting's name with its field."""
        return {
            PREFIX + each.name.upper(): each for each in fields(cls) if "convert" in each.metadata
        }

    @classmethod
    def from_scrapy(cls, settings: BaseSettings, *, warn: bool = True) -> Settings:
        """Read and check all of them; a wrong one raises :class:`ConfigurationError`.

        A name that no setting has gets a warning: it may belong to another version.
        """
        if warn:
            _warn_of_unknown(settings, cls.names())
        given: dict[str, Any] = {}
        edition = cls().edition
        for name, each in cls.names().items():  # the edition is the first
            raw = settings.get(name)
            if raw is not None:
                converter = partial(each.metadata["convert"], edition=edition)
                given[each.name] = convert(name, raw, converter)
                edition = given.get("edition", edition)
        read = cls(**{**_of_edition(edition), **_below(given), **given}, given=frozenset(given))
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


def _of_edition(edition: Edition) -> dict[str, Any]:
    """Defaults that the edition knows better, if it is one of the user's own."""
    return {
        "max_size": edition.parsing_limit,
        "max_redirects": max(Settings().max_redirects, edition.minimum_redirects),
    }


def _below(given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of lower bounds, lowered to an upper bound that the user has set."""
    default = Settings()
    return {low: min(getattr(default, low), given[high]) for low, high in _PAIRS if high in given}


def _check_agreement(read: Settings, settings: BaseSettings) -> None:
    """Raise ``ConfigurationError`` for the first settings that contradict each other."""
    edition = read.edition
    rules = (
        *(
            (
                getattr(read, low) <= getattr(read, high),
                low.upper(),
                f"at most {PREFIX}{high.upper()} ({getattr(read, high):g})",
            )
            for low, high in _PAIRS
        ),
        (
            read.max_redirects >= edition.minimum_redirects,
            "MAX_REDIRECTS",
            f"at least {edition.minimum_redirects}, as edition {edition.name} demands",
        ),
        (
            read.max_size >= edition.parsing_limit_minimum,
            "MAX_SIZE",
            f"at least {edition.parsing_limit_minimum}, as edition {edition.name} demands",
        ),
    )
    for agrees, name, remedy in rules:
        if not agrees:
            raw = settings.get(PREFIX + name, getattr(read, name.lower()))
            raise wrong(PREFIX + name, raw, remedy)


def _warn_of_unknown(settings: BaseSettings, known: Mapping[str, Any]) -> None:
    for name in settings:
        if isinstance(name, str) and name.startswith(PREFIX) and name not in known:
            import difflib  # few crawls need it

            tails = [each.removeprefix(PREFIX) for each in known]  # the heads are all alike
            close = difflib.get_close_matches(name.removeprefix(PREFIX), tails, 1)
            logger.warning(
                "Unknown setting %s: it has no effect%s",
                name,
                f". Is {PREFIX}{close[0]} meant?" if close else "",
            )
