"""What an adapter cannot see is refused by name, before anything runs."""

from __future__ import annotations


class Refused(NotImplementedError):
    """An adapter cannot record this."""


def refuse(adapter: str, what: str) -> None:
    raise Refused(f"triescope.{adapter}.record: {what} is not recorded; leave the `with`, or generate without it")
