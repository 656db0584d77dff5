"""Keys of people who may use a service that runs with ``--auth``; needs the database, not a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Table

from interviewer.cli import Json, err, fail, out, show
from interviewer.core.access import DEFAULT_SCOPES, MEANINGS
from interviewer.settings import Settings

keys = typer.Typer(no_args_is_help=True, help="Keys of a service that runs with --auth.")
T = TypeVar("T")
_SCOPES = "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items())


@keys.command()
def add(
    name: Annotated[str, typer.Argument(help="Whose key it is; several keys of one name own the same sessions.")],
    scopes: Annotated[str, typer.Option(help=f"Comma-separated. {_SCOPES}.")] = ",".join(DEFAULT_SCOPES),
    adopt: Annotated[bool, typer.Option(help="Also own the sessions from before there were keys.")] = False,
) -> None:
    """Make a key and print it; it is shown this once, only its hash is kept."""

    async def make(accounts: Any) -> tuple[str, int]:
        _, secret = await accounts.add(name, tuple(s.strip() for s in scopes.split(",") if s.strip()))
        return secret, await accounts.adopt(name.strip()) if adopt else 0

    secret, adopted = _with_accounts(make)
    typer.echo(secret)
    err.print("Keep it now, it cannot be shown again. On the page: sign in with it. Command line: INTERVIEWER_API_KEY.")
    if adopt:
        err.print(f"{adopted} sessions from before belong to {name!r} now.", markup=False)


@keys.command("list")
def list_(as_json: Json = False) -> None:
    """List keys: whose, for what, and when they were last used."""
    found = _with_accounts(lambda accounts: accounts.keys())
    if as_json:
        show([key.model_dump(mode="json") for key in found])
        return
    table = Table("id", "name", "scopes", "made", "last used", "revoked")
    for key in found:
        days = [f"{moment:%Y-%m-%d %H:%M}" if moment else "" for moment in (key.created_at, key.last_used_at)]
        table.add_row(key.id, key.name, ",".join(key.scopes), *days, "yes" if key.revoked_at else "no")
    out.print(table)


@keys.command()
def revoke(key_id: Annotated[str, typer.Argument(help="Id of the key; see `interviewer keys list`.")]) -> None:
    """Make a key void at once; browsers that signed in with it are out. Sessions stay their owner's."""
    _with_accounts(lambda accounts: accounts.revoke(key_id))
    err.print(f"Key {key_id} opens nothing any more.", markup=False)


def _with_accounts(work: Callable[[Any], Awaitable[T]]) -> T:
    from interviewer.bootstrap import open_accounts
    from interviewer.service.errors import Refused
    from interviewer.service.ports import StoreError

    async def run() -> T:
        accounts = open_accounts(Settings())
        try:
            return await work(accounts)
        finally:
            await accounts.close()

    try:
        return asyncio.run(run())
    except (Refused, StoreError) as error:
        fail(str(error))
