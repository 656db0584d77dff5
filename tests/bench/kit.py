"""An engine's model list on a real port, and a load generator that writes what it is told to have measured."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval.vllm_bench import Target

MODELS: dict[str, list[dict[str, object]]] = {
    "data": [
        {"id": "base", "root": "nobody/base", "parent": None, "max_model_len": 2048},
        {"id": "deep_dive@1a2b", "root": "/adapters/deep_dive", "parent": "base"},
        {"id": "recruiter@3c4d", "root": "/adapters/recruiter", "parent": "base"},
    ]
}
TARGET = Target("http://engine", "base", ("deep_dive@1a2b", "recruiter@3c4d"), "nobody/base", 2048, "0.32.0")

TOOL = """
import argparse, json, pathlib, sys
calls = json.load(sys.stdin)
pathlib.Path(sys.argv[1]).write_text(json.dumps(calls))
for number, argv in enumerate(calls):
    print("@run", number + 1, flush=True)
    parser = argparse.ArgumentParser()
    for name in ("result-dir", "result-filename"):
        parser.add_argument("--" + name)
    parser.add_argument("--num-prompts", type=int)
    parser.add_argument("--max-concurrency", type=int, default=1)
    given, _ = parser.parse_known_args(argv)
    batch, n = given.max_concurrency, given.num_prompts
    # 100 ms of prefill that nothing shares, then 39 steps of 10 ms whatever the batch.
    request = 0.1 + 39 * 0.01 / batch
    result = {"completed": n, "failed": 0, "duration": n * request, "request_throughput": 1 / request,
              "request_goodput": number / request / 4, "output_throughput": 40 / request,
              "total_token_throughput": 540 / request, "input_lens": [500] * n, "errors": [""] * n}
    for metric, value in (("ttft", 50 * (batch + 1)), ("itl", 10), ("tpot", 10), ("e2el", 1000 * request * batch)):
        for figure in ("mean", "median", "p90", "p99"):
            result[f"{figure}_{metric}_ms"] = value
    pathlib.Path(given.result_dir, given.result_filename).write_text(json.dumps(result))
"""
"""Stands for ``vllm bench serve``: keeps the calls in the file that is its first argument."""


def tool(calls: Path, code: str = TOOL) -> tuple[str, ...]:
    """Return the command of a load generator that keeps its calls in ``calls``."""
    return (sys.executable, "-c", code, str(calls))


@contextmanager
def engine(body: bytes = json.dumps(MODELS).encode(), status: int = 200) -> Iterator[str]:
    """Answer every GET with ``body``; yields the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
