"""Evidence of a small crawl, written without Scrapy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scrapy_robotspec.access.exchange import Exchange, RedirectLimits, result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.overrides import HostTable
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.editions import get_edition
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.audit import Audit, Timeline
from scrapy_robotspec.evidence.log_lines import (
    NO_HASH,
    DecisionLines,
    LoggedDecision,
    State,
    dumps,
    seal,
)
from scrapy_robotspec.evidence.recorder import RunWriter
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.warc import NewRecord, request_target, response_head
from scrapy_robotspec.lookup.rules_cache import RulesCache

#: When these crawls begin: 2026-01-31 12:00:00 UTC (epoch seconds).
START = 1769860800.0
RULES = b"User-agent: *\nDisallow: /private/\n"
TOKENS = ("examplebot",)
CRLF = "\r\n"


def run_settings(**policy: Any) -> RunSettings:
    """The default settings; *policy*: fields of the access policy."""
    edition = get_edition("google-2019")
    return RunSettings(
        policy=AccessPolicy(edition=edition, **policy),
        redirects=RedirectLimits(max_redirects=5),
        max_size=512_000,
        usage=UsagePolicy(),
        overrides=HostTable({}),
    )


def asked_for(url: str, *headers: str) -> bytes:
    """The head of a request for *url*."""
    lines = f"GET {request_target(url)[1]} HTTP/1.1", *headers
    return f"{CRLF.join(lines)}{CRLF}{CRLF}".encode()


@dataclass
class Crawl:
    """One run with given fetches and decisions."""

    folder: Path
    name: str = "20260131T120000Z-1-abcdef00"
    settings: RunSettings = field(default_factory=run_settings)
    header: dict[str, Any] = field(default_factory=dict)
    """Further members of the first line."""
    decisions: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        settings = self.settings.to_json()
        header = {"time": START, "software": "tests", "settings": settings, **self.header}
        info = {"software": "tests", "robotspec-settings": dumps(settings)}
        self.writer = RunWriter(self.folder, self.name, header, info)
        self._held: dict[Origin, State] = {}

    def fetch(
        self,
        origin: str,
        body: bytes = RULES,
        status: int = 200,
        at: float = START,
        headers: Iterable[str] = (),
    ) -> None:
        """The robots.txt of *origin* is fetched, with *headers*."""
        where = Origin.of(origin)
        assert where is not None
        response = Exchange(where.robots_url, status, (("Content-Type", "text/plain"),), body)
        head = response_head(response, "HTTP/1.1")
        received = NewRecord("response", response.url, at, body, head=head, began=at)
        received.request = asked_for(response.url, *headers)
        self.writer.add_line(self.writer.store(received))
        result = result_of(response, (), None, self.settings.max_size)
        before = self._held.get(where)
        held = before.record if before else None
        policy = self.settings.policy_of(where)
        record = policy.apply(held, where, result, at, 0.5)
        kept = before.body_record if before else None
        body_record = received.id if record.fetched_at == at else kept
        state = State(
            f"state-{received.id}",
            record,
            at,
            body_record if record.body else None,
            source="fetch",
            before=before.id if before else None,
            exchanges=(received.id,),
        )
        self.writer.add_line(state.to_line())
        self._held[where] = state

    def take_over(self, origin: str, body: bytes, fetched_at: float, at: float) -> None:
        """A record that another process fetched is found in a shared store."""
        where = Origin.of(origin)
        assert where is not None
        url = where.robots_url
        result = result_of(Exchange(url, 200, (), body), (), None, self.settings.max_size)
        record = self.settings.policy_of(where).apply(None, where, result, fetched_at, 0.5)
        stored = NewRecord("resource", url, fetched_at, body)
        self.writer.add_line(self.writer.store(stored))
        self._held[where] = State(f"state-{stored.id}", record, at, stored.id)
        self.writer.add_line(self._held[where].to_line())

    def decide(self, url: str, at: float = START, **changes: Any) -> dict[str, Any]:
        """A decision is made and logged, with *changes* to its line."""
        origin = Origin.of(url)
        assert origin is not None
        state = self._held[origin]
        policy = self.settings.policy_of(origin)
        found = RulesCache().make(state.record, policy.plan(state.record, at), policy.edition, at)
        self.decisions += 1
        decision = found.decide(url, TOKENS, at)
        logged = LoggedDecision(self.decisions, at, "request", url, TOKENS, decision, found, state)
        line: dict[str, Any] = json.loads(
            DecisionLines(policy.edition.name, self.settings.overrides)(logged)
        )
        line |= changes
        self.writer.add_line(dumps(line))
        return line

    def send(
        self,
        at: float,
        status: int | None = 200,
        seconds: float = 0.1,
        number: int | None = None,
    ) -> None:
        """The page of a decision leaves; by default of the last."""
        decision = number or self.decisions
        line = {"type": "sent", "time": at, "decision": decision, "status": status}
        self.writer.add_line(dumps({**line, "seconds": seconds}))

    def close(self, at: float = START + 60) -> None:
        """End the run."""
        self.writer.flush()
        self.writer.close(at, 0)


def make_evidence(folder: Path, **options: Any) -> None:
    """Evidence of two origins and five decisions, one of them a refusal."""
    crawl = Crawl(folder, **options)
    crawl.fetch("https://example.com")
    crawl.fetch("https://missing.example", b"not here", 404)
    for path in ("/", "/a", "/private/x"):
        crawl.decide(f"https://example.com{path}", START + 1)
    crawl.decide("https://missing.example/private/x", START + 2)
    crawl.fetch("https://example.com", b"", at=START + 3)
    crawl.decide("https://example.com/private/x", START + 4)
    crawl.close()


def audited(folder: Path, requests: Iterable[tuple[float, str]], resolution: float = 0.0) -> Audit:
    """The audit of URLs that were requested at some moments."""
    audit = Audit(Timeline(folder), TOKENS, 1.0)
    for time, url in requests:
        audit.add(Request(time, resolution, True, url), Origin.of(url), url)
    return audit


def log_of(folder: Path) -> Path:
    """The only log in *folder*."""
    (log,) = folder.glob("decisions-*.jsonl")
    return log


def lines_of(folder: Path) -> list[Any]:
    """The lines of the log, without their hashes."""
    lines = [json.loads(line) for line in log_of(folder).read_bytes().splitlines()]
    return [{name: line[name] for name in line if name != "hash"} for line in lines]


class SentPage(NamedTuple):
    """A page that left, by a log of decisions."""

    url: str
    time: float
    is_answered: bool


def pages_sent(folder: Path) -> list[SentPage]:
    """The pages that left, by all logs in *folder*."""
    found = []
    for log in folder.glob("decisions-*.jsonl"):
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        urls = {line["number"]: line["url"] for line in lines if line["type"] == "decision"}
        for line in lines:
            if line["type"] == "sent":
                url, is_answered = urls[line["decision"]], line["status"] is not None
                found.append(SentPage(url, line["time"], is_answered))
    return found


def write_lines(folder: Path, lines: list[Any]) -> None:
    """Write a log of *lines* in a chain that fits."""
    digest, sealed = NO_HASH, []
    for values in lines:
        line, digest = seal(json.dumps(values, separators=(",", ":")), digest)
        sealed.append(line)
    log_of(folder).write_bytes(b"".join(sealed))
