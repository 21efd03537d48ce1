"""What the adapters share: what one cannot see is refused by name, and every run has a file of its own."""

from __future__ import annotations

import os
from typing import List


class Refused(NotImplementedError):
    """An adapter cannot record this."""


def refuse(adapter: str, what: str) -> None:
    raise Refused(f"triescope.{adapter}.record: {what} is not recorded; leave the `with`, or generate without it")


def numbered(path: str, made: List[str]) -> str:
    """The next run's file: `path`, then run-2.tscap, run-3.tscap, …"""
    stem, end = os.path.splitext(path)
    return path if not made else f"{stem}-{len(made) + 1}{end}"
