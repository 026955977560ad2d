"""The ``ROBOTSPEC_*`` settings as one validated, frozen object.

A table: each setting is a field with its default and its reader (``readers.py``). Besides the
table only what several settings must agree on stands here. What a setting does, no line of this
file knows; ``docs/settings.md`` tells the users.
"""

from __future__ import annotations

# ruff: noqa: RUF009  (the calls below make fields, not values)
import dataclasses
import difflib
import logging
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.editions import DAY, Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.plugin.settings import readers
from scrapy_robotspec.plugin.settings.host_table import HostTable
from scrapy_robotspec.plugin.settings.overrides import Override, overrides
from scrapy_robotspec.plugin.settings.product_tokens import Chooser, Tokens, token_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    from scrapy_robotspec.access.outcome import Meaning
    from scrapy_robotspec.access.usage_policy import PolicyName

logger = logging.getLogger("scrapy_robotspec")

_T = TypeVar("_T")

PREFIX = "ROBOTSPEC_"

#: A file must live long enough to be used, whatever its server says of its lifetime (seconds).
_SHORTEST_LIFE = 0.1

#: Lower and upper bounds of one thing.
_PAIRS = (("cache_min_ttl", "cache_max_ttl"), ("retry_delay", "retry_max_delay"))


def _setting(default: Any, read: Callable[[Any], _T]) -> _T:
    """A field whose setting is read by *read*."""
    # A factory, because up to Python 3.11 an empty read-only mapping is taken for a mutable one.
    return dataclasses.field(  # type: ignore[no-any-return]
        default_factory=lambda: default, metadata={"read": lambda raw, edition: read(raw)}
    )


def _edition_setting(default: Any, read: Callable[[Any, Edition], _T]) -> _T:
    """A field whose reader needs the edition too."""
    return dataclasses.field(  # type: ignore[no-any-return]
        default_factory=lambda: default, metadata={"read": read}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Field ``x_y`` is setting ``ROBOTSPEC_X_Y``. Times are in seconds, sizes in octets."""

    edition: Edition = _setting(get_edition("google-2019"), readers.edition)
    user_agent_token: Tokens | Chooser | None = _edition_setting(None, token_source)
    cache: str = _setting("memory://", readers.text("a URI such as memory:// or sqlite:///x.db"))
    cache_ttl: float = _setting(DAY, readers.seconds(_SHORTEST_LIFE))
    cache_min_ttl: float = _setting(300.0, readers.seconds())
    cache_max_ttl: float = _setting(DAY, readers.seconds(_SHORTEST_LIFE))
    max_redirects: int = _setting(5, readers.integer(0))
    refuse_private_redirects: bool = _setting(False, readers.boolean)
    max_size: int = _setting(512_000, readers.integer(1))
    fetch_timeout: float = _setting(30.0, readers.seconds(above=True))
    concurrent_fetches: int = _setting(32, readers.integer(1))
    unreachable: Literal["wait", "allow"] = _setting("wait", readers.one_of("wait", "allow"))
    hold_timeout: float = _setting(300.0, readers.seconds())
    retry_times: int = _setting(2, readers.integer(0))
    retry_delay: float = _setting(1.0, readers.seconds(above=True))
    retry_max_delay: float = _setting(60.0, readers.seconds(above=True))
    status_policy: Mapping[int, Meaning] = _setting(MappingProxyType({}), readers.status_policy)
    probe_server_errors: bool = _setting(False, readers.boolean)
    crawl_delay: bool = _setting(False, readers.boolean)
    crawl_delay_max: float = _setting(60.0, readers.seconds())
    usage: tuple[str, ...] = _setting((), readers.usage_labels)
    usage_policy: PolicyName = _setting(
        "record", readers.one_of("record", "refuse-disallowed", "require-allowed")
    )
    default_crawl_delay: float | None = _setting(None, readers.optional(readers.seconds()))
    inherit_meta: tuple[str, ...] = _setting(("proxy", "bindaddress"), readers.names)
    overrides: HostTable[Override] = _edition_setting(HostTable(), overrides)
    check_final_url: bool = _setting(True, readers.boolean)
    max_parked: int = _setting(1000, readers.integer(1))
    progress_after: float = _setting(5.0, readers.seconds())
    dry_run: bool = _setting(False, readers.boolean)
    report: str | None = _setting(None, readers.optional(readers.new_file))

    given: frozenset[str] = frozenset()
    """Names of the fields that the user has set."""

    @property
    def most_fetches(self) -> int:
        """Max number of fetches in progress, silent ones included."""
        return self.concurrent_fetches * FetchLimiter.BURST_FACTOR

    @classmethod
    def names(cls) -> dict[str, dataclasses.Field[Any]]:
        """Every setting's name with its field."""
        return {
            PREFIX + field.name.upper(): field
            for field in dataclasses.fields(cls)
            if "read" in field.metadata
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
        for name, field in cls.names().items():  # the edition is the first
            raw = settings.get(name)
            if raw is not None:
                given[field.name] = _read(name, raw, field.metadata["read"], edition)
                edition = given.get("edition", edition)
        read = cls(**{**_of_edition(edition), **_below(given), **given}, given=frozenset(given))
        _check_agreement(read, settings)
        return read

    def policy(self) -> AccessPolicy:
        """The access policy that these settings make."""
        return AccessPolicy(
            edition=self.edition,
            ttl=self.cache_ttl,
            min_ttl=max(self.cache_min_ttl, _SHORTEST_LIFE),
            max_ttl=self.cache_max_ttl,
            status_policy=self.status_policy,
            unreachable=self.unreachable,
            hold_timeout=self.hold_timeout,
            retry_times=self.retry_times,
            retry_delay=self.retry_delay,
            retry_max_delay=self.retry_max_delay,
        )


def _read(name: str, raw: Any, read: Callable[[Any, Edition], _T], edition: Edition) -> _T:
    try:
        return read(raw, edition)
    except ValueError as problem:
        # Nothing that came before helps whoever reads the traceback of a crawl that did not start.
        raise ConfigurationError(f"{name} = {_short(raw)} is wrong: give {problem}") from None


def _short(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _of_edition(edition: Edition) -> dict[str, Any]:
    """Defaults that the edition knows better, if it is one of the user's own."""
    return {
        "max_size": edition.parsing_limit,
        "max_redirects": max(Settings().max_redirects, edition.minimum_redirects),
    }


def _below(given: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of lower bounds, which give way to an upper bound that the user has set."""
    default = Settings()
    return {low: min(getattr(default, low), given[high]) for low, high in _PAIRS if high in given}


def _check_agreement(read: Settings, settings: BaseSettings) -> None:
    """What no setting can see by itself: the first disagreement is raised."""
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
            f"at least {edition.minimum_redirects}, as edition {edition.name} demands (FET-03)",
        ),
        (
            read.max_size >= edition.parsing_limit_minimum,
            "MAX_SIZE",
            f"at least {edition.parsing_limit_minimum}, as edition {edition.name} demands (FMT-12)",
        ),
    )
    for agrees, name, remedy in rules:
        if not agrees:
            raw = settings.get(PREFIX + name, getattr(read, name.lower()))
            raise ConfigurationError(f"{PREFIX}{name} = {_short(raw)} is wrong: give {remedy}")


def _warn_of_unknown(settings: BaseSettings, known: Mapping[str, Any]) -> None:
    for name in settings:
        if isinstance(name, str) and name.startswith(PREFIX) and name not in known:
            tails = [each.removeprefix(PREFIX) for each in known]  # the heads are all alike
            close = difflib.get_close_matches(name.removeprefix(PREFIX), tails, 1)
            logger.warning(
                "There is no setting %s: it has no effect%s",
                name,
                f". Is {PREFIX}{close[0]} meant?" if close else "",
            )
