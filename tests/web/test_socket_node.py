"""A client in another language that shares nothing with the service: Node with the ``ws`` package."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .kit import SECONDS, Running

CLIENT = Path(__file__).parent / "node"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install what the client needs, outside the checkout."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node is not installed")
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(CLIENT, folder, dirs_exist_ok=True)
    options = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    done = subprocess.run([npm, *options], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"the package ws cannot be had: {done.stderr[-300:]}")
    return folder / "client.mjs"


async def test_a_node_client_holds_an_interview_and_comes_back(server: Running, client: Path) -> None:
    opened = await server.create()
    address = f"ws://{server.host}{opened['ws_url']}"
    process = await asyncio.create_subprocess_exec(
        "node", str(client), address, opened["token"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    async with asyncio.timeout(SECONDS):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    seen = json.loads(out)
    assert seen["problems"] == []
    assert (seen["subprotocol"], seen["pong"], seen["fragmented"]) == ("interview.v1", "beat", "pong")
    assert "permessage-deflate" in seen["extensions"]
    assert seen["seqs"] == [1, 2, 3, 4], "started, chosen, asked, answer given"
    assert seen["resumed"] == [5, 6, 7, 8], "read, chosen, asked, ended: no gap, nothing twice"
    assert seen["all"] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert seen["report"] == f"/v1/sessions/{opened['id']}/report"
    assert seen["closes"] == [4001, 1000], "taken over, and left"
