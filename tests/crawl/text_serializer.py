"""A serializer for scrapy-redis whose results a client with ``decode_responses`` can decode."""

from __future__ import annotations

import base64
import pickle
from typing import Any


def dumps(value: Any) -> str:
    """*value* as ASCII text."""
    return base64.b64encode(pickle.dumps(value)).decode("ascii")


def loads(text: str) -> Any:
    """The value of *text*."""
    return pickle.loads(base64.b64decode(text))
