"""The text layer of a PDF: exact words, and typed refusals for all that has none or does harm."""

from __future__ import annotations

import pytest

from interviewer.adapters.pdf import MAX_BYTES, MAX_PAGES, PdfError, pdf_text
from tests.adapters.pdfs import bomb, pdf

LINES = ("Led a team of 5 engineers", "Cut p99 latency from 40 ms to 18 ms")


async def test_the_lines_of_a_text_layer_are_returned_as_they_stand() -> None:
    assert await pdf_text(pdf(LINES)) == "\n".join(LINES)
    assert (await pdf_text(pdf(LINES, pages=2))).count("Led a team") == 2


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (pdf(LINES, password="secret"), "pdf_encrypted", "without one, or paste"),
        (pdf(()), "pdf_no_text", "scan"),
        (pdf(LINES, pages=MAX_PAGES + 1), "pdf_too_long", "pages"),
        (pdf(["word " * 100] * 30, pages=3), "pdf_too_long", "characters"),
        (b"%PDF-1.4\n" + b"x" * MAX_BYTES, "pdf_too_large", "MB"),
        (b"PK\x03\x04 a document of another kind", "pdf_unreadable", "export it again"),
        (b"%PDF-1.7\nnothing that follows is one", "pdf_unreadable", "export it again"),
        (pdf(LINES)[:200], "pdf_unreadable", "export it again"),
    ],
    ids=["encrypted", "scanned", "pages", "characters", "bytes", "zip", "broken", "cut"],
)
async def test_what_cannot_be_read_says_what_to_do(data: bytes, code: str, says: str) -> None:
    with pytest.raises(PdfError, match=says) as caught:
        await pdf_text(data)
    assert caught.value.code == code


async def test_a_file_that_unpacks_to_more_than_memory_is_refused() -> None:
    with pytest.raises(PdfError) as caught:
        await pdf_text(bomb(400_000_000))
    assert caught.value.code in ("pdf_too_hard", "pdf_unreadable", "pdf_no_text")


async def test_a_file_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(PdfError) as caught:
        await pdf_text(pdf(LINES), seconds=0.0)
    assert caught.value.code == "pdf_too_hard"
