"""How long the property tests look: the same examples each time in CI, fresh ones elsewhere."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("here", max_examples=150, **_COMMON)
settings.register_profile("ci", max_examples=300, derandomize=True, **_COMMON)
settings.register_profile("long", max_examples=20_000, **_COMMON)
settings.load_profile(
    os.environ.get("ROBOTSPEC_PROFILE") or ("ci" if "CI" in os.environ else "here")
)
