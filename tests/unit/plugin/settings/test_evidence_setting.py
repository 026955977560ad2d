"""``ROBOTSPEC_EVIDENCE``: a folder, and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings as ScrapySettings

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.settings.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def read(value: object) -> str | None:
    return Settings.from_scrapy(ScrapySettings({"ROBOTSPEC_EVIDENCE": value})).evidence


def test_a_folder_may_exist_or_not(tmp_path: Path) -> None:
    assert read(tmp_path) == str(tmp_path)
    assert read(str(tmp_path / "new" / "folder")) == str(tmp_path / "new" / "folder")
    assert read("") is None


@pytest.mark.parametrize("value", [1, True, b"x", ["a"], "a\0b", __file__])
def test_a_value_that_names_no_folder_is_an_error(value: object) -> None:
    with pytest.raises(ConfigurationError, match=r"ROBOTSPEC_EVIDENCE = .* give the path"):
        read(value)


@pytest.mark.parametrize(
    "command", ["", "true {digest}", "true {output}", "nowhere {digest} {output}", "sh '", 1]
)
def test_a_command_that_cannot_work_stops_the_crawl(command: object) -> None:
    settings = ScrapySettings({"ROBOTSPEC_EVIDENCE_TIMESTAMP": command})
    if command == "":
        assert Settings.from_scrapy(settings).evidence_timestamp is None
        return
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_EVIDENCE_TIMESTAMP"):
        Settings.from_scrapy(settings)
