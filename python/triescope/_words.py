"""The words that captures and calls have in common, and what goes wrong."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Sequence, Union

from . import _values as values

KINDS = ("text", "drafts", "beams")
OWNERS = ("target", "draft", "head")
DRAFTER_KINDS = ("model", "head", "text", "other")
STATUSES = ("done", "stopped", "failed")
KV_PHASES = ("commit", "forward")
LOG_LEVELS = ("debug", "info", "warning", "error")
PHASES = ("draft", "forward", "accept", "commit", "observe")
DRAFT, FORWARD, ACCEPT, COMMIT, OBSERVE = range(5)


class RecordWarning(UserWarning):
    """The recorded run breaks a rule of decoding, or a recorder cannot write any more."""


class RecordError(ValueError):
    """The same, where strict=True asked for an exception."""


class Drafter(NamedTuple):
    """Who drafts: `kind` is model, head, text (a search in texts) or other."""

    name: str
    kind: str = "other"
    title: str = ""


class Node(int):
    """A node by its number in the capture, where an index among the round's drafts would be expected."""


NodeIndex = Union[int, Node]


def choice(where: str, value: Any, names: Sequence[str]) -> str:
    if value not in names:
        raise ValueError(f"{where}: expected one of {', '.join(names)}; found {value!r}")
    return value


def json_of(where: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        raise values.wrong(where, "a dict", value, "pass {name: value}")
    return json.dumps(value, separators=(",", ":"), default=lambda one: values.plain(one) if hasattr(one, "tolist") else str(one))
