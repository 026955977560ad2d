"""SharedLookup: one fetch of a robots.txt across processes (CAC-05).

A flight searches the shared store and takes the lease on its origin before it fetches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.lookup import Lookup
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.lookup.lookup import FetchDone, Flight
    from scrapy_robotspec.lookup.tiered_store import TieredStore

#: First and longest pause between looks for the record that another process fetches (seconds).
POLL_MIN, POLL_MAX = 0.2, 2.0
#: Max records of the shared store that one flight reads before it fetches all the same.
_MAX_NEWS = 8


class SharedLookup(Lookup):
    """Shares its fetches and their results with other processes."""

    store: TieredStore

    async def _find(self, flight: Flight) -> FetchDone:
        origin, held, plan = flight.origin, flight.held, flight.plan
        agent = self._runtime.agent(flight.request)
        look = POLL_MIN
        record = known = held
        news, has_slot, has_turn = 0, True, False
        while True:
            has_slot = has_slot or self._take_slot(origin, held)
            if has_slot:
                claim = await self.store.claim(origin, self._now(), known, agent)
            else:
                claim = Claim(False, await self.store.get_news(origin, known, agent))
            if claim.record is not None and news < _MAX_NEWS:
                news += 1
                known = record = claim.record
                if held is not None and held.updated_at > known.updated_at:
                    record = held  # the later attempt counts
                plan = self._plan(record)
                if not plan.ask or (held is None and _is_usable(plan)):
                    self.limiter.release(origin)
                    return await self._hand_over(flight, record, plan)
            elif claim.granted or (claim.record is not None and has_slot):
                turn = 0.0 if has_turn else self._turn(flight)
                if turn <= 0:
                    return await self._fetch(flight, record, known)
                has_turn = True
                self.store.release(origin)  # the turn may outlast the lease
                await self._sleep(turn)
            else:
                self.limiter.release(origin)
                has_slot = False
                # At random, which keeps processes out of step.
                await self._sleep(look * (0.5 + self._runtime.random()))
                look = min(2 * look, POLL_MAX)


def _is_usable(plan: Plan) -> bool:
    """Whether requests can be decided while the origin is asked again."""
    return plan.action not in (Action.WAIT, Action.REFUSE)
