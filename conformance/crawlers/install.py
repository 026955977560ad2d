"""Installs a program of a registry into a folder, beside nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.crawlers.programs import Program

#: Seconds for an installation.
TIMEOUT = 900


def install(program: Program, folder: Path) -> None:
    """Install a program into a new folder.

    Raises ``OSError`` or ``subprocess.SubprocessError`` where that fails.
    """
    steps = {"debian": _debian, "npm": _npm, "pypi": _pypi}
    steps[program.registry](program, folder)


def variables(program: Program, folder: Path) -> dict[str, str]:
    """The environment variables that a program in this folder needs."""
    if program.registry == "pypi":
        return {"PATH": _path(folder / "bin")}
    if program.registry == "npm":
        modules = folder / "node_modules"
        return {"PATH": _path(modules / ".bin"), "NODE_PATH": str(modules)}
    return _unpacked(folder / "root")


def _run(*command: str | Path) -> None:
    subprocess.run(
        command,
        check=True,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def _path(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])


def _pypi(program: Program, folder: Path) -> None:
    # Without pip of its own: where ensurepip is split off, the one that runs this serves.
    _run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    _run(*pip, "install", "-qq", "--disable-pip-version-check", *program.requirements())


def _npm(program: Program, folder: Path) -> None:
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    _run("npm", "install", *quiet, "--prefix", folder, *program.requirements())


def _debian(program: Program, folder: Path) -> None:
    # Unpacked, not installed: the system stays as it is, and packages that it has are not fetched.
    archives, root = folder / "archives", folder / "root"
    (archives / "partial").mkdir(parents=True)
    options = ("-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1")
    apt = ("apt-get", "install", "-qq", "-y", "--no-install-recommends", "--allow-downgrades")
    _run(*apt, "--reinstall", "--download-only", *options, *program.requirements())
    for archive in archives.glob("*.deb"):
        _run("dpkg-deb", "-x", archive, root)


def _unpacked(root: Path) -> dict[str, str]:
    """Search paths for what was unpacked below a folder."""
    usr = root / "usr"
    lists = {
        "LD_LIBRARY_PATH": {path.parent for path in root.rglob("*.so*")},
        "PERL5LIB": [usr / "share/perl5", *usr.glob("lib/*/perl5/*")],
        "RUBYLIB": [
            *usr.glob("lib/ruby/vendor_ruby"),
            *usr.glob("lib/**/ruby/[0-9]*"),
            *usr.glob("lib/**/ruby/vendor_ruby/[0-9]*"),
            *usr.glob("share/rubygems-integration/*/gems/*/lib"),
            *usr.glob("lib/*/rubygems-integration/*/gems/*/lib"),
            *usr.glob("lib/*/rubygems-integration/*/extensions/*/*/*"),
        ],
    }
    paths = {name: os.pathsep.join(map(str, folders)) for name, folders in lists.items()}
    return {"PATH": _path(usr / "bin"), **paths}
