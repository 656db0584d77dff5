"""Refusals: what a client did that cannot be done, with a code for machines and a sentence for people."""

from __future__ import annotations

from collections.abc import Sequence


class Refused(Exception):
    """A request that cannot be served as it is; nothing was changed."""

    def __init__(self, code: str, message: str, retryable: bool = False, choices: Sequence[str] = ()) -> None:
        """Keep the code, the sentence, whether the same request may succeed later, and what there is to choose from."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.choices = tuple(choices)
