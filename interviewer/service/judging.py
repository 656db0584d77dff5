"""One judge pass over an answer: screen, check the language, read, assemble. A failure is typed, never a number."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from interviewer.core.assessment import JudgeResult, Notice, Unscored, UnscoredReason
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.prompts import Count
from interviewer.core.reading import MOST_CHARS, CriterionSpec, Said, assemble, prepare, recent
from interviewer.service.ports import Judge, JudgeError, JudgeInvalid, JudgeRefused, JudgeTimeout, Stamp

NOTHING_TO_READ = "There is no criterion to read this on: the rubric names none, or the message only asks."
LEFT_OUT = Notice(
    code="too_much",
    message=f"More was said on this question than is read at once: the latest {MOST_CHARS} characters at most.",
)
IsEnglish = Callable[[str], bool]
"""Whether a text is English, or too short to tell."""


class Judging:
    """Turns what a candidate said into an assessment, whatever the judge behind it."""

    def __init__(
        self,
        judge: Judge,
        count: Count,
        is_english: IsEnglish,
        *,
        seconds: float = 20.0,
        told: Callable[[str, float], None] = lambda _outcome, _seconds: None,
    ) -> None:
        """Keep the collaborators.

        Args:
            judge: Reads one window at a time.
            count: Exact tokens of a text in the judge's tokenizer.
            is_english: Language check; the default judge is not fit for other languages and abstains.
            seconds: Longest wait for the judge.
            told: Told the outcome of each pass, ``scored`` or why not, and its seconds.
        """
        self._judge = judge
        self._count = count
        self._is_english = is_english
        self._seconds = seconds
        self._told = told

    @property
    def identity(self) -> str:
        """Identity of the judge and of the checks that hold its levels down, as recorded with every assessment."""
        return f"{self._judge.identity}:facts-{FACTS}"

    @property
    def stamp(self) -> Stamp:
        """Model, adapter and calibration of the judge in use."""
        return self._judge.stamp

    async def assess(self, question: str, said: Sequence[Said], criteria: Sequence[CriterionSpec]) -> JudgeResult:
        """Read all ``criteria`` from everything ``said`` on ``question``, in one pass.

        The work on the text is done in a thread, and is bounded: of very much only the latest is read, with a notice.
        """
        began = time.perf_counter()
        result = await self._assess(question, said, criteria)
        outcome = str(result.reason) if isinstance(result, Unscored) else "scored"
        self._told(outcome, time.perf_counter() - began)
        return result

    async def fit_for(self, text: str) -> bool:
        """Return whether the judge may read a text: whether it seems to be English."""
        return await asyncio.to_thread(self._is_english, text)

    async def _assess(self, question: str, said: Sequence[Said], criteria: Sequence[CriterionSpec]) -> JudgeResult:
        if not criteria:
            return Unscored(reason=UnscoredReason.NO_CRITERIA, detail=NOTHING_TO_READ)
        said, all_ = recent(said), said
        # A second of work for the longest answers; other sockets are served meanwhile.
        if not await self.fit_for(" ".join(s.text for s in said)):
            return Unscored(
                reason=UnscoredReason.NOT_ENGLISH,
                detail="The answer does not seem to be in English; this judge is only fit for English and abstains.",
            )
        prepared = await asyncio.to_thread(prepare, question, said, criteria, self._judge.budget, self._count)
        if sum(len(s.text) for s in said) < sum(len(s.text) for s in all_):
            prepared = prepared.model_copy(update={"notices": (*prepared.notices, LEFT_OUT)})
        try:
            async with asyncio.timeout(self._seconds):
                readings = [await self._judge.read(window, criteria) for window in prepared.windows]
        except (TimeoutError, JudgeTimeout):
            reason, detail = UnscoredReason.JUDGE_TIMEOUT, f"The judge did not answer within {self._seconds:.0f} s."
        except JudgeRefused as error:
            reason, detail = UnscoredReason.JUDGE_REFUSED, f"The judge declined: {error}"
        except JudgeInvalid as error:
            reason, detail = UnscoredReason.JUDGE_INVALID, f"The judge gave no usable reading: {error}"
        except JudgeError as error:
            reason, detail = UnscoredReason.JUDGE_UNAVAILABLE, f"The judge is not available: {error}"
        else:
            return await asyncio.to_thread(assemble, criteria, prepared, readings, said, self.identity)
        return Unscored(reason=reason, detail=detail, notices=prepared.notices)
