"""The shape of an error that an operator can do something about."""

from __future__ import annotations


class FixableError(Exception):
    """Something cannot be done as things are; the message ends with what to do about it.

    Attributes:
        fix: what the operator can do, one sentence.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message} {fix}")
        self.fix = fix
