"""Code in an answer: finding it, what was found out about it, and what a sure failure does to a level.

Reading is by syntax tree alone and runs nothing. An essential that is absent is told and costs nothing; only code that
surely cannot run, or surely does another thing than asked, holds its criterion down, as a wrong claim does.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from interviewer.core.assessment import Assessment, CriterionAssessment, Frozen, JudgeResult, Notice, cap
from interviewer.core.facts import CAP
from interviewer.core.rubric import CodeTask
from interviewer.core.text import label

VERSION = "1"
"""Version of the checks, stored with each report."""
CRITERION = "implementation_correctness"
MAX_LINES = 600
"""Longest piece of code that is looked at."""

How: TypeAlias = Literal["read", "ran"]


class CodeCheck(Frozen):
    """One thing that was looked at in code."""

    check: str
    ok: bool | None
    """``None``: it could not be told."""
    says: str
    """In plain words."""
    how: How
    sure: bool = False
    """A failure that leaves no doubt: the code cannot run, or does another thing than asked."""


class CodeReport(Frozen):
    """What was found out about the code of one answer."""

    task: CodeTask
    version: str = VERSION
    lines: int
    checks: tuple[CodeCheck, ...]
    ran: bool
    """Whether it was run, wholly or in part."""
    notice: str = ""
    """Why it was only read, when that is so."""

    @property
    def failure(self) -> CodeCheck | None:
        """The first sure failure."""
        return next((c for c in self.checks if c.sure and c.ok is False), None)


class Code(NamedTuple):
    """Code that was found."""

    text: str
    tree: ast.Module | None
    """``None``: it is fenced as code and does not parse."""
    error: str = ""
    """Why it does not parse, with the line."""


_FENCE = re.compile(
    r"^[ \t]*(`{3,8}|~{3,8})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_PYTHON = frozenset(("", "py", "python", "python3", "pycon", "ipython"))
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})
_SHELL = re.compile(r"^\s*[!%]")
_STARTS = re.compile(
    r"(?:(?:from|import|def|async|class|for|while|with|if|elif|else|try|except|return)\b|@\w|#|[)\]}]+[:,]?\s*$"
    r"|[\w.]+\(|[\w.\[\], ]+(?:\s*:\s*[\w\[\]. |]+)? ?[-+*/|&]?= ?\S)"
)
_INTRODUCES = re.compile(
    r"^(?:from [\w.]+ import |import \w|(?:async )?def \w+\(|class \w+|for |while |with )", re.MULTILINE
)
_ABOUT: dict[CodeTask, re.Pattern[str]] = {
    "greedy_decoder": re.compile(r"(?s)\A(?=.*\b(?:for|while)\b)(?=.*\b(?:argmax|logits|topk|past_key_values)\b)"),
    "lora_script": re.compile(r"\b(?:LoraConfig|get_peft_model|SFTTrainer|peft|lora_alpha)\b"),
}
"""What shows that a piece of code is the thing that was asked for, and not a line that an answer mentions."""


def find_code(answer: str, task: CodeTask) -> Code | None:
    """Return the code of an answer, or ``None`` when it has none that could be what was asked for.

    Fenced blocks count first; without any, the runs of lines that read and parse as Python do.
    """
    fenced = [_clean(m.group(3)) for m in _FENCE.finditer(answer) if m.group(2).lower() in _PYTHON]
    if any(_ABOUT[task].search(block) for block in fenced):
        return _joined([block for block in fenced if _parse(block)[0] or _INTRODUCES.search(block)], task)
    found = [block for block in _runs(answer) if _parse(block)[0] is not None]
    text = "\n\n".join(found)
    if not _ABOUT[task].search(text):
        return None
    return _joined(found, task)


def _clean(block: str) -> str:
    kept = (line for line in block.translate(_QUOTES).splitlines() if not _SHELL.match(line))
    return textwrap.dedent("\n".join(kept)).strip("\n")


def _joined(blocks: list[str], task: CodeTask) -> Code | None:
    text = "\n\n".join(blocks)
    if not _ABOUT[task].search(text) or text.count("\n") >= MAX_LINES:
        return None
    return Code(text, *_parse(text))


def _parse(text: str) -> tuple[ast.Module | None, str]:
    """Parse, whatever the text is: hostile nesting is an error like another."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text), ""
    except SyntaxError as error:
        return None, f"line {error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return None, "line 1: this is nested too deeply to be read"


def _runs(answer: str) -> Iterator[str]:
    """Yield runs of lines that look like code: each starts at the margin and takes what is indented under it."""
    run: list[str] = []
    for line in answer.translate(_QUOTES).splitlines():
        if _STARTS.match(line) or (run and (not line.strip() or line[:1] in " \t")):
            run.append(line)
        elif run:
            yield "\n".join(run)
            run = []
    if run:
        yield "\n".join(run)


def unparsed(code: Code, task: CodeTask) -> CodeReport:
    """Return the report on code that does not parse."""
    says = f"It does not parse; {code.error}."
    check = CodeCheck(check="parses", ok=False, says=says, how="read", sure=True)
    return CodeReport(task=task, lines=_lines(code), checks=(check,), ran=False)


def report(code: Code, task: CodeTask, read: Iterable[CodeCheck], ran: Iterable[CodeCheck], notice: str) -> CodeReport:
    """Put together what was read and what a run showed; what was tried is not told as it reads."""
    tried = tuple(ran)
    told = {c.check for c in tried}
    checks = (*tried, *(c for c in read if c.check not in told))
    return CodeReport(task=task, lines=_lines(code), checks=checks, ran=bool(tried), notice=notice)


def _lines(code: Code) -> int:
    return len([line for line in code.text.splitlines() if line.strip()])


def held(result: JudgeResult, found: CodeReport | None) -> JudgeResult:
    """Hold :data:`CRITERION` at level 1 when the code on the question surely fails, with the reason; else leave it."""
    failure = found.failure if found else None
    if failure is None or not isinstance(result, Assessment):
        return result
    if not any(c.criterion == CRITERION and c.level > CAP for c in result.criteria):
        return result
    says = f"{label(CRITERION)} is held at level {CAP}, as the code fails: {failure.says}"
    return result.model_copy(
        update={
            "criteria": tuple(_lowered(c) if c.criterion == CRITERION else c for c in result.criteria),
            "notices": (*result.notices, Notice(code="code_fails", message=says)),
        }
    )


def _lowered(found: CriterionAssessment) -> CriterionAssessment:
    lowered = cap(found.probabilities, CAP)
    update = {"probabilities": lowered, "level": CAP, "confidence": min(1.0, lowered[CAP])}
    return found.model_copy(update=update)
