"""Dashboard and alert rules name only metrics, labels and label values that the service has."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from interviewer.adapters.metrics import Metrics
from interviewer.core.assessment import UnscoredReason
from interviewer.service.telemetry import Stage
from interviewer.testing import StillBackend
from interviewer.web.app import create_app
from interviewer.web.state import Service, assemble
from tests.service.kit import FlakyStore, deps

DEPLOY = Path(__file__).parents[2] / "serving" / "deploy"
PROMETHEUS_OWN = {"up": {"job"}}
KNOWN = {
    "stage": set(get_args(Stage)),
    "check": {"store", "engine", "service"},
    "code": {"store_unavailable", "conflict", "unknown_session", "internal_error"},
    "outcome": {"scored", *UnscoredReason},
    "job": {"interviewer"},
}


def queries() -> Iterator[str]:
    board: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text())
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])
    yield from (rule["expr"] for rule in rules())


def rules() -> list[dict[str, Any]]:
    groups = YAML(typ="safe").load(DEPLOY / "alerts.yaml")["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="module")
def exposed() -> dict[str, set[str]]:
    """Return each metric that the service has, with its labels, after everything happened once."""
    metrics = Metrics()
    metrics.took("s1", "reply", 1.0)
    metrics.asked("s1", 2, "deep_dive", "tied", model_away=True)
    metrics.stopped("s1", "conflict")
    metrics.judged("scored", 1.0)
    metrics.closed("left")
    metrics.stored("read", 0.1, failed=False)

    async def load() -> dict[str, float]:
        return {"running": 1.0, "waiting": 0.0}

    async def build() -> Service:
        store = FlakyStore.open("sqlite://")
        return assemble(deps(store), StillBackend(), metrics=metrics.exposition, engine_load=load)

    async def scrape() -> str:
        app = create_app(build)
        transport = httpx2.ASGITransport(app=app)
        async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport) as http:
            await http.get("http://localhost/healthz")
            return (await http.get("http://localhost/metrics")).text

    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(asyncio.run(scrape())):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.parametrize("query", list(queries()))
def test_a_query_uses_what_exists(query: str, exposed: dict[str, set[str]]) -> None:
    names = set(re.findall(r"\b(?:interviewer_\w+|up)\b", query))
    assert names and names <= set(exposed) | set(PROMETHEUS_OWN), names
    labels = set().union(*(exposed.get(name, PROMETHEUS_OWN.get(name, set())) for name in names))
    grouped = {label.strip() for part in re.findall(r"by \(([^)]*)\)", query) for label in part.split(",")}
    assert grouped <= labels
    for label, operator, value in re.findall(r'(\w+)(=~?)"([^"]*)"', query):
        assert label in labels
        fits = [known for known in KNOWN[label] if (re.fullmatch(value, known) if operator == "=~" else known == value)]
        assert fits, f"{label} is never {value}"


def test_every_figure_of_a_turn_is_on_the_dashboard() -> None:
    board = (DEPLOY / "grafana.json").read_text()
    assert all(f'stage=\\"{stage}\\"' in board for stage in get_args(Stage))


def test_every_rule_says_why_and_where_to_look() -> None:
    assert len(rules()) == len({rule["alert"] for rule in rules()})
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert all(len(rule["annotations"][part]) > 20 for part in ("summary", "reason", "look"))
        assert rule["for"]


def test_every_metric_is_described_for_operators(exposed: dict[str, set[str]]) -> None:
    text = (DEPLOY.parents[1] / "docs" / "operations.md").read_text()
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in exposed if not name.endswith("_created")}
    own = {name for name in families if name.startswith("interviewer_")}
    assert {name for name in own if f"`{name}`" not in text} == set()
