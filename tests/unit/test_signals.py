"""The signals of this package."""

from __future__ import annotations

import subprocess
import sys

from scrapy_robotspec import signals


def test_signals_are_different_objects() -> None:
    assert signals.robots_changed is not signals.request_refused


def test_importing_them_does_not_load_scrapy() -> None:
    program = "import sys, scrapy_robotspec.signals; print('scrapy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
