"""How much an engine has to do, from its own metrics: the embedded one listens where no monitoring system can reach."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from openai import AsyncOpenAI, OpenAIError
from prometheus_client.parser import text_string_to_metric_families

GAUGES = {"vllm:num_requests_running": "running", "vllm:num_requests_waiting": "waiting"}
SECONDS = 2.0
"""Longest wait for it: a scrape has other things to tell."""


async def engine_load(client: AsyncOpenAI) -> Mapping[str, float]:
    """Return requests by state; empty when the endpoint does not tell, is a router, or is away."""
    address = str(client.base_url).rstrip("/").removesuffix("/v1") + "/metrics"
    found: dict[str, float] = {}
    try:
        async with asyncio.timeout(SECONDS):
            text = (await client.with_options(max_retries=0).get(address, cast_to=str)) or ""
        for family in text_string_to_metric_families(text):
            if family.name in GAUGES:
                found[GAUGES[family.name]] = sum(sample.value for sample in family.samples)
    except (OpenAIError, TimeoutError, ValueError):
        return {}
    return found
