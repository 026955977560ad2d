"""Fetch Scrapy's source distribution and run its robots.txt tests with our parser and middleware.

Needs pip, pytest-twisted and the network. Extra arguments are passed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = ("tests/test_robotstxt_interface.py", "tests/test_downloadermiddleware_robotstxt.py")


def fetch(folder: Path) -> Path:
    """The folder with the tests of the installed Scrapy, without the package itself."""
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--no-binary", "scrapy"]
    subprocess.run([*pip, "--dest", str(folder), f"scrapy=={version('scrapy')}"], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        members = [m for m in source.getmembers() if m.name.split("/")[1:2] == ["tests"]]
        source.extractall(folder, members)
    return folder / archive.name.removesuffix(".tar.gz")


def main() -> int:
    """Run the tests; their exit code is ours."""
    with tempfile.TemporaryDirectory() as name:
        folder = fetch(Path(name))
        options = ["-p", "adapter", "-p", "no:asyncio", "--noconftest", "--reactor=asyncio", "-rxX"]
        quiet = ["-o", "addopts=", "-o", "filterwarnings=", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, *quiet, *TESTS, *sys.argv[1:]]
        paths = [str(HERE), str(folder)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        return subprocess.call(command, cwd=folder, env=environment)


if __name__ == "__main__":
    sys.exit(main())
