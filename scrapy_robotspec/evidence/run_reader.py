"""RunReader: reads and checks the files of one crawl process.

Nothing in a folder is trusted: reads are bounded by what a line or record may contain, and damage
is a problem with its file and line (SAF-05).
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from stat import S_ISREG
from time import process_time
from typing import TYPE_CHECKING, BinaryIO

from scrapy_robotspec.access.account import outcome_of
from scrapy_robotspec.access.exchange import result_of
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import OUTCOMES
from scrapy_robotspec.evidence.log_lines import (
    COUNTED,
    DAMAGE,
    FORMAT,
    NO_HASH,
    RULES,
    EvidenceError,
    Line,
    Members,
    NotCheckableError,
    State,
    check_members,
    digest_of,
    dumps,
    loads,
    read_lines,
)
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.timestamp import MAX_REPLY, check_reply, verifying_command
from scrapy_robotspec.evidence.warc import StoredRecord, begins_with, longest_member, read_member
from scrapy_robotspec.lookup.rules_cache import RulesCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.access.resolved import Resolved

#: Max problems, notes and runs that are listed; all problems are counted.
MAX_LISTED = 1000
#: Max length of a problem or User-Agent (characters).
_MAX_TEXT = 1000
#: Max processor time (seconds): this, and more for a long log. Honest evidence takes a hundredth.
SECONDS, _BYTES_PER_SECOND = 600.0, 10_000
TOO_LONG = "it takes too long: not read to its end"
#: Version of the rules of a log that states none.
_FIRST_RULES = 1
_AGENT = re.compile(rb"\r\nUser-Agent: ([^\r]*)")
_NAME = re.compile(r"(?:decisions|robots)-(.+)\.(?:jsonl|warc\.gz|tsr)")


@dataclass(slots=True)
class RunSummary:
    """The first and the last line of a run."""

    run: str
    last_hash: str = NO_HASH
    complete: bool = False
    """Whether the log has its last line."""
    end: Members | None = None
    """Counts of the last line."""
    rules: int = RULES
    """Version of the rules by which its release decided."""
    jumps: list[Members] = field(default_factory=list)
    """Lines that say that the clock was set, the first ones."""
    versions: Members | None = None
    operator: str | None = None
    verify: str | None = None
    """The command that verifies the time stamp."""


@dataclass(slots=True)
class Reading:
    """The problems and runs of an evidence folder."""

    problems: list[str] = field(default_factory=list)
    """The first ones, each a sentence."""
    problem_count: int = 0
    notes: list[str] = field(default_factory=list)
    """Facts that make nothing wrong, such as a crawl that was killed."""
    runs: list[RunSummary] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    """Logged decisions by the outcome of their requests."""
    agents: set[str] = field(default_factory=set)
    """User-Agents of settings and of archived requests, the first ones."""

    @property
    def decisions(self) -> int:
        """Logged decisions."""
        return sum(self.reasons.values())

    def add_problem(self, problem: str) -> None:
        """Note a part that is missing, damaged or different, once."""
        problem = problem[:_MAX_TEXT]
        if problem not in self.problems:
            self.problem_count += 1
            self.problems += [problem][: MAX_LISTED - len(self.problems)]

    def add_agent(self, agent: str) -> None:
        """Note a User-Agent of the crawls."""
        if len(self.agents) < MAX_LISTED:
            self.agents.add(agent[:_MAX_TEXT])

    def add_note(self, note: str) -> None:
        """Note a fact that makes nothing wrong."""
        if len(self.notes) < MAX_LISTED and note not in self.notes:
            self.notes.append(note)

    def expect(self, hashes: Iterable[str], *, complete: bool) -> None:
        """Compare with the last hashes that were published elsewhere.

        *complete*: a run without its last line is a problem.
        """
        known = {run.last_hash for run in self.runs}
        for digest in sorted({each.strip().lower() for each in hashes} - known):
            self.add_problem(f"no run ends with the expected hash {digest}")
        for run in self.runs:
            if complete and not run.complete:
                self.add_problem(f"run {run.run} has no last line")

    def to_json(self) -> Members:
        """Everything but the notes; above all the last run."""
        last = self.runs[-1] if self.runs else RunSummary("")
        return {
            "decisions": self.decisions,
            "reasons": self.reasons,
            "problems": self.problems,
            "problem_count": self.problem_count,
            "complete": all(run.complete for run in self.runs),
            "last_hash": last.last_hash,
            "end": last.end,
            "versions": last.versions,
            "runs": [asdict(run) for run in self.runs[:MAX_LISTED]],
        }


def read_runs(folder: Path, reading: Reading) -> Iterator[RunReader]:
    """Each run in *folder*, in order.

    Other files are ignored. The lines of a run have to be read before the next run. A folder that
    takes more processor time than honest ones of its size is a problem; its rest is not read
    (SAF-05).
    """
    names = {found[1] for path in folder.iterdir() if (found := _NAME.fullmatch(path.name))}
    size = sum(path.lstat().st_size for path in folder.glob("decisions-*.jsonl"))
    limit = process_time() + SECONDS + size / _BYTES_PER_SECOND
    for name in sorted(names):
        reader = RunReader(folder, name, reading, limit)
        yield reader
        reading.runs.append(reader.summary)


class RunReader:
    """Reads one run; *reading* collects what is not as it was written.

    The log is read line by line, so that memory does not grow with the number of decisions.
    """

    settings: RunSettings
    """Set by the first line, as the next ones."""
    _is_stamped: bool | None
    _info: list[bytes]
    """Lines that the first record of the archive has, too."""

    def __init__(self, folder: Path, name: str, reading: Reading, limit: float) -> None:
        self.log, self.archive = f"decisions-{name}.jsonl", f"robots-{name}.warc.gz"
        """Names of the files."""
        self.summary = RunSummary(name)
        self.rules = RulesCache()
        """Origins that were resolved lately."""
        self.start = self.end = 0.0
        """Times of the first and of the last line (epoch seconds)."""
        self._folder = folder
        self._reading = reading
        self.limit = limit
        """The processor time of this process at which reading ends (seconds)."""
        self._line = 0
        """Number of the line that is looked at; 0: none."""
        self._places: dict[str, tuple[str, int, int]] = {}
        """File, place and length of each archive record and state, by id."""
        self.states: dict[str, State] = {}
        """The state that the kept rules of each origin were made from."""
        self.unchecked: set[str] = set()
        """Ids of states that are not checkable; nor is anything that follows from them."""
        self._doubtful: set[str] = set()
        """Ids of states whose response is not a robots.txt file (FET-20)."""
        self._counts: Counter[str] = Counter()
        """As the last line counts; ``log`` and ``archive``: bytes that were read so far."""

    def lines(self) -> Iterator[Line]:
        """All lines up to the first that was changed."""
        try:
            with self._open(self.log) as log:
                for line in read_lines(log):
                    if process_time() > self.limit:
                        self.add_problem(TOO_LONG)
                        return
                    self._line = line.number
                    self._take(line)
                    yield line
                    self._line = 0
            self._check_end()
        except DAMAGE as error:
            self.add_problem(f"{in_words(error)}; what follows it proves nothing")

    def add_problem(self, problem: str) -> None:
        """Note a problem of this run, or of its line."""
        self._reading.add_problem(self._placed(problem))

    def add_note(self, note: str) -> None:
        """Note a fact of a line that makes nothing wrong."""
        self._reading.add_note(self._placed(note))

    def _placed(self, text: str) -> str:
        return f"{self.log}: line {self._line}: {text}" if self._line else f"{self.log}: {text}"

    @contextmanager
    def noting(self, subject: str) -> Iterator[None]:
        """Take damage that the block finds for a problem of *subject*.

        A line that is not checkable is not damaged.
        """
        try:
            yield
        except NotCheckableError as error:
            self.add_note(f"{subject}: {error}")
        except DAMAGE as error:
            self.add_problem(f"{subject}: {in_words(error)}")

    def find(self, id_: str) -> StoredRecord:
        """The archive record *id_*.

        Raises ``EvidenceError`` where it is missing or damaged, its body is left out, or the time
        is up.
        """
        if process_time() > self.limit:
            raise EvidenceError(TOO_LONG)
        found = self._whole(read_member(self._named(id_), self.settings.max_size))
        if found.is_left_out:
            raise NotCheckableError("the body is left out of the archive")
        return found

    def _whole(self, found: StoredRecord) -> StoredRecord:
        """*found* with the body that it refers to. Raises as :meth:`find`."""
        if found.original is None:
            return found
        return found.with_body_of(read_member(self._named(found.original), self.settings.max_size))

    def _named(self, id_: str) -> bytes:
        """The bytes of a record or a state, as the log has named it so far."""
        if id_ not in self._places:
            raise EvidenceError(f"{id_} is missing")
        return self._bytes(*self._places[id_])

    # --- states

    def resolved(self, id_: str, origin: Origin, now: float) -> Resolved:
        """*origin* as the state *id_* resolves it at *now*.

        Raises ``EvidenceError`` where a record is missing, or the body does not fit its digest.
        """
        found = self.rules.get_valid(origin, now)
        if found is None or self.states[origin].id != id_:
            state, policy = self.state_of(origin, id_), self.settings.policy_of(origin)
            plan = policy.plan(state.record, now)
            record = self.with_body(state) if plan.action is Action.RULES else state.record
            found = self.rules.make(record, plan, policy.edition, now)
            for evicted, _ in self.rules.put(origin, found):
                del self.states[evicted]
            self.states[origin] = state
        return found

    def state_of(self, origin: Origin, id_: str) -> State:
        """The state *id_* of *origin*.

        Raises ``EvidenceError`` where it belongs to another one, or is not checkable.
        """
        if id_ in self.unchecked:
            raise NotCheckableError(f"{id_} is not checkable")
        state = State.from_values(loads(self._named(id_).decode("ascii")))
        if state.record.origin != origin:
            raise EvidenceError(f"the state {id_} is that of {state.record.origin}")
        return state

    def with_body(self, state: State) -> RobotsRecord:
        """The record of *state* with its body. Raises as :meth:`resolved`."""
        if not (state.body_sha256 or state.body_record):
            return state.record
        found = self.find(state.body_record or "the record of its body")
        body, exchange = found.block, found.exchange()
        if exchange is not None:  # else found in a store, already decoded
            body = result_of(exchange, (), None, self.settings.max_size).body
        elif found.fields["WARC-Target-URI"] != state.record.origin.robots_url:
            raise EvidenceError(f"{state.body_record} is the file of another site")
        if digest_of(body) != state.body_sha256:
            raise self.otherwise("the body does not fit its digest")
        return replace(state.record, body=body)

    # --- the log

    def outcome(self, decision: Members) -> str:
        """The outcome of a request by the line of its decision.

        A reason without an outcome makes the decision differ in a replay.
        """
        allowed, is_doubtful = decision["allowed"], decision.get("state") in self._doubtful
        try:
            return outcome_of(allowed, decision["reason"], is_doubtful)
        except KeyError:
            return "rules" if allowed else "refused_rule"

    def _take(self, line: Line) -> None:
        """Take note of *line*. Raises ``EvidenceError`` where it cannot be relied on."""
        start, values = self._counts["log"], line.values
        self._counts["log"] += line.size
        self.summary.last_hash = line.hash
        form = values.get("format", FORMAT)
        if form != FORMAT:
            raise EvidenceError(
                f"format {form!a} is not read, format {FORMAT} alone is: use "
                f"the release that wrote it, {values.get('software')!a}"
            )
        check_members(values)
        kind = values["type"]
        if values.get("id") in self._places:
            self.add_problem(f"{values['id']} is there twice")
        if line.number == 2 and values.get("kind") != "warcinfo":
            self.add_problem("the first record of the archive is missing")
        if (kind == "run") != (line.number == 1) or self.summary.complete:
            raise EvidenceError(f"a {kind} does not belong here")
        match kind:
            case "run":
                self._take_header(values)
            case "record":
                self._take_record(values)
                if line.number == 2 and values["id"] not in self._places:
                    self._check_writer(values["id"])
            case "state":
                self._places[values["id"]] = (self.log, start, line.size)
                # The first rules counted such a response as a file.
                if values["record"].get("doubt") is not None and self.has_our_rules:
                    self._doubtful.add(values["id"])
            case "decision":
                self._reading.reasons[self.outcome(values)] += 1
            case "gap":
                self._counts["lost"] = values["lost"]
                self.add_problem(
                    f"{values['lost']} lines and records were lost so far: the disk was full, or "
                    "the crawl's log contains an error"
                )
            case "clock":
                jump = {"line": line.number, "time": values["time"], "jump": values["jump"]}
                self.summary.jumps += [jump][: MAX_LISTED - len(self.summary.jumps)]
                self.add_note(f"the clock was set by {values['jump']:+g} s")
            case "end":
                self._take_end(values)
        if kind in COUNTED:
            self._counts[COUNTED[kind]] += 1
        self.end = max(self.end, values.get("time", 0.0))

    def _take_header(self, values: Members) -> None:
        if values["run"] != self.summary.run:
            raise EvidenceError("it belongs to another file")
        self.start, self.settings = values["time"], RunSettings.from_json(values["settings"])
        info = {"software": values["software"], "robotspec-settings": dumps(values["settings"])}
        self._info = [f"{name}: {value}\r\n".encode() for name, value in info.items()]
        self.rules = RulesCache(parsing_limit=self.settings.max_size)
        self._is_stamped = values.get("timestamp")
        self.summary.versions = values.get("versions")
        self.summary.operator = values.get("operator")
        self.summary.rules = values.get("rules") or _FIRST_RULES
        if not self.has_our_rules:
            self.add_note(
                f"version {self.summary.rules} of the rules decided, and this release has version "
                f"{RULES}: what comes out otherwise is not checkable. The release that wrote it, "
                f"{values['software']!a}, can check it"
            )

    @property
    def has_our_rules(self) -> bool:
        """Whether the crawl's release decided by the same rules as this one."""
        return self.summary.rules == RULES

    def otherwise(self, problem: str) -> EvidenceError:
        """The error for a line that does not come out as logged."""
        return (EvidenceError if self.has_our_rules else NotCheckableError)(problem)

    def _take_end(self, values: Members) -> None:
        """Compare the counts of the last line with the lines."""
        self.summary.complete = True
        found = {word: self._counts[word] for word in (*COUNTED.values(), "lost", "archive")}
        end = {word: values[word] for word in found}
        if end != found:
            self.add_problem(f"the last line counts {end}, the log has {found}")
        self.summary.end = {**end, "requests": values.get("requests")}

    # --- the archive

    def _take_record(self, values: Members) -> None:
        """Check the bytes of a record that the log names."""
        max_size = self.settings.max_size
        offset, length = values["offset"], values["length"]
        known, self._counts["archive"] = self._counts["archive"], offset + length
        with self.noting(f"{self.archive}: record {values['id']}"):
            if offset != known:
                raise EvidenceError(f"bytes {known} to {offset} are in no line of the log")
            if length > 2 * longest_member(max_size):
                raise EvidenceError(f"a record of {length} bytes")
            data = self._bytes(self.archive, offset, length)
            if sha256(data).hexdigest() != values["sha256"]:
                raise EvidenceError("its digest does not fit")
            self._places[values["id"]] = (self.archive, offset, length)
            found = read_member(data, max_size)
            for agent in _AGENT.findall(found.check_line(values, max_size)):
                self._reading.add_agent(agent.decode("utf-8", "surrogateescape"))
            if values["kind"] == "warcinfo" and (
                values["time"] != self.start or any(each not in found.block for each in self._info)
            ):
                raise EvidenceError("it has another time or other settings than the first line")
            self._whole(found)

    def _check_writer(self, id_: str) -> None:
        """Raise ``EvidenceError`` if another tool wrote the archive again; *id_*: its first id."""
        path, limit = self._folder / self.archive, longest_member(self.settings.max_size)
        for each in (path, path.with_suffix(""), path.with_suffix(".zst")):
            if each.is_file() and (
                each.suffix == ".zst" or begins_with(self._bytes(each.name, 0, limit), id_)
            ):
                raise EvidenceError(
                    f"{each.name} was written again by another tool: give {path.name} of the crawl"
                )

    def _bytes(self, file: str, offset: int, length: int) -> bytes:
        with self._open(file) as stream:
            stream.seek(offset)
            return stream.read(length)  # less at its end, which no digest fits

    def _open(self, name: str) -> BinaryIO:
        """The file *name*; only a regular one is read."""
        path = self._folder / name
        if not S_ISREG(path.lstat().st_mode):
            raise EvidenceError("not a regular file")
        return path.open("rb")

    # --- the end

    def _check_end(self) -> None:
        """Compare the sizes of the files with what the log says about them."""
        for name, known in ((self.log, "log"), (self.archive, "archive")):
            more = (self._folder / name).lstat().st_size - self._counts[known]
            must_fit = self.summary.complete or not self._counts["log"]
            add = self.add_problem if must_fit else self._reading.add_note
            if more:
                add(f"{name}: {more:+} bytes, compared with what the log names")
        if not self.summary.complete:
            self._reading.add_note(
                f"run {self.summary.run} has no last line: the crawl runs, or was killed; lines of "
                "its last second may be missing, and more if its disk was full"
            )
        elif self._is_stamped:
            digest, name = self.summary.last_hash, f"decisions-{self.summary.run}.tsr"
            with self.noting(f"{name}: no time stamp"):
                check_reply(self._bytes(name, 0, MAX_REPLY), digest)
                self.summary.verify = verifying_command(self._folder / name, digest)


def in_words(error: BaseException) -> str:
    """The words of an error that damage caused."""
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    return str(error) if isinstance(error, EvidenceError) else f"unreadable ({error!r})"
