"""Resolved origins as bytes: small, and read sooner than their records are.

Crawls of more origins than the rules cache holds unpack most of them for a single decision. The
packed form answers the crawler that asked last; the record is decoded only for other questions.
The bytes never leave the process, so ``marshal`` may read them.
"""

from __future__ import annotations

import marshal
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING

from scrapy_robotspec.access.decision import make_provenance
from scrapy_robotspec.access.outcome import Hop
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.results import Resolved
from scrapy_robotspec.protocol import packed
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.store.base import read

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.editions import Edition

#: Packed forms that are longer would save little (bytes).
_MAX_PACKED = 4096
#: Memory of an unpacked origin without its rules, besides its packed form (bytes, estimated).
_PER_UNPACKED = 512
_ACTIONS = tuple(Action)


def is_compiled(resolved: Resolved) -> bool:
    """Whether :func:`pack` would find compiled rules."""
    return resolved.robots is not None and packed.is_compiled(resolved.robots)


def pack(resolved: Resolved) -> bytes | None:
    """*resolved* without its record, for :func:`unpack`; None if its rules are long."""
    robots = resolved.robots
    rules = None if robots is None else packed.pack(robots, f"{resolved.origin}/~")
    if rules is None and robots is not None:
        return None
    outcome, status, failure, hops = resolved.provenance
    values = (
        _ACTIONS.index(resolved.action),
        resolved.reason,
        rules,
        resolved.unreachable,
        (outcome, status, failure, tuple(map(astuple, hops))),
        resolved.fetched_at,
        resolved.valid_from,
        resolved.valid_until,
        resolved.extensions is not None,
    )
    try:
        data = marshal.dumps(values)
    except ValueError:  # a subclass of str or int among them
        return None
    if len(data) > _MAX_PACKED:
        return None
    size = _PER_UNPACKED + len(data) + (0 if rules is None else packed.memory_of(rules))
    return marshal.dumps((size, *values))


def unpack(
    record: bytes, data: bytes, origin: Origin, edition: Edition, max_size: int | None
) -> Resolved:
    """The resolved *origin* whose packed form is *data*, beside its stored *record*."""
    values = marshal.loads(data)  # hot path
    size, action, reason, rules, unreachable, source, fetched_at, begin, end, more = values
    robots = None
    if rules is not None:
        body = partial(_body, record, origin, edition, max_size)
        robots = packed.UnpackedRobotsTxt(rules, edition, body)
    outcome, status, failure, hops = source
    return Resolved(
        origin,
        _ACTIONS[action],
        reason,
        robots,
        unreachable,
        make_provenance(outcome, status, failure, hops and tuple(Hop(*hop) for hop in hops)),
        fetched_at,
        begin,
        end,
        {} if more else None,
        record,
        size + len(record),
    )


def _body(stored: bytes, origin: Origin, edition: Edition, max_size: int | None) -> bytes:
    record = read(stored, origin)
    assert record is not None  # it was decoded before the origin was packed
    return RobotsTxt.parse(record.body, edition, limit=max_size).body
