"""Time stamping: a client that fails is one ERROR with the hash to stamp later."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scrapy_robotspec.evidence.timestamp import stamp

DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("false {digest} {output}", "exit code 1"),
        ("nowhere {digest} {output}", "No such file"),
        ("true {digest} {output}", "No such file"),
        ("sh -c 'echo other > \"$0\"' {output} {digest}", "not one of the last hash"),
    ],
)
def test_a_client_that_fails_is_named_with_the_hash(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, command: str, said: str
) -> None:
    stamp(command, tmp_path / "a reply", DIGEST)
    (record,) = caplog.records
    assert said in record.getMessage()
    assert DIGEST in record.getMessage()


def test_a_reply_is_stored_for_its_owner_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    output = tmp_path / "a reply"
    script = tmp_path / "client.py"
    script.write_text("import sys; open(sys.argv[2], 'wb').write(bytes.fromhex(sys.argv[1]))")
    stamp(f"{sys.executable} {script} {{digest}} {{output}}", output, DIGEST)
    assert caplog.records == []
    assert output.stat().st_mode & 0o777 == 0o600
