"""Runs: an output for each input, whole or not there, made once, and nothing else touched."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import random
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
from scrapy_robotspec import bulk
from scrapy_robotspec.bulk import run as runs
from scrapy_robotspec.bulk.inputs import find_inputs
from scrapy_robotspec.bulk.questions import Questions
from scrapy_robotspec.bulk.run import Counts, Job, RunError
from tests.support.command_line import shell
from tests.support.warc import response, write_warc

FORMATS = ("parquet", "csv")
NAMES = ["GPTBot", "CCBot", "x", "*"]
HEAD = b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 2\n"
QUESTIONS = Questions.of(NAMES, ["/news/", "/a,b"], ["google-2019", "classic"], False, None)


def bodies(number: int) -> list[bytes]:
    """Some files, all of them different; one cites what CSV must quote or escape."""
    files = [
        HEAD + b"Disallow: /%d\nSitemap: https://s.example/%d\n" % (n, n) for n in range(number)
    ]
    files[3] = b'=User-agent: *\nUser-agent: *\nDisallow: /"a,\xc3\xa9" # "quoted"\n'
    files[4] = b'User-agent: *\nDisallow: / # "quoted", \xc3\xa9\n'
    return files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with robots.txt files and two archives, one of them not compressed."""
    inputs = tmp_path / "inputs"
    (inputs / "more").mkdir(parents=True)
    for number, body in enumerate(bodies(40)):
        (inputs / f"{number:03}.example.txt").write_bytes(body)
    for name in ("x.warc.gz", "more/y.warc"):
        records = [
            response(f"https://w{n}.example/robots.txt", body) for n, body in enumerate(bodies(40))
        ]
        write_warc(inputs / name, records, compressed=name.endswith(".gz"))
    return inputs


def jobs_of(
    inputs: Path, out: Path, form: str = "parquet", questions: Questions = QUESTIONS
) -> list[Job]:
    """The jobs of a run."""
    found, _ = find_inputs([str(inputs)])
    return [Job(each, questions, str(out), form) for each in found]


def execute(jobs: list[Job], processes: int = 1) -> Counts:
    """Make what is missing, as the command does; the counts of what was made."""
    todo = [job for job in jobs if job.finished() is None]
    made = [counts for _, counts in runs.run(todo, processes)]
    fields = ("documents", "rows", "problems")
    return Counts(*(sum(getattr(each, name) for each in made) for name in fields))


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of an output of any format, in the types of Parquet."""
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    with path.open(encoding="utf-8", newline="") as file:
        return [_typed(row) for row in csv.DictReader(file)]


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """A row of CSV, where every value is text."""
    typed: dict[str, Any] = {}
    for field in bulk.SCHEMA:
        text = row[field.name]
        if text == "":
            typed[field.name] = None
        elif pa.types.is_string(field.type):
            typed[field.name] = text
        else:
            typed[field.name] = json.loads(text)
    typed["usage"] = None if typed["usage"] is None else list(typed["usage"].items())
    return typed


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_the_rows_of_the_function(folder: Path, tmp_path: Path, form: str) -> None:
    """As engines get them."""
    jobs = jobs_of(folder, tmp_path / "out", form)
    total = execute(jobs)
    assert sorted(os.path.relpath(job.path, tmp_path) for job in jobs) == [
        f"out/{name}.{form}" for name in ("inputs", "more/y.warc", "x.warc.gz")
    ]
    ask = partial(bulk.verdicts, tokens=NAMES, paths=["/news/", "/a,b"])
    names = ("url", "body", "status", "source")
    for job in jobs:
        documents = list(job.input.read(pytest.fail))
        table = pa.table({name: [getattr(each, name) for each in documents] for name in names})
        expected = ask(table, editions=["google-2019", "classic"]).to_pylist()
        assert rows(Path(job.path)) == expected
    assert (total.documents, total.rows, total.problems) == (120, 120 * 4 * 2, 0)


def test_a_parquet_file_has_the_schema_of_the_function(folder: Path, tmp_path: Path) -> None:
    """Plain text, not the dictionaries in which it is stored; of all outputs as one table."""
    execute(jobs_of(folder, tmp_path / "out"))
    table = pq.read_table(tmp_path / "out")
    assert table.schema.names == bulk.SCHEMA.names
    assert table.column("rule").type == pa.string()
    assert table.cast(bulk.SCHEMA).num_rows == 960


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    """A spreadsheet would compute what a site has written; Parquet has the text as it is."""
    texts = ["=1+1", "+1", "-1", "@x", "\t=1", "fine", ""]
    lines = [{"url": text, "body": "", "error": text} for text in texts]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    questions = Questions.of("x", (), "google-2019", False, ["url", "error"])
    for form, expected in (
        ("csv", [*(f"'{text}" for text in texts[:5]), *texts[5:]]),
        ("parquet", texts),
    ):
        (job,) = jobs_of(tmp_path / "x.jsonl", tmp_path / form, form, questions)
        job.run()
        if form == "csv":
            with open(job.path, encoding="utf-8", newline="") as file:
                found = list(csv.DictReader(file))
        else:
            found = pq.read_table(job.path).to_pylist()
        assert [row["url"] for row in found] == expected


def test_a_whole_number_of_seconds_has_a_point_in_csv(tmp_path: Path) -> None:
    """DuckDB finds the type in the first rows, and rounds what the type cannot hold."""
    delays = ["1", "0.4", "none"]
    lines = [{"url": "", "body": f"User-agent: *\nCrawl-delay: {each}\n"} for each in delays]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    questions = Questions.of("x", (), "google-2019", False, ["url", "crawl_delay"])
    (job,) = jobs_of(tmp_path / "x.jsonl", tmp_path / "out", "csv", questions)
    job.run()
    with open(job.path, encoding="utf-8", newline="") as file:
        assert [row["crawl_delay"] for row in csv.DictReader(file)] == ["1.0", "0.4", ""]


@pytest.mark.parametrize("form", FORMATS)
def test_several_processes_write_the_same_bytes(folder: Path, tmp_path: Path, form: str) -> None:
    one, several = (jobs_of(folder, tmp_path / name, form) for name in ("one", "several"))
    execute(one)
    execute(several, 3)
    for first, second in zip(one, several, strict=True):
        assert Path(first.path).read_bytes() == Path(second.path).read_bytes()


def test_what_is_there_is_not_made_again(folder: Path, tmp_path: Path) -> None:
    """Unless an input, the questions or the release differ."""
    out = tmp_path / "out"
    assert execute(jobs_of(folder, out)).documents == 120
    assert execute(jobs_of(folder, out)).documents == 0
    (folder / "more/y.warc").write_bytes(b"")
    assert execute(jobs_of(folder, out)).documents == 0
    assert pq.read_table(out / "more/y.warc.parquet").num_rows == 0
    assert execute(jobs_of(folder, out, form="csv")).documents == 80
    others = Questions.of("GPTBot", (), "google-2019", False, None)
    assert execute(jobs_of(folder, out, questions=others)).documents == 80


def test_another_release_makes_everything_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts of two releases are never mixed."""
    out = tmp_path / "out"
    execute(jobs_of(folder, out))
    monkeypatch.setattr(runs, "__version__", "99.0")
    assert execute(jobs_of(folder, out)).documents == 120


def snapshot(folder: Path) -> dict[Path, bytes]:
    """Everything in a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_foreign_file_with_the_name_of_an_output_is_never_touched(
    folder: Path, tmp_path: Path
) -> None:
    """The run does not begin; other files in the folder do not matter to it."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_bytes(b"mine")
    execute(jobs_of(folder / "more", out))
    (out / "x.warc.gz.parquet").write_bytes(b"mine")
    before = snapshot(out)
    with pytest.raises(RunError, match=r"x\.warc\.gz\.parquet was not written by this tool"):
        execute(jobs_of(folder, out))
    assert snapshot(out) == before


def test_problems_are_remembered_with_the_output(tmp_path: Path) -> None:
    """The same command says the same again."""
    (tmp_path / "x.jsonl").write_text('{"url": 1}\n' * 30)
    (job,) = jobs_of(tmp_path / "x.jsonl", tmp_path / "out")
    counts = job.run()
    assert (counts.problems, len(counts.named)) == (30, 20)
    assert job.finished() == counts


#: A shell that starts the tests in the background has them ignore Ctrl-C.
SCRIPT = """
import signal
import sys
from scrapy_robotspec.__main__ import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
"""


def write_archives(folder: Path, documents: int) -> None:
    """Six archives of long files, which take a while."""
    rules = b"".join(b"Disallow: /%d/*/%d$\n" % (n, n) for n in range(400))
    lines = [
        json.dumps({"url": f"https://{n}.example/", "body": (HEAD + rules).decode() + f"# {n}"})
        for n in range(documents)
    ]
    for name in "abcdef":
        (folder / f"{name}.jsonl").write_text("\n".join(lines))


class Command:
    """The command line as a process of its own, over archives that take a while."""

    def __init__(self, tmp_path: Path, folder: Path, documents: int = 150) -> None:
        write_archives(folder, documents)
        (tmp_path / "script.py").write_text(SCRIPT)
        self._words = [sys.executable, str(tmp_path / "script.py"), "bulk", str(folder)]
        self._environment = {**os.environ, "PYTHONPATH": str(Path(project.__file__).parent)}

    def start(self, out: Path, jobs: int) -> subprocess.Popen[str]:
        """Start a run."""
        words = [*self._words, "--out", str(out), "--tokens", ",".join(NAMES), "--jobs", str(jobs)]
        return subprocess.Popen(
            words, env=self._environment, stdout=-1, stderr=-1, text=True, start_new_session=True
        )


def outputs(out: Path) -> dict[str, bytes]:
    """The outputs that are there."""
    return {path.name: path.read_bytes() for path in out.rglob("*.parquet") if path.name[0] != "."}


def test_nothing_is_half_written_after_kill_9(tmp_path: Path, folder: Path) -> None:
    """At random moments, with one process and two; the same command goes on."""
    command, out = Command(tmp_path, folder, documents=40), tmp_path / "out"
    whole = command.start(tmp_path / "whole", 1)
    whole.communicate()
    assert whole.returncode == 0
    expected = outputs(tmp_path / "whole")
    chance = random.Random(0)
    for jobs in (1, 2):
        process = command.start(out, jobs)
        wait_for(out.exists)
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert outputs(out).items() <= expected.items()
    process = command.start(out, 2)
    assert process.communicate()[1].count("kept") <= 1
    assert process.returncode == 0
    assert outputs(out) == expected
    assert not list(out.rglob("*unfinished"))


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGTERM, 2), (signal.SIGINT, 1)])
def test_run_that_is_stopped_says_how_to_go_on(
    tmp_path: Path, folder: Path, number: signal.Signals, jobs: int
) -> None:
    """Ctrl-C, and the signal that clusters send: no traceback, nothing unfinished."""
    out = tmp_path / "out"
    process = Command(tmp_path, folder).start(out, jobs)
    wait_for(lambda: outputs(out))
    process.send_signal(number)
    _, printed = process.communicate()
    assert printed.strip().splitlines()[-1] == "interrupted; the same command goes on from here"
    assert "Traceback" not in printed
    assert process.returncode == 130
    assert not list(out.rglob("*unfinished"))


def wait_for(condition: Any, limit: float = 60) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_a_run_in_which_a_worker_is_killed_says_what_to_do(tmp_path: Path, folder: Path) -> None:
    """What was finished is kept."""
    write_archives(folder, 12)
    jobs = jobs_of(folder, tmp_path / "out")

    def kill_workers() -> None:
        for _ in runs.run(jobs, 2):
            for worker in multiprocessing.active_children():
                os.kill(worker.pid or 0, signal.SIGKILL)

    with pytest.raises(RunError, match="a worker process ended unexpectedly"):
        kill_workers()
    assert 0 < len(outputs(tmp_path / "out")) < len(jobs)
    assert not list((tmp_path / "out").rglob("*unfinished"))
    assert execute(jobs).documents > 0


def test_a_second_run_into_the_same_folder_says_that_it_is_in_use(
    tmp_path: Path, folder: Path
) -> None:
    """It exits with 2 at once; the first loses nothing, and a later one may go on."""
    command, out = Command(tmp_path, folder, documents=40), tmp_path / "out"
    first = command.start(out, 2)
    wait_for(lambda: outputs(out))
    first.send_signal(signal.SIGSTOP)
    second = command.start(out, 1)
    _, printed = second.communicate()
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 2
    assert printed.splitlines() == [
        f"robotspec bulk: another run writes to {out}: wait for it, or choose another folder"
    ]
    first.communicate()
    assert first.returncode == 0
    assert len(outputs(out)) == 9
    again = command.start(out, 1)
    assert "9 outputs" in again.communicate()[1]


def test_a_full_disk_leaves_no_output_and_no_half_of_one(tmp_path: Path, folder: Path) -> None:
    """Exit code 2, one line; outputs of earlier runs stay."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_bytes(b"mine")
    for form in FORMATS:
        words = f"bulk {folder} --tokens x --out {out} --format {form} --jobs 1"
        done = shell(words, tmp_path, start="ulimit -f 1; ")
        assert done.returncode == 2
        assert done.stderr.startswith(f"robotspec bulk: cannot write to {str(out)!r}: ")
        assert done.stderr.count("\n") == 1
        assert [path.name for path in out.rglob("*") if path.is_file()] == ["notes.txt"]
