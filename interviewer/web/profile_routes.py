"""What stands in a resume and a job description, before an interview: stateless, nothing is kept."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, StringConstraints

from interviewer.adapters.pdf import MAX_TEXT, PdfError, pdf_text
from interviewer.core.job import Steer, steers
from interviewer.core.resume import Found, read_resume
from interviewer.service.errors import Refused
from interviewer.web.auth import Who

router = APIRouter(prefix="/profiles")
Pasted = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
_PDF: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ProfileText(BaseModel):
    """A resume and a job description as text."""

    model_config = ConfigDict(extra="forbid")

    resume: Pasted = ""
    job: Pasted = ""


class ProfileView(BaseModel):
    """What was found; offsets are in the text that was sent."""

    resume: Found
    job: tuple[Steer, ...]
    """Criteria that will be pursued more, and the words that cause it."""


class PdfText(BaseModel):
    """The text layer of a file, to be shown, changed and sent on as text."""

    text: str


@router.post("/parse")
async def parse(body: ProfileText, caller: Who) -> ProfileView:
    """Find projects, claims, numbers and technologies in a resume, and criteria in a job, by their words."""
    return ProfileView(resume=read_resume(body.resume), job=steers(body.job))


@router.post("/pdf", openapi_extra=_PDF)
async def pdf(request: Request, caller: Who) -> PdfText:
    """Return the text layer of a PDF that is sent as the body."""
    try:
        return PdfText(text=await pdf_text(await request.body()))
    except PdfError as error:
        raise Refused(error.code, str(error)) from error
