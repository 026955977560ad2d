"""Replay: every logged decision made again, and each line at its place.

The owner of a folder can write all lines and hashes again; lines that then contradict each other
are found. The rules of a page hold until it leaves (CAC-07).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.account import ANSWERED, RequestCounts
from scrapy_robotspec.access.decision import Decision, decision_by
from scrapy_robotspec.access.exchange import MISPLACED, RedirectChain, result_of
from scrapy_robotspec.access.origin import Origin, without_user_info
from scrapy_robotspec.access.outcome import NOT_FROM_THE_SITE, FetchResult
from scrapy_robotspec.access.reasons import EXEMPT, OUTCOMES, Group
from scrapy_robotspec.evidence.log_lines import (
    NO_ANSWER,
    OVERRIDE,
    EvidenceError,
    Line,
    LoggedDecision,
    Members,
    NotCheckableError,
    State,
    digest_of,
    dumps,
    loads,
    members_of,
)
from scrapy_robotspec.evidence.run_reader import Reading, RunReader, read_runs
from scrapy_robotspec.evidence.warc import RESPONSES
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy_robotspec.access.overrides import Replacement
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.access.resolved import Resolved


#: Members that a decision may lack.
_MAY_MISS = dict.fromkeys(("usage", "label", "override", "resolved"))
#: Max length of a URL times that of a robots.txt: their comparison then takes up to a minute.
MAX_WORK = 2**34
#: Max length of a URL in a problem (characters).
_MAX_SUBJECT = 200
#: The clock may be off by a second without a note in the log, at each of two lines (seconds).
_UNNOTED = 2.0
#: Longest time that a request is under way while the clock is set (seconds).
_UNDER_WAY = 600.0
#: Seconds between the last check of a page and the time at which it leaves.
_SENDING = 1.0
#: The largest jitter: pauses between attempts are chosen between those for 0 and for this.
_MAX_JITTER = 1 - 2**-53
#: Max requests for one URL of a redirect chain, and for other pages behind it (FET-15).
_ASKED_TWICE, _PROBES = 2, 2
#: Stages of decisions that refuse no page.
_ASIDE = ("question", "dry_run")
#: Lines that the recorder writes, before or after those of the same time.
_OWN = ("clock", "gap")


@dataclass(slots=True)
class ReplayResult(Reading):
    """Counts and problems of a replay."""

    agree: int = 0
    """Decisions by a replayed robots.txt that came out as logged."""
    not_checkable: int = 0
    """Decisions that need a body which was left out of the archive (SAF-06), or that a release with
    other rules made otherwise."""
    without_file: int = 0
    """Decisions that no robots.txt was replayed for: overrides, and requests not checked."""
    sent: int = 0
    """Pages that left."""
    sent_by_rules: int = 0
    """Pages that left by the rules of a robots.txt."""
    answered_by_middleware: int = 0
    """Pages of another middleware, which nothing was seen leaving for."""
    answered: dict[Origin, bool] = field(default_factory=dict)
    """Whether the archive has a robots.txt of an origin, or an answer that there is none."""

    @property
    def differ(self) -> int:
        """Decisions that came out otherwise."""
        return self.decisions - self.agree - self.not_checkable - self.without_file

    @property
    def origins(self) -> int:
        """Number of origins."""
        return len(self.answered)

    @property
    def origins_without_file(self) -> int:
        """Number of these without an archived robots.txt."""
        return list(self.answered.values()).count(False)


def replay(folder: Path) -> ReplayResult:
    """Replay every run in *folder*."""
    result = ReplayResult()
    for reader in read_runs(folder, result):
        run = RunReplay(reader, result)
        for line in reader.lines():
            run.take(line)
    return result


class RunReplay:
    """Replays one run, line by line."""

    def __init__(self, reader: RunReader, result: ReplayResult) -> None:
        self._reader = reader
        self._result = result
        self._sequence = Sequence(reader)

    def take(self, line: Line) -> None:
        values = line.values
        subject = (values.get("url") or values.get("id") or values["type"])[:_MAX_SUBJECT]
        with self._reader.noting(subject):
            self._check(values)
            self._sequence.take_time(values)

    def _check(self, values: Members) -> None:
        match values["type"]:
            case "decision":
                self._take_decision(values)
            case "state":
                self._take_state(State.from_values(values))
            case "sent":
                self._result.sent += 1
                self._result.sent_by_rules += self._sequence.take_sent(values) == "rules"
            case "answered":
                self._result.answered_by_middleware += 1
                self._sequence.take_answered(values)
            case "end":
                self._sequence.take_end(values)

    def _take_state(self, state: State) -> None:
        """Check that a state follows from what it names, and at its place."""
        if state.record.fetched_at is not None:
            self._result.answered[state.record.origin] = True
        self._sequence.take_state(state)
        try:
            if state.source == "store":
                self._reader.with_body(state)
            else:
                self._check_fetched(state)
        except NotCheckableError:
            self._reader.unchecked.add(state.id)
            raise

    def _check_fetched(self, state: State) -> None:
        """Check that a state follows from the exchanges of its fetch and the state before."""
        reader, record, before = self._reader, state.record, None
        most = _ASKED_TWICE * (reader.settings.redirects.max_redirects + 1) + _PROBES
        if len(state.exchanges) > most:
            raise EvidenceError("it names more responses than its settings allow")
        files = {None, *state.exchanges}
        if state.before is not None:
            held = reader.state_of(record.origin, state.before)
            files.add(held.body_record)
            before = reader.with_body(held)
        if state.body_record not in files:
            raise EvidenceError(f"{state.body_record} is the file of another fetch")
        result = _fetch_result(state, reader)
        policy = reader.settings.policy_of(record.origin)
        early, late = (
            policy.apply(before, record.origin, result, _ended(record), jitter)
            for jitter in (_MAX_JITTER, 0.0)
        )
        attempts = (early.next_attempt, record.next_attempt, late.next_attempt)
        times = sorted(each for each in attempts if each is not None)
        if len(times) == len(attempts):  # any pause between the two is one that the policy chooses
            late = replace(late, next_attempt=times[1])
        if (replace(late, body=b""), digest_of(late.body)) != (record, state.body_sha256):
            raise reader.otherwise("the state does not follow from the archived exchanges")

    # --- decisions

    def _take_decision(self, logged: Members) -> None:
        """Check that a decision is made again as logged, and at its place."""
        result, until = self._result, inf
        try:
            found = self._repeat(logged)
            if found is None:
                result.without_file += 1
            else:
                result.agree += 1
                until = found.valid_until
        except NotCheckableError:  # too many for a note each
            result.not_checkable += 1
        finally:
            self._sequence.take_decision(logged, until)

    def _repeat(self, logged: Members) -> Resolved | None:
        """Make a decision again, as logged, and return the archived rules that it follows from."""
        settings = self._reader.settings
        again = self._decide(logged)
        members = members_of(again, settings.policy.edition.name, settings.overrides)
        expected = {**_MAY_MISS, **loads(dumps(members))}
        different = [name for name, value in expected.items() if logged.get(name) != value]
        if different:
            shown = (f"{each} {logged.get(each)!r}, not {expected[each]!r}" for each in different)
            raise self._reader.otherwise(f"the log says {'; '.join(shown)}")
        return again.found

    def _decide(self, logged: Members) -> LoggedDecision:
        """Decide about the question of a line."""
        settings = self._reader.settings
        names = ("number", "time", "stage", "url", "rules_time", "header")
        given: Members = {name: logged.get(name) for name in names}
        again = LoggedDecision(**given, tokens=tuple(logged["tokens"]))
        url, tokens, header = again.url, again.tokens, again.header
        origin = Origin.of(url)
        if origin is not None:
            self._result.answered.setdefault(origin, False)
        if logged["reason"] == EXEMPT:
            return again
        if origin is None:
            raise EvidenceError("no robots.txt applies to the URL")
        if logged["policy"] == NO_ANSWER:
            failure = logged.get("failure")
            decision = Decision(False, "unreachable", origin=origin, failure=failure)
            return again._replace(decision=decision)
        robots: Replacement | None
        at = again.rules_time or again.time
        if logged["policy"] == OVERRIDE:
            override = settings.overrides.find(origin)
            if override is None or override.replacement is None:
                raise EvidenceError("no override of the run replaces the robots.txt")
            robots = override.replacement
            decide = partial(decision_by, robots, origin)
        else:
            found = self._reader.resolved(logged["state"], origin, at)
            robots, decide = found.robots, partial(found.decide, now=at)
            again = again._replace(found=found, state=self._reader.states[origin])
        rules = robots if isinstance(robots, RobotsTxt) else None
        if rules is not None and len(url) * len(rules.body) > MAX_WORK:
            raise EvidenceError("URL and robots.txt are longer than can be compared")
        decision = decide(url, tokens)
        if not decision.allowed or robots == "ignore":
            return again._replace(decision=decision)
        usage = Usage() if rules is None else rules.usage(url, tokens)
        stated = usage | Usage.from_header(header or "")
        refusal = settings.usage.refusal(stated, final=header is not None)
        if refusal is not None:
            decision = decision.refused_for(refusal)
        return again._replace(decision=decision, usage=usage.preferences)


def _ended(record: RobotsRecord) -> float:
    """When the latest attempt ended; its copy may be of a clock that was set back since."""
    return record.updated_at if record.failed_at is None else record.failed_at


def _fetch_result(state: State, reader: RunReader) -> FetchResult:
    """The result of the archived exchanges, followed as the crawl did.

    Server errors are misplaced where a missing page answered 5xx, and the first page 2xx (FET-15).
    """
    settings = reader.settings
    # One at a time is in memory.
    exchanges = filter(None, (reader.find(each).exchange() for each in state.exchanges))
    chain, last = RedirectChain(state.record.origin, settings.redirects), None
    for exchange in exchanges:
        if exchange.url != without_user_info(chain.url):  # archives contain no passwords
            raise reader.otherwise(f"{exchange.url!a} is not the next URL of its redirect chain")
        if not chain.follow(exchange):
            last = exchange
            break
    probes = [each.status // 100 for each in exchanges]
    error, local = state.failure or (None, False)
    if error is not None:
        last_block = reader.find(state.exchanges[-1]).block if state.exchanges else None
        if last_block not in (None, f"failure: {error}\r\n".encode()):
            raise EvidenceError("it has another failure than the archive")
        return FetchResult(error=error, local=local, hops=chain.hops)
    if last is None:
        raise reader.otherwise("the last response of the redirect chain is missing")
    error = MISPLACED if probes == [5, 2] else chain.error
    result = result_of(last, chain.hops, error, settings.max_size)
    agent = state.record.agent or result.agent
    return replace(result, local=local, agent=agent, way_varies=chain.varies)


# --- lines that contradict each other


class _Passed(NamedTuple):
    """A decision by which one page may leave."""

    time: float
    """By the clock at its line."""
    set_back: float
    """As in :class:`Sequence`, at its line."""
    valid_until: float
    """Epoch seconds."""
    state: str | None
    outcome: str


class Sequence:
    """Takes the lines of a run in order.

    Each method raises ``EvidenceError`` for a line that contradicts those before it. Times of lines
    are compared by a clock that is never set back: each with the seconds added by which the clock
    had been set back at its line.
    """

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._number = 0
        """That of the last decision."""
        self._latest = 0.0
        self._set_back = 0.0
        """Seconds by which the clock was set back so far."""
        self._before = 0.0
        """These without the last note, while lines behind it may have been made before it."""
        self._old_now = -inf
        """When the clock was last set back, by the clock before."""
        self._put_on = 0.0
        """Seconds by which the clock was put on since."""
        self._under_way = _UNDER_WAY
        """Longest time that a request was under way then, by a clock that was put on meanwhile."""
        self._states: dict[Origin, str] = {}
        """Id of the latest of each origin."""
        self._answered: dict[str, tuple[float, float]] = {}
        """When a request of this crawl was answered, by the id of its archive record, and how far
        the clock was set back then.

        A state takes what it was made from: one record cannot have all states read it.
        """
        self._times: set[float] = set()
        """Times of archive records: the next request of the same fetch was made then."""
        self._latest_answers: dict[str, str] = {}
        """Id of the latest answer of each URL that a fetch began with."""
        self._ignored: list[str] = []
        """Answers without a state when their URL was fetched again."""
        self._replaced: dict[str | None, float] = {}
        """When a state was replaced, by its id."""
        self._passed: dict[int, _Passed] = {}
        """Decisions by which no page has left yet, by number."""
        self._answered_pages = 0
        self._decided: Counter[tuple[str, bool]] = Counter()
        """Decisions about pages, by outcome, and whether a browser may have asked for a part."""

    def _made(self, time: float) -> float:
        """How far the clock was set back when a line of *time* was made."""
        return self._before if abs(time - self._old_now) < _UNNOTED else self._set_back

    def _earliest(self, time: float, set_back: float) -> float:
        """*time* in a line, if it was taken by the clock as it was set back by *set_back*."""
        return time + (set_back if self._was_under_way(time) else self._set_back)

    def _was_under_way(self, time: float) -> bool:
        """Whether what began at *time* may have been under way when the clock was set."""
        return self._old_now - self._under_way <= time <= self._old_now + _UNNOTED

    def take_time(self, values: Members) -> None:
        """Check that times do not go back."""
        kind, written = values["type"], values["time"] + values.get("seconds", 0.0)
        if kind == "clock" and values["jump"] > 0:
            self._put_on += values["jump"]
        elif kind == "clock":
            self._under_way, self._put_on = _UNDER_WAY + self._put_on, 0.0
            self._before, self._old_now = self._set_back, written - values["jump"]
            self._set_back -= values["jump"]
        if kind in _OWN or (kind == "record" and values.get("began") is None):
            return  # another process has fetched the record
        if kind == "sent" and self._was_under_way(values["time"]):
            return  # the seconds until its answer are not known
        set_back = self._made(written)
        if set_back == self._set_back:
            self._before = set_back
        now = written + set_back
        if kind == "record":
            self._answered[values["id"]] = values["time"], set_back
            if values["kind"] not in RESPONSES:  # its fetch has failed, or was cancelled
                self._latest_answers.pop(values["url"], None)
            elif values["began"] not in self._times:
                self._note_ignored(values["url"])
                self._latest_answers[values["url"]] = values["id"]
            self._times.add(values["time"])
            if self._earliest(values["began"], 0.0) > now:
                raise EvidenceError("its answer is older than its request")
        late, self._latest = self._latest - now, max(self._latest, now)
        if late > _UNNOTED:
            self._latest = now
            raise EvidenceError(f"its time is {late:g} s before that of another line")

    def take_state(self, state: State) -> None:
        """Take a state, which replaces the one before it."""
        at = state.time + self._made(state.time)
        known = self._states.get(state.record.origin)
        if state.before not in (None, known):
            raise EvidenceError(f"{state.before} is not the state before it")
        if state.source == "fetch":
            self._check_fetched(state, at)
            self._note_ignored(state.record.origin.robots_url)
        if known is not None:
            self._replaced[known] = at
        self._states[state.record.origin] = state.id

    def _note_ignored(self, url: str) -> None:
        """Note the latest answer of *url*, unless a state has followed from it."""
        latest = self._latest_answers.get(url, "")
        if latest in self._answered:
            self._ignored.append(latest)

    def _check_fetched(self, state: State, at: float) -> None:
        """Check that a fetch ends after its answers, and before its record is taken over."""
        ended = answered = _ended(state.record)
        set_back = self._set_back
        for each in state.exchanges:
            if each not in self._answered:
                raise EvidenceError(
                    f"{each} answers no request of this crawl, or belongs to another state"
                )
            answered, set_back = self._answered.pop(each)
        early = answered + set_back - ended - self._set_back
        if max(early, self._earliest(ended, set_back) - at) > _UNNOTED:
            raise EvidenceError("its record is not of the time of its fetch")

    def take_decision(self, values: Members, valid_until: float) -> None:
        """Take a decision by rules that hold up to *valid_until* (epoch seconds)."""
        before, self._number = self._number, values["number"]
        state, rules_time = values.get("state"), values.get("rules_time")
        if rules_time is not None and values["stage"] != "response":
            raise EvidenceError("it is made by the rules of another time, before its page left")
        set_back = self._made(values["time"])
        at = values["time"] + set_back
        decided = self._earliest(rules_time, 0.0) if rules_time else at
        late = decided - self._replaced.get(state, inf)
        if late > 0:
            raise EvidenceError(f"{state} had been replaced {late:g} s before")
        outcome = self._reader.outcome(values)
        allowed, stage = values["allowed"], values["stage"]
        if stage == "request" or not (allowed or stage in _ASIDE):
            self._decided[outcome, stage == "browser"] += 1
        if allowed and stage == "request":
            self._passed[self._number] = _Passed(at, set_back, valid_until, state, outcome)
        if self._number != before + 1:
            raise EvidenceError(f"the decision {self._number} stands after {before}")

    def take_answered(self, values: Members) -> None:
        """Take a page of another middleware, which was not seen leaving."""
        self._answered_pages += 1
        self._take_passed(values["decision"], "came from a middleware")

    def _take_passed(self, number: int, what: str) -> _Passed:
        passed = self._passed.pop(number, None)
        if passed is None:
            raise EvidenceError(
                f"a page {what} that the decision {number} does not allow (any more), or its line "
                "is missing"
            )
        return passed

    def take_sent(self, values: Members) -> str:
        """Take a page that left, and return its decision's outcome."""
        number, left = values["decision"], values["time"]
        passed = self._take_passed(number, "left")
        replaced = self._replaced.get(passed.state, inf)
        seconds, moment = max(
            (passed.time - left - self._set_back - _UNNOTED, "before it"),
            (
                self._earliest(left, passed.set_back) - replaced - _SENDING,
                "after its rules had been replaced",
            ),
        )
        if seconds > 0:
            raise EvidenceError(f"a page of decision {number} left {seconds:g} s {moment}")
        seconds = left - passed.valid_until - _SENDING
        if seconds > 0:
            raise self._reader.otherwise(
                f"a page of decision {number} left {seconds:g} s after its rules had expired"
            )
        return passed.outcome

    def _check_ignored(self) -> None:
        """Check that states follow from the answers; the last fetch may have no end."""
        for each in filter(self._answered.__contains__, self._ignored):
            answer = self._reader.find(each).exchange()
            status = 0 if answer is None else answer.status
            if status // 100 in (2, 4) and status not in NOT_FROM_THE_SITE:  # which end a fetch
                raise EvidenceError(f"no state follows from {each}, which is an answer")

    def take_end(self, values: Members) -> None:
        """Compare the account of the crawl with its lines.

        A request without a check may be a renderer's, which counts by the page's decision.
        """
        given = values.get("requests")
        if values["lost"]:
            return
        self._check_ignored()
        if given is None:
            return
        account, logged = RequestCounts(Counter(given)), self._decided
        allowed = account.in_group(Group.LET_THROUGH) + account.in_group(Group.NOT_CHECKED)
        counts = {"pages that left": allowed + given["after_sending"] - given["not_sent"]}
        found = {"pages that left": values["sent"] + self._answered_pages}
        if given.get(ANSWERED, self._answered_pages) != self._answered_pages:
            counts[ANSWERED], found[ANSWERED] = given[ANSWERED], self._answered_pages
        for name, row in OUTCOMES.items():
            least = logged[name, False]
            most = least + logged[name, True]
            most += (row.group is Group.LET_THROUGH) * logged[EXEMPT, False]
            is_less = row.group is Group.REFUSED and given[name] < least
            if row.group is not Group.NO_ROBOTS_TXT and (is_less or given[name] > most):
                counts[name], found[name] = given[name], most
        if counts != found:
            raise EvidenceError(f"the crawl counts {counts}, the log has {found}")
