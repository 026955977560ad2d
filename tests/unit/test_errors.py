"""The errors of the package: one base for all, and a wrong argument is a ``ValueError`` too."""

from __future__ import annotations

import pytest

from scrapy_robotspec import ConfigurationError, RobotsTxt, errors
from scrapy_robotspec.errors import RobotSpecError, StoreError


@pytest.mark.parametrize("kind", [ConfigurationError, RobotSpecError, ValueError])
def test_wrong_argument_is_caught_by_each_of_its_kinds(kind: type[Exception]) -> None:
    """The message names it and the remedy."""
    with pytest.raises(kind, match=r"'rfc'.*rfc9309"):
        RobotsTxt.parse(b"", "rfc")


def test_one_base_catches_every_error() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    assert StoreError in kinds
    assert all(issubclass(kind, RobotSpecError) for kind in kinds)
