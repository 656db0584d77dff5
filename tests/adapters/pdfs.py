"""PDFs that tests make: with a text layer, protected, empty, and hostile."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf(lines: Sequence[str], *, pages: int = 1, password: str = "") -> bytes:
    """Return a PDF whose pages each have ``lines`` as text."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    for _ in range(pages):
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 11 Tf 14 TL 50 740 Td {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    made = BytesIO()
    writer.write(made)
    return made.getvalue()


def bomb(size: int) -> bytes:
    """Return a small PDF whose page unpacks to ``size`` bytes."""
    packed = zlib.compress(b"(x) Tj " * (size // 7), 9)
    head = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<<>>>>endobj\n"
        b"4 0 obj<</Filter/FlateDecode/Length %d>>stream\n" % len(packed)
    )
    return head + packed + b"\nendstream endobj\ntrailer<</Root 1 0 R/Size 5>>\n%%EOF"
