"""Each key of ours in ``request.meta`` is in one module."""

from __future__ import annotations

import ast
from pathlib import Path

from scrapy_robotspec.plugin import meta_keys

KEYS = {
    name: value
    for name, value in vars(meta_keys).items()
    if name.isupper() and isinstance(value, str)
}
#: Keys of other plugins.
FOREIGN = {"SENT_TO_SPLASH", "SENT_TO_PUPPETEER", "ZYTE_API_SESSION"}
PLUGIN = Path(meta_keys.__file__).parent


def test_internal_keys_begin_with_an_underscore() -> None:
    """Others are the user's, and documented."""
    assert len(set(KEYS.values())) == len(KEYS) > 2
    own = {value for name, value in KEYS.items() if name not in FOREIGN}
    assert {value for value in own if not value.startswith("_robotspec_")} == {
        "robotspec",
        "robotspec_user_agent_token",
    }


def test_no_other_module_spells_a_key() -> None:
    foreign = {KEYS[name] for name in FOREIGN}
    spelled = {
        (path.name, node.value)
        for path in PLUGIN.rglob("*.py")
        if path.name != "meta_keys.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.startswith("_robotspec_") or node.value in {meta_keys.OWN_TOKENS, *foreign}
    }
    assert spelled == set()
