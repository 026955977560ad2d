"""SharedLookup: one fetch of a robots.txt across processes (CAC-05).

A process searches the shared store and takes the lease on its origin before it fetches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scrapy_robotspec.access.policy import SKEW, Action
from scrapy_robotspec.lookup.lookup import Fetch, FetchDone, Lookup
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from scrapy_robotspec.lookup.tiered_store import TieredStore

#: First and longest pause between looks for the record that another process fetches (seconds).
POLL_MIN, POLL_MAX = 0.2, 2.0
#: Max records of the shared store that one fetch reads before it is made all the same.
_MAX_READS = 8


class SharedLookup(Lookup):
    """Shares its fetches and their results with other processes."""

    store: TieredStore

    async def _find(self, fetch: Fetch) -> FetchDone:
        origin, held, policy = fetch.origin, fetch.held, self._runtime.policy_of(fetch.origin)
        agent = self._runtime.agent(fetch.request)
        pause, reads = POLL_MIN, 0
        record = known = held
        has_slot, is_delayed = True, False
        while True:
            has_slot = has_slot or self._take_slot(fetch)
            if has_slot:
                # Until the store replies, no server is silent.
                self.limiter.restart(origin, math.inf)
                claim = await self.store.claim(origin, self._runtime.clock(), known, agent)
                self.limiter.restart(origin, self._runtime.loop_time.now())
            else:
                claim = Claim(False, await self.store.get_shared(origin, known, agent))
            if claim.record is not None and reads < _MAX_READS:
                reads += 1
                known = record = claim.record
                now = self._runtime.clock()
                # One from the future is from before the clock was put back.
                if held is not None and known.rank < held.rank <= (now + SKEW, math.inf):
                    record = held
                plan = policy.plan(record, now)
                is_usable = plan.action not in (Action.WAIT, Action.REFUSE)
                if not plan.ask or (held is None and is_usable):  # else it is asked first
                    self.limiter.end(origin)
                    return await self._keep(fetch, record)
            elif claim.granted or (claim.record is not None and has_slot):
                delay = 0.0 if is_delayed else self._delay(fetch)
                if delay <= 0:
                    return await self._fetch(fetch, record, known)
                is_delayed = True
                self.store.release(origin)  # the delay may outlast the lease
                await self._sleep(delay)
            else:
                self.limiter.end(origin)
                has_slot = False
                # At random, which keeps processes out of step.
                await self._sleep(pause * (0.5 + self._runtime.random()))
                pause = min(2 * pause, POLL_MAX)
