"""One look at the code of an answer: found, read, and run where a sandbox is there. Never raises over what it finds."""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.code import CodeCheck, CodeReport, find_code, report, unparsed
from interviewer.core.essentials import read_code
from interviewer.core.rubric import CodeTask
from interviewer.service.ports import CodeRunner, NotRun


async def check_code(answer: str, task: CodeTask, runner: CodeRunner | None, why_not: str) -> CodeReport | None:
    """Return what was found out about the code of an answer, or ``None`` when it has none.

    Args:
        answer: The candidate's words.
        task: What its question asks for.
        runner: Runs it; ``None`` only reads it.
        why_not: Why there is no runner, in words for the report.
    """
    code = find_code(answer, task)
    if code is None:
        return None
    if code.tree is None:
        return unparsed(code, task)
    ran: Sequence[CodeCheck] = ()
    notice = f"The code was read, not run: {why_not}." if runner is None else ""
    if runner is not None:
        try:
            ran = await runner.run(task, code.text)
        except NotRun as error:
            notice = f"The code was read, not run: {error}."
    return report(code, task, read_code(code.tree, task), ran, notice)
