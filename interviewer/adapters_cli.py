"""Commands for versions of adapters: list them, roll one in while interviews run, go back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from interviewer.cli import Json, Url, err, fail, out, show
from interviewer.client import DEFAULT_URL, Client, ServiceError
from interviewer.settings import Settings

adapters = typer.Typer(no_args_is_help=True, help="Versions of the personas' and the evaluator's adapters.")

SECONDS = 180.0
Adapter = Annotated[str, typer.Argument(help="A persona id, or evaluator.")]


@adapters.command("list")
def list_(url: Url = DEFAULT_URL, as_json: Json = False) -> None:
    """List the versions that are here and which one new turns use."""
    _print(_call(url, "GET", "/v1/adapters"), as_json)


@adapters.command()
def install(
    adapter: Adapter,
    folder: Annotated[Path, typer.Argument(help="What `interviewer train` wrote, or a folder with the weights.")],
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Copy a version into the data folder and let new turns use it; running turns end on the one before."""
    from interviewer.bootstrap import ADAPTERS, version_store
    from serving.versions import VersionError

    if adapter not in ADAPTERS:
        fail(f"there is no adapter {adapter!r}; there are: {', '.join(ADAPTERS)}")
    try:
        version = version_store(Settings()).install(adapter, folder)
    except VersionError as error:
        fail(str(error))
    err.print(f"{version.name} lies in {version.folder.parent}", markup=False)
    _print(_call(url, "POST", f"/v1/adapters/{adapter}", {"version": version.digest}), as_json)


@adapters.command()
def rollback(adapter: Adapter, url: Url = DEFAULT_URL, as_json: Json = False) -> None:
    """Let new turns use the version that was in use before."""
    _print(_call(url, "POST", f"/v1/adapters/{adapter}/rollback", {}), as_json)


def _call(url: str, method: str, path: str, body: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    try:
        with Client(url, seconds=SECONDS) as client:
            found: list[dict[str, Any]] = (client.get(path) if method == "GET" else client.post(path, body or {}))[
                "adapters"
            ]
            return found
    except ServiceError as error:
        fail(str(error))


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        show(rows)
        return
    table = Table("adapter", "version", "from", "in use", "canary")
    for row in rows:
        table.add_row(
            row["adapter"],
            row["version"],
            "shipped" if row["shipped"] else "installed",
            "yes" if row["active"] else "",
            row["detail"],
        )
    out.print(table)
