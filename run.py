"""``python3 run.py example``, ``tests``, ``dev``: a fresh clone, Python and pip suffice.

Makes an environment in ``.venv``, installs the package there with what the task needs, and runs
the task in it; what follows the task's name is passed on to it. Only the standard library may be
used here, and nothing outside this folder is touched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"

#: Processes of the tests: most of the time crawls wait, for delays, retries and each other.
WORKERS = 4 * (os.cpu_count() or 1)
#: Each process takes the next file, in the order that tests/conftest.py makes.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")

#: A task's name, the extras it needs, and the arguments to Python.
TASKS = {
    "example": ("", ["example_project/run_all.py"]),
    "compare": ("", ["example_project/compare.py"]),
    "fleet": ("[fleet]", ["example_project/fleet.py"]),
    "conformance": ("[peers]", ["-m", "conformance.page"]),
    "crawlers": ("", ["-m", "conformance.crawlers"]),
    "tests": ("[redis,test]", ["-m", "pytest", "-n", str(WORKERS), *BY_FILE]),
    "dev": ("[dev,redis]", ["-m", "pip", "list", "--disable-pip-version-check"]),
}

#: Versions of the tools that the extra ``dev`` names.
TOOLS = ROOT / ".ci" / "tools" / "requirements.txt"

#: Folders of the tests that need no crawl: ``python3 run.py tests --fast`` (about a minute).
FAST_TESTS = ("tests/unit", "tests/spec")


def python(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(folder: Path) -> None:
    """Make an environment with pip in it, also where the system has split ensurepip off."""
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.create(folder, clear=True, symlinks=os.name != "nt", with_pip=with_pip)
    if not with_pip:
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        target = subprocess.check_output([python(folder), "-c", code], text=True).strip()
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--target", target, "pip"]
        subprocess.run(pip, check=True)


def stamp(extras: str) -> str:
    """What an installation depends on; another value means that it is due again."""
    names = (ROOT / "setup.cfg", ROOT / "pyproject.toml", TOOLS)
    files = b"".join(path.read_bytes() for path in names)
    return f"{sys.version} {ROOT} {extras} {hashlib.sha256(files).hexdigest()}\n"


def install(extras: str) -> None:
    """Install the package from this folder, unless that is done already."""
    done = VENV / "installed"
    stamps = done.read_text().splitlines(keepends=True) if done.exists() else []
    if not python(VENV).exists():
        stamps = []
    if stamp(extras) in stamps:
        return
    print(f"installing into {VENV} …", file=sys.stderr, flush=True)
    if not stamps:
        make_environment(VENV)
    pip = [str(python(VENV)), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", str(TOOLS), "--editable", f"{ROOT}{extras}"], check=True)
    done.write_text("".join([*stamps, stamp(extras)]))


def arguments(given: list[str]) -> list[str]:
    """The task's arguments, with ``--fast`` replaced by what it stands for.

    Its tests compute and do not wait: more processes than processors slow them down. A ``-n`` that
    was given comes later and wins.
    """
    if "--fast" not in given:
        return given
    others = [each for each in given if each != "--fast"]
    return ["-n", str(os.cpu_count() or 1), *others, *FAST_TESTS]


def main() -> int:
    """Run the task named on the command line; its exit code is ours."""
    if len(sys.argv) < 2 or sys.argv[1] not in TASKS:
        print(f"usage: python3 run.py {'|'.join(TASKS)} [arguments of the task]", file=sys.stderr)
        return 2
    extras, command = TASKS[sys.argv[1]]
    try:
        install(extras)
    except subprocess.CalledProcessError as error:
        print(f"could not install: {error}", file=sys.stderr)
        return 1
    # The tests start hundreds of processes: without bytecode each would compile the package.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [str(python(VENV)), *command, *arguments(sys.argv[2:])]
    return subprocess.call(command, cwd=ROOT, env=environment)


if __name__ == "__main__":
    sys.exit(main())
