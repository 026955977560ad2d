"""A run: the same output whatever the number of processes, and after any interruption."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import run as project
from scrapy_robotspec import ConfigurationError, bulk
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.bulk.inputs import folders, warc
from scrapy_robotspec.bulk.inputs.plan import Plan, plan
from scrapy_robotspec.bulk.pool import WorkerLostError
from scrapy_robotspec.bulk.questions import Questions
from scrapy_robotspec.bulk.run import Run, Total
from tests.support.warc import response, write_warc

NAMES = ["GPTBot", "CCBot", "MJ12bot", "otherbot"]
QUESTIONS = Questions.of(NAMES, ["/news/", "/a,b"], ["google-2019", "classic"])
HEAD = (
    b"User-agent: GPTBot\nCrawl-delay: 2\nDisallow: /\n\nUser-agent: *\nContent-Usage: search=y\n"
)


def bodies(number: int) -> list[bytes]:
    """Files that differ, among them odd ones."""
    files = [
        HEAD + b"Disallow: /%d\n" % n + b"Sitemap: https://x/\n" * (n % 3) for n in range(number)
    ]
    files[:4] = [b"", b"<html>", b"\xff\0\x1b[31m\r\n", b'User-agent: ",;\n']
    return files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of robots.txt files and two archives, one of them not compressed."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for number, body in enumerate(bodies(40)):
        (inputs / f"{number:03}.example.txt").write_bytes(body)
    for name in ("x.warc.gz", "y.warc"):
        records = [
            response(f"https://w{n}.example/robots.txt", body) for n, body in enumerate(bodies(40))
        ]
        write_warc(inputs / name, records, compressed=name.endswith(".gz"))
    return inputs


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parts of few files."""
    monkeypatch.setattr(folders, "_PART_FILES", 7)
    monkeypatch.setattr(warc, "ranges", lambda size: [(0, size // 2), (size // 2, size)])
    monkeypatch.setattr(warc, "PLAIN_PART_BYTES", 5000)


def execute(inputs: Path, out: Path, jobs: int = 1) -> Total:
    """A whole run."""
    run = Run(str(out), plan([str(inputs)]), QUESTIONS)
    return run.execute(jobs, lambda size: None)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of an output of any format, in the types of Parquet."""
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    else:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [_typed(row) for row in csv.DictReader(file)]
    for row in rows:
        row["usage"] = None if row["usage"] is None else list(map(tuple, row["usage"].items()))
    return rows


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """A row of CSV, where every value is text."""
    typed: dict[str, Any] = {}
    for field in bulk.SCHEMA:
        text = row[field.name]
        if text == "" and field.name not in ("rule", "error"):
            typed[field.name] = None
        elif pa.types.is_string(field.type):
            typed[field.name] = text or None
        else:
            typed[field.name] = json.loads(text)
    return typed


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_has_the_rows_of_single_batches(
    folder: Path, tmp_path: Path, ending: str
) -> None:
    """As the function gives them that engines call."""
    out = tmp_path / f"out{ending}"
    total = execute(folder, out)
    read_all = [each for part in plan([str(folder)]).parts for each in part.read()]
    documents = [each for each in read_all if isinstance(each, Document)]
    names = ("url", "body", "status", "source")
    columns = {name: [getattr(each, name) for each in documents] for name in names}
    ask = partial(bulk.verdicts, tokens=NAMES, paths=["/news/", "/a,b"])
    expected = ask(pa.table(columns), editions=["google-2019", "classic"]).to_pylist()
    found = read(out)
    assert found == expected
    assert (total.documents, total.rows, total.problems) == (120, 120 * 4 * 2, 0)
    assert FORMATS[ending].is_ours(str(out))


def test_a_parquet_file_has_the_schema_of_the_function(folder: Path, tmp_path: Path) -> None:
    """Plain text, not the dictionaries in which it is stored."""
    execute(folder, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.names == bulk.SCHEMA.names
    assert table.column("rule").type == pa.string()
    assert table.cast(bulk.SCHEMA).num_rows == 960


@pytest.mark.parametrize("ending", FORMATS)
def test_several_processes_write_the_same_bytes(folder: Path, tmp_path: Path, ending: str) -> None:
    """Order and grouping of rows do not depend on who was quicker."""
    one, several = tmp_path / f"one{ending}", tmp_path / f"several{ending}"
    execute(folder, one)
    execute(folder, several, jobs=3)
    assert one.read_bytes() == several.read_bytes()
    assert not list(tmp_path.glob("*.parts"))


def test_a_run_goes_on_where_it_was_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished parts are not read again, and the output is the same."""
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    execute(folder, whole)
    done: list[int] = []

    def stop(size: int) -> None:
        done.append(size)
        if len(done) == 4:
            raise KeyboardInterrupt

    run = Run(str(out), plan([str(folder)]), QUESTIONS)
    with pytest.raises(KeyboardInterrupt):
        run.execute(1, stop)
    assert not out.exists()
    for path in sorted(folder.glob("00*"))[:7]:  # the first part's files
        monkeypatch.setattr(folders, "_read", _fail_for(str(path), folders._read))
    total = execute(folder, out)
    assert total.resumed == 4
    assert out.read_bytes() == whole.read_bytes()


def _fail_for(path: str, read_file: Any) -> Any:
    def read(name: str, url: str | None) -> Any:
        assert name != path, "a finished part was read again"
        return read_file(name, url)

    return read


def stopped(inputs: Path, out: Path, questions: Questions = QUESTIONS) -> None:
    """A run that is interrupted after its first part."""

    def stop(size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run(str(out), plan([str(inputs)]), questions).execute(1, stop)


def test_the_rest_of_another_run_is_not_taken_over(folder: Path, tmp_path: Path) -> None:
    """Other questions or changed inputs: an error that says what to do."""
    out = tmp_path / "out.csv"
    stopped(folder, out)
    others = [
        Run(str(out), plan([str(folder)]), Questions.of("GPTBot")),
        Run(str(out), plan([str(folder / "x.warc.gz")]), QUESTIONS),
    ]
    (folder / "000.example.txt").write_bytes(b"# changed since")
    others.append(Run(str(out), plan([str(folder)]), QUESTIONS))
    for other in others:
        with pytest.raises(ConfigurationError, match=r"out\.csv\.parts .* another run .* --force"):
            other.execute(1, lambda size: None)
    assert others[0].execute(1, lambda size: None, restart=True).resumed == 0
    assert len(read(out)) == 120


def test_a_run_that_was_killed_at_its_very_start_is_begun_again(
    folder: Path, tmp_path: Path
) -> None:
    """Nothing was finished, so nothing is lost."""
    out = tmp_path / "out.csv"
    parts = tmp_path / "out.csv.parts"
    parts.mkdir()
    (parts / "run.json").write_text('{"k')
    assert execute(folder, out).rows == 960


def test_part_whose_counts_are_torn_is_done_again(folder: Path, tmp_path: Path) -> None:
    """A power failure can leave such a file."""
    out = tmp_path / "out.csv"
    stopped(folder, out)
    counts = Path(f"{out}.parts/00000000.json")
    for torn in (b"", b"{", b"[]", b'{"x": 1}'):
        counts.write_bytes(torn)
        stopped(folder, out)
    assert execute(folder, out).resumed == 1
    assert len(read(out)) == 960


def test_files_are_stored_before_they_have_their_names(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a file that is empty after a power failure would count as finished."""
    stored: set[int] = set()
    named: list[str] = []
    replace = os.replace

    def look(before: str, after: str) -> None:
        assert os.stat(before).st_ino in stored, f"{after} is not stored"
        named.append(Path(after).name)
        replace(before, after)

    monkeypatch.setattr(os, "fsync", lambda number: stored.add(os.fstat(number).st_ino))
    monkeypatch.setattr(os, "replace", look)
    execute(folder / "x.warc.gz", tmp_path / "out.csv")
    parts = [f"0000000{number}.{ending}" for number in range(2) for ending in ("part", "json")]
    assert named == [*parts, "out.csv"]


def test_two_runs_do_not_write_one_output(folder: Path, tmp_path: Path) -> None:
    """The second one ends with an error, the first one undisturbed."""
    out = tmp_path / "out.csv"
    second = Run(str(out), plan([str(folder)]), QUESTIONS)
    refused: list[str] = []

    def start_second(size: int) -> None:
        with pytest.raises(ConfigurationError) as raised:
            second.execute(1, lambda size: None, restart=True)
        refused.append(str(raised.value))

    total = Run(str(out), plan([str(folder)]), QUESTIONS).execute(1, start_second)
    assert total.rows == 960
    expected = f"another process is at work in {out}.parts: wait for it, or choose another output"
    assert set(refused) == {expected}


def test_an_input_without_records_gives_an_output_without_rows(tmp_path: Path) -> None:
    """In every format."""
    (tmp_path / "empty.warc").write_bytes(b"")
    for ending in FORMATS:
        out = tmp_path / f"out{ending}"
        assert execute(tmp_path / "empty.warc", out).rows == 0
        assert read(out) == []
        assert FORMATS[ending].is_ours(str(out))


#: A shell that starts the tests in the background has them ignore Ctrl-C.
SCRIPT = """
import signal
import sys
from scrapy_robotspec.bulk.inputs import folders
folders._PART_FILES = 7
from scrapy_robotspec.cli.app import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
"""


def command(tmp_path: Path, folder: Path, out: Path, jobs: int) -> list[str]:
    """The command line as a process of its own, with parts of few files."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = [sys.executable, str(script), "bulk", str(folder), "--out", str(out)]
    return [*words, "--tokens", ",".join(NAMES), "--jobs", str(jobs)]


def many_files(folder: Path, number: int) -> None:
    """Files that take a while."""
    rules = b"".join(b"Disallow: /%d/*/%d$\n" % (n, n) for n in range(400))
    for each in range(number):
        (folder / f"m{each:05}.example.txt").write_bytes(HEAD + rules + b"# %d" % each)


def wait_for(condition: Any, limit: float = 60) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_was_killed_is_completed_by_the_same_command(
    tmp_path: Path, folder: Path, jobs: int
) -> None:
    """kill -9 of the whole run: no output yet, then the same bytes as without."""
    many_files(folder, 400)
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(Path(project.__file__).parent)}
    words = command(tmp_path, folder, out, jobs)
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    parts = Path(f"{out}.parts")
    wait_for(lambda: len(list(parts.glob("*.json"))) > 4)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    again = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert "taken over from the run that was interrupted" in again.stderr
    subprocess.run(command(tmp_path, folder, whole, 1), env=environment, check=True)
    assert out.read_bytes() == whole.read_bytes()
    assert not parts.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_run_that_is_stopped_says_how_to_go_on(
    tmp_path: Path, folder: Path, number: signal.Signals
) -> None:
    """Ctrl-C, and the signal that clusters send: no traceback, no process is left."""
    many_files(folder, 400)
    out = tmp_path / "out.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(Path(project.__file__).parent)}
    words = command(tmp_path, folder, out, 2)
    process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(list(Path(f"{out}.parts").glob("*.json"))) > 2)
    process.send_signal(number)
    _, printed = process.communicate()
    assert printed.strip().splitlines()[1:] == ["interrupted; the same command goes on from here"]
    assert process.returncode == 130
    assert not out.exists()


def test_unfinished_files_are_deleted_when_a_run_goes_on(tmp_path: Path, folder: Path) -> None:
    """They take space, which a full disk lacks."""
    out = tmp_path / "out.csv"
    stopped(folder, out)
    parts = Path(f"{out}.parts")
    (parts / "00000001.part.12345").write_bytes(b"begun")
    (parts / "output").write_bytes(b"begun")

    def look(size: int) -> None:
        assert not (parts / "00000001.part.12345").exists()

    assert Run(str(out), plan([str(folder)]), QUESTIONS).execute(1, look).resumed == 1
    assert len(read(out)) > 0


def test_a_run_goes_on_when_a_worker_process_is_killed(tmp_path: Path, folder: Path) -> None:
    """kill -9 of one worker: its part is done again, nothing is lost."""
    many_files(folder, 150)
    killed: list[int] = []

    def kill_one(size: int) -> None:
        if not killed:
            worker = multiprocessing.active_children()[0]
            killed.append(worker.pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    run = Run(str(tmp_path / "out.csv"), plan([str(folder)]), QUESTIONS)
    total = run.execute(2, kill_one)
    execute(folder, tmp_path / "whole.csv")
    assert killed
    assert total.documents == 270
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


class Mortal:
    """A part that ends its process a number of times."""

    size = 1

    def __init__(self, folder: Path, deaths: int) -> None:
        self._folder = folder
        self._deaths = deaths
        self.path = str(folder)

    def read(self) -> Any:
        """One document, in the end."""
        self._folder.mkdir(exist_ok=True)
        if len(list(self._folder.iterdir())) < self._deaths:
            (self._folder / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield Document("https://a.example/", b"")


def test_run_goes_on_when_processes_are_killed_during_several_parts(tmp_path: Path) -> None:
    """More often than a single part may end them, while others wait."""
    parts = tuple(Mortal(tmp_path / str(number), 2 * (number % 2)) for number in range(4))
    out = tmp_path / "out.csv"
    total = Run(str(out), Plan((), parts, 0), QUESTIONS).execute(2, lambda size: None)
    assert total.documents == 4
    assert len(read(out)) == 4 * 8


class Deadly:
    """A part that ends its process."""

    size = 1
    path = "deadly.warc"

    def read(self) -> Any:
        """Never returns."""
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_part_that_always_kills_its_process_is_named(tmp_path: Path, folder: Path) -> None:
    """No endless loop; what else is finished is kept."""
    planned = plan([str(folder)])
    run = Run(
        str(tmp_path / "out.csv"), planned._replace(parts=(*planned.parts, Deadly())), QUESTIONS
    )
    with pytest.raises(WorkerLostError, match=r"ended unexpectedly 3 times .*deadly\.warc"):
        run.execute(2, lambda size: None)
    assert not (tmp_path / "out.csv").exists()
    assert list((tmp_path / "out.csv.parts").glob("*.json"))
