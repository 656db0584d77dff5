"""Every operation of the OpenAPI document under made-up requests, legal and not, against the served application.

No answer is a 500, every answer is one that the document tells of, and every refusal has the one shape.
``FUZZ_EXAMPLES`` says how many requests an operation gets; the default keeps the whole run under a minute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from interviewer.web import contract
from tests.site import Site

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "12"))
