"""Whether a text is English, by the lingua detector over the languages that candidates are likely to write in."""

from __future__ import annotations

import re

from lingua import Language, LanguageDetector, LanguageDetectorBuilder

_LANGUAGES = (
    Language.ENGLISH,
    Language.CHINESE,
    Language.GERMAN,
    Language.FRENCH,
    Language.SPANISH,
    Language.PORTUGUESE,
    Language.ITALIAN,
    Language.DUTCH,
    Language.POLISH,
    Language.RUSSIAN,
    Language.TURKISH,
    Language.HINDI,
    Language.ARABIC,
    Language.JAPANESE,
    Language.KOREAN,
    Language.VIETNAMESE,
)
_CODE = re.compile(r"```.*?(?:```|$)|`[^`]*`", re.DOTALL)
_TERM = re.compile(r"[^A-Za-z.,;:!?'\"()-]|[A-Z].*[A-Z]|^\W+$")
"""A word with digits, signs or several capitals in it: a name, a number, a formula, in no language."""
MOST_TERMS = 0.4
"""Share of such words from which a text says too little in words to tell its language."""
MIN_LETTERS = 24
"""Shorter texts are not judged by their language: one borrowed word would decide."""
DOUBT = 0.2
"""A text whose probability of being English is at least this is read as English: terms of the trade mislead."""


class EnglishCheck:
    """Callable that says whether a text is English or too short to tell; loads its models on construction."""

    def __init__(self) -> None:
        """Load the language models (about 20 MB in low-accuracy mode)."""
        builder = LanguageDetectorBuilder.from_languages(*_LANGUAGES)
        self._detector: LanguageDetector = builder.with_preloaded_language_models().with_low_accuracy_mode().build()

    def __call__(self, text: str) -> bool:
        """Return ``True`` for English and for texts that are too short or only code."""
        prose = _CODE.sub(" ", text)
        if sum(c.isalpha() for c in prose) < MIN_LETTERS and prose.isascii():
            return True
        if not any(c.isalpha() for c in prose):
            return True
        said = prose.split()
        if prose.isascii() and sum(bool(_TERM.search(word)) for word in said) >= MOST_TERMS * len(said):
            return True
        if self._detector.detect_language_of(prose) is Language.ENGLISH:
            return True
        return self._detector.compute_language_confidence(prose, Language.ENGLISH) >= DOUBT
