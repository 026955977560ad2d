"""The findings of the linter as text, JSON, GitHub annotations and SARIF."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scrapy_robotspec import __version__
from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy_robotspec.cli.session import Screen
    from scrapy_robotspec.protocol.lint.codes import Code
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.models import Severity

#: A file's name and findings.
Linted = tuple[str, "list[Finding]"]

_STYLES: Mapping[Severity, str] = {"error": "bad", "warning": "note", "advice": "faint"}
_GITHUB: Mapping[Severity, str] = {"error": "error", "warning": "warning", "advice": "notice"}
_SARIF: Mapping[Severity, str] = {"error": "error", "warning": "warning", "advice": "note"}


def _text(linted: Iterable[Linted], screen: Screen) -> None:
    """``file:line: code severity: message``; the file as a whole has line 1."""
    for name, findings in linted:
        for finding in findings:
            place = f"{safe(name)}:{max(finding.line, 1)}:"
            what = screen.paint(_STYLES[finding.severity], f"{finding.code} {finding.severity}")
            screen.say(f"{place} {what}: {safe(finding.message)}")


def _json(linted: Iterable[Linted], screen: Screen) -> None:
    from scrapy_robotspec.render.as_json import dumps, finding_object

    for name, findings in linted:
        for finding in findings:
            screen.say(dumps({"file": name, **finding_object(finding)}))


def _github(linted: Iterable[Linted], screen: Screen) -> None:
    """Workflow commands, which GitHub shows beside the lines of a pull request."""
    for name, findings in linted:
        for finding in findings:
            place = f"file={_property(name)},line={max(finding.line, 1)},title={finding.code}"
            message = _data(safe(finding.message, None))
            screen.say(f"::{_GITHUB[finding.severity]} {place}::{message}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text, None)).replace(":", "%3A").replace(",", "%2C")


def _sarif(linted: Iterable[Linted], screen: Screen) -> None:
    """One document of the Static Analysis Results Interchange Format 2.1.0."""
    from scrapy_robotspec.render.as_json import dumps

    found = [(name, finding) for name, findings in linted for finding in findings]
    codes = sorted({finding.code for _, finding in found})
    rules = [_rule(CODES[code]) for code in codes]
    driver = {"name": "robotspec", "version": __version__, "rules": rules}
    results = [_result(name, finding, codes.index(finding.code)) for name, finding in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    screen.say(dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}))


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.message},
        "fullDescription": {"text": code.why},
        "help": {"text": code.remedy},
    }


def _result(name: str, finding: Finding, rule: int) -> dict[str, Any]:
    from urllib.parse import quote

    artifact = {"uri": name if "://" in name else quote(os.fsencode(name.replace("\\", "/")))}
    region = {"startLine": max(finding.line, 1)}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _SARIF[finding.severity],
        "message": {"text": safe(finding.message, None)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }


#: The value of ``--format`` -> the function that prints findings so.
FORMATS: Mapping[str, Callable[[Iterable[Linted], Screen], None]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}
