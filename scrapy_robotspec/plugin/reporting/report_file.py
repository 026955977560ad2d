"""ReportFile: a file of one crawl that is replaced as a whole."""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_robotspec.converters import wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.errors import ConfigurationError

logger = logging.getLogger("scrapy_robotspec")

#: Characters of a spider's name that would lead into another folder.
_SEPARATORS = re.compile(r"[/\\\0]")


class ReportFile:
    """The file of ``ROBOTSPEC_REPORT``, which no other crawl writes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, setting: str, spider: str, now: float) -> ReportFile:
        """Create the file that *setting* names.

        *spider* and *now* (epoch seconds) replace ``{name}`` and ``{time}``. A number is added if
        the file exists. Raises ``ConfigurationError`` if the system refuses.
        """
        wanted = Path(expand(setting, spider, now)).absolute()
        try:
            path = _create(wanted)
        except OSError as error:
            raise unwritable(setting, error) from error
        if path == wanted:
            logger.info("ROBOTSPEC_REPORT: the report of this crawl is %s", path)
        else:
            logger.warning(
                "ROBOTSPEC_REPORT: %s exists, so the report of this crawl is %s. With {time} in "
                "the name, each crawl has a name of its own",
                wanted,
                path,
            )
        return cls(path)

    def replace(self, parts: Iterable[str]) -> None:
        """Replace the contents by *parts*, at once.

        A process that is killed leaves the old contents or the new ones. Raises OSError; the file
        is then unchanged.
        """
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        try:
            temporary.unlink(missing_ok=True)  # of a killed crawl, or a link to another file
            with temporary.open("x", encoding="utf-8", newline="\n") as file:
                file.writelines(parts)
            os.replace(temporary, self.path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def expand(setting: str, spider: str, now: float) -> str:
    """The path that *setting* means for a crawl.

    The time is written as in Scrapy's feeds.
    """
    moment = datetime.fromtimestamp(now, timezone.utc).replace(microsecond=0)
    values = {"name": _SEPARATORS.sub("-", spider), "time": moment.isoformat().replace(":", "-")}
    return re.sub(r"\{(\w+)\}|%\((\w+)\)s", lambda match: values[match[1] or match[2]], setting)


def _create(wanted: Path) -> Path:
    """Create *wanted*, or the first free of ``wanted-2``, ``wanted-3`` and so on."""
    for number in count(1):
        path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        with suppress(FileExistsError):
            path.open("x").close()
            return path
    raise AssertionError


def unwritable(setting: str, error: OSError) -> ConfigurationError:
    """The error for a file that the system refuses."""
    wanted = f"the path of a file that this process can write ({error.strerror})"
    return wrong("ROBOTSPEC_REPORT", setting, wanted)
