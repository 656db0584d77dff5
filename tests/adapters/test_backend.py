"""An endpoint that others run: ready when the model is there, and never a crash of ours."""

from __future__ import annotations

import pytest

from interviewer.adapters.backend import ExternalBackend
from interviewer.adapters.openai_model import make_client
from interviewer.web.state import Check

from .kit import Answer, Endpoint, garbage, models, nowhere, other_json, page, status

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def asked(api: Endpoint, answer: Answer) -> Check:
    api.answer = answer
    async with api.client() as client:
        backend = ExternalBackend(client, "base")
        assert backend.checks()["engine"] == Check(ok=False, detail="not asked yet")
        await backend.ask()
        return backend.checks()["engine"]


async def test_it_is_ready_when_the_model_is_served(api: Endpoint) -> None:
    assert await asked(api, lambda _: models("other", "base")) == Check(ok=True, detail="ready")


async def test_it_names_the_models_that_are_there_instead(api: Endpoint) -> None:
    check = await asked(api, lambda _: models("llama", "qwen"))
    assert check == Check(ok=False, detail="'base' is not served there; there are: llama, qwen")


@pytest.mark.parametrize("answer", [status(500), status(401), page, garbage, other_json])
async def test_an_endpoint_that_answers_something_else_is_not_ready(api: Endpoint, answer: Answer) -> None:
    check = await asked(api, answer)
    assert not check.ok and check.detail not in ("", "not asked yet")


async def test_an_endpoint_that_is_not_there_is_not_ready_and_starting_goes_on() -> None:
    async with make_client(nowhere(), "") as client:
        backend = ExternalBackend(client, "base")
        await backend.start()
        await backend.ask()
        assert backend.checks()["engine"] == Check(ok=False, detail="the model endpoint cannot be reached")
        await backend.stop()


async def test_stopping_without_a_start_is_nothing() -> None:
    async with make_client(nowhere(), "") as client:
        await ExternalBackend(client, "base").stop()


async def test_whoever_listens_hears_what_is_served_each_time(api: Endpoint) -> None:
    heard: list[list[str]] = []
    async with api.client() as client:
        backend = ExternalBackend(client, "base", lambda names: heard.append(list(names)))
        answers: list[Answer] = [lambda _: models("base"), status(500), lambda _: models("base", "deep_dive@1a2b3c4d")]
        for api.answer in answers:
            await backend.ask()
    assert heard == [["base"], ["base", "deep_dive@1a2b3c4d"]], "an endpoint that is away changes nothing"
