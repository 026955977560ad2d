"""Loads a state together with the body that it refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.exchange import result_of

if TYPE_CHECKING:
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.evidence.states import State


def load_state(reader: RunReader, id_: str) -> State:
    """The state *id_* with its body.

    Raises ``EvidenceError`` where a record is missing, or the body does not fit its digest.
    """
    state = reader.find_state(id_)
    if state.body_record is None:
        return state
    found = reader.find(state.body_record)
    if not found.is_exchange:  # found in a store, already decoded
        return state.with_body(found.block)
    assert reader.settings is not None  # the first line of a log contains them
    result = result_of(found.exchange(), (), None, reader.settings.max_size)
    return state.with_body(result.body)
