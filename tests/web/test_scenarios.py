"""Scenarios over HTTP: listed without their facts, chosen when a session starts, refused where they do not fit."""

from __future__ import annotations

import pytest

from tests.service.kit import library

from .kit import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_scenarios_are_listed_without_what_has_to_be_asked_for(shared: Running) -> None:
    listed = await shared.http.get("/v1/scenarios", params={"rubric": "behavioral"})
    assert {s["id"] for s in listed.json()["scenarios"]} == {
        s.id for s in library().scenarios.values() if s.rubric == "behavioral"
    }
    everything = (await shared.http.get("/v1/scenarios")).text
    assert not any(fact.says in everything for s in library().scenarios.values() for fact in s.facts)


async def test_a_session_opens_with_the_scenario_that_it_was_given(shared: Running) -> None:
    opened = await shared.create(persona="behavioral", scenario="bh-crisis-feed")
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
    log = (await shared.http.get(f"/v1/sessions/{opened['id']}/events")).text
    assert library().scenarios["bh-crisis-feed"].brief in log


async def test_a_scenario_of_another_round_is_refused_with_those_that_fit(shared: Running) -> None:
    body = {"persona": "behavioral", "scenario": "hm-live-claims"}
    refused = await shared.http.post("/v1/sessions", json=body)
    assert refused.status_code == 404 and refused.json()["error"]["code"] == "unknown_scenario"
    assert "bh-crisis-feed" in refused.json()["error"]["message"]
