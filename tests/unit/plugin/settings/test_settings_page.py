"""docs/settings.md names every setting with its true default, and examples that work."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings as ScrapySettings

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.plugin.settings.settings import Settings

PAGE = (Path(__file__).parents[4] / "docs" / "settings.md").read_text("utf-8")
SECTION = re.compile(
    r"^### `(?P<name>\w+)`\n\n"
    r"<details><summary>[A-Z].+\. Default: <code>(?P<default>[^<]+)</code></summary>\n\n"
    r"(?:(?!^###)[\s\S])*?```python\n(?P<example>[^`]+)```\n\n</details>$",
    re.MULTILINE,
)
SECTIONS = {section["name"]: section for section in SECTION.finditer(PAGE)}


def test_every_setting_has_its_section_and_no_other() -> None:
    assert re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE) == list(SECTIONS)
    assert set(SECTIONS) == set(Settings.names())


@pytest.mark.parametrize("name", SECTIONS)
def test_the_default_is_the_codes(name: str) -> None:
    attribute = Settings.names()[name].name
    written = ast.literal_eval(SECTIONS[name]["default"])
    read = getattr(Settings.from_scrapy(ScrapySettings({name: written})), attribute)
    assert read == getattr(Settings(), attribute)


@pytest.mark.usefixtures("myproject")
@pytest.mark.parametrize("name", SECTIONS)
def test_the_example_is_taken_and_changes_something(name: str) -> None:
    given: dict[str, Any] = {}
    exec(SECTIONS[name]["example"], {}, given)
    assert list(given) == [name]
    attribute = Settings.names()[name].name
    read = getattr(Settings.from_scrapy(ScrapySettings(given)), attribute)
    assert read != getattr(Settings(), attribute)


def test_the_message_shown_is_the_one_a_user_sees() -> None:
    (shown,) = re.findall(r"^    ConfigurationError: (.+)$", PAGE, re.MULTILINE)
    with pytest.raises(ValueError, match="^" + re.escape(shown) + "$"):
        Settings.from_scrapy(ScrapySettings({"ROBOTSPEC_RETRY_TIMES": "many"}))


def test_the_command_line_shown_is_read() -> None:
    joined = PAGE.replace("\\\n", "")  # a backslash continues a line
    (line,) = re.findall(r"^    scrapy crawl (.+)$", joined, re.MULTILINE)
    pairs = re.findall(r"-s (\w+)=(?:'([^']*)'|(\S+))", line)
    given = {name: quoted or bare for name, quoted, bare in pairs}
    assert len(given) == line.count("-s ")
    read = Settings.from_scrapy(ScrapySettings(given, "cmdline"))
    assert read.edition.name == "rfc9309"
    assert read.status_policy == {429: Meaning.UNREACHABLE}
