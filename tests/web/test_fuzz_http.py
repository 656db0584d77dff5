"""Every operation of the OpenAPI document under made-up requests, legal and not, against the served application.

No answer is a 500, every answer is one that the document tells of, and every refusal has the one shape.
``FUZZ_EXAMPLES`` says how many requests an operation gets; the default keeps the whole run under a minute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from interviewer.client import Client
from interviewer.web import contract
from tests.site import Site

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))
DIALOGUE = "Interviewer: What would you cache?\nCandidate: The prefix, as p99 was 900 ms at batch 8.\n"

schemathesis.openapi.media_type("application/pdf", st.binary(max_size=2000).map(lambda body: b"%PDF-1.7\n" + body))


@schemathesis.serializer("application/pdf")
def pdf(_: Any, value: Any) -> bytes:
    """Send a made-up file as it is."""
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


IDS: dict[str, str] = {}
"""Ids of what is there, by the name of the path parameter."""
SCHEMA = schemathesis.openapi.from_dict(contract.openapi())
FOUND = list(SCHEMA.get_all_operations())
OPERATIONS = [found.ok() for found in FOUND if isinstance(found, Ok)]
assert len(OPERATIONS) == len(FOUND), "an operation whose schema cannot be read would go untested"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve, with one of each thing that an operation can be about."""
    with Site(tmp_path_factory.mktemp("fuzz")) as site, Client(site.url) as client:
        IDS["session_id"] = client.post("/v1/transcripts", {"content": DIALOGUE, "rubric": "deep_dive"})["id"]
        IDS["loop_id"] = client.post("/v1/loops", {})["id"]
        IDS["adapter"] = "deep_dive"
        yield site.url


def one_shape(_: Any, response: Any, __: Any) -> None:
    """Fail when a refusal is not ``{"error": {"code", "message", ...}}``, or has not the headers of every answer."""
    assert response.headers["x-content-type-options"] == ["nosniff"]
    if response.status_code >= 400 and "ready" not in response.json():
        found = response.json()["error"]
        assert found["code"] and found["message"], found


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_breaks_the_service(operation: Any, mode: GenerationMode, url: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), real=st.booleans())
    def run(case: Any, real: bool) -> None:
        if real and operation.method != "delete":
            case.path_parameters = {name: IDS.get(name, value) for name, value in (case.path_parameters or {}).items()}
        case.call_and_validate(base_url=url, checks=CHECKS)

    # Of some operations nothing can be made wrong.
    with suppress(*([Unsatisfiable] if mode is GenerationMode.NEGATIVE else [])):
        run()


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    one_shape,
]
