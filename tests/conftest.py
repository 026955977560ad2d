"""How long property tests look: the same examples each time in CI, fresh ones elsewhere.

Without a deadline: a slow machine is not a failure.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_BASE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("here", _BASE, max_examples=60)
settings.register_profile("ci", _BASE, max_examples=100, derandomize=True)
settings.register_profile("long", _BASE, max_examples=1_000)
settings.load_profile(
    os.environ.get("ROBOTSPEC_PROFILE") or ("ci" if "CI" in os.environ else "here")
)
