"""What may be asked to be scored: strict shapes, and messages that say what to give instead."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import core_schema

from interviewer.core.rubric import SeniorityLevel, Slug, Text
from interviewer.service.interview import MAX_ANSWER

MAX_ID = 64
MAX_REFERENCE = 2400
"""Characters of a reference answer; with the longest window it still fits the judge's context."""
_LEVELS = ("0", "1", "2", "3")


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QuestionRef(_Request):
    """A question of a rubric by id, or any question by its text."""

    id: Annotated[str, Field(max_length=64)] | None = None
    text: Annotated[str, Field(min_length=3, max_length=4000)] | None = None

    @model_validator(mode="after")
    def _one(self) -> QuestionRef:
        if (self.id is None) == (self.text is None):
            raise ValueError('give either "id" or "text" of the question')
        return self


def _by_level(levels: object) -> object:
    """Take anchors in order, or by number as YAML gives them; JSON has only strings as keys."""
    if isinstance(levels, (list, tuple)):
        if len(levels) != len(_LEVELS):
            raise ValueError(f"give four anchors, for the levels 0 to 3 in order; there are {len(levels)}")
        return dict(zip(_LEVELS, levels, strict=True))
    if isinstance(levels, Mapping):
        named = {str(level): text for level, text in levels.items()}
        if set(named) != set(_LEVELS):
            raise ValueError(
                f'give an anchor for each of the levels "0", "1", "2" and "3"; there are {len(named)} keys'
            )
        return named
    return levels


class InlineCriterion(_Request):
    """A criterion of the caller's own."""

    model_config = ConfigDict(str_strip_whitespace=True)

    asks: Text
    levels: Annotated[dict[Literal["0", "1", "2", "3"], Text], Field(min_length=4), BeforeValidator(_by_level)]
    """Anchor of each level, ``"0"`` to ``"3"``; a list of four is taken as well."""

    @model_validator(mode="after")
    def _told_apart(self) -> InlineCriterion:
        seen: dict[str, str] = {}
        for level, text in self.levels.items():
            same = seen.setdefault(" ".join(text.casefold().split()), level)
            if same != level:
                raise ValueError(f"levels {same} and {level} have the same anchor; say what sets them apart")
        return self

    @property
    def anchors(self) -> tuple[str, str, str, str]:
        """The anchors in order."""
        return (self.levels["0"], self.levels["1"], self.levels["2"], self.levels["3"])


class InlineRubric(_Request):
    """Criteria of the caller's own, each with four anchors."""

    criteria: Annotated[dict[Slug, InlineCriterion], Field(min_length=1, max_length=8)]

    @property
    def version(self) -> str:
        """Hash of everything in it; 12 hex digits."""
        return content_hash(self.model_dump(mode="json"))


def content_hash(content: object) -> str:
    """Return the hash of a JSON value; 12 hex digits, as documents of the library have."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _kind(rubric: object) -> str:
    return "round" if isinstance(rubric, str) else "own"


class ScoreRequest(_Request):
    """One answer to score."""

    question: QuestionRef
    answer: Annotated[str, Field(max_length=MAX_ANSWER)]
    criteria: Annotated[tuple[str, ...], Field(max_length=8)] | None = None
    """Criterion ids; those of the question when absent."""
    rubric: (
        Annotated[Annotated[str, Tag("round")] | Annotated[InlineRubric, Tag("own")], Discriminator(_kind)] | None
    ) = None
    """A round whose must-ask criteria are used for a free question, or criteria of one's own."""
    reference: Annotated[str, Field(min_length=3, max_length=MAX_REFERENCE)] | None = None
    """What a full answer says, for the judge to read the answer against; an answer may say the same."""
    level: SeniorityLevel = "mid"


class BatchItem(ScoreRequest):
    """An answer of a batch; the same id with the same content is scored once."""

    id: Annotated[str, Field(min_length=1, max_length=MAX_ID)]


@dataclass(frozen=True)
class BadItem:
    """An item of a batch that has an id but is no request; it fails alone."""

    id: str
    problem: str


def problems(error: ValidationError) -> str:
    """Return in one line what is wrong with a request and where; never what was sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    said = [f"{'.'.join(str(p) for p in e['loc']) or 'item'}: {e['msg']}" for e in found[:3]]
    return "; ".join(said) + (f" (and {len(found) - 3} more)" if len(found) > 3 else "")


def _take(value: Any, item: ValidatorFunctionWrapHandler) -> BatchItem | BadItem:
    try:
        taken: BatchItem = item(value)
        return taken
    except ValidationError as error:
        name = value.get("id") if isinstance(value, dict) else None
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_ID:
            raise  # there is nothing that the failure could be filed under
        return BadItem(id=name, problem=problems(error))


def _entry(_: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
    return core_schema.no_info_wrap_validator_function(_take, handler(BatchItem))


BatchEntry: TypeAlias = Annotated[BatchItem | BadItem, GetPydanticSchema(_entry)]
"""What a list of items is read into; described as a :class:`BatchItem`."""
