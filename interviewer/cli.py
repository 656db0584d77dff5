"""The command ``interviewer``: one verb per use, ``--json`` where a machine reads."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from interviewer import __version__
from interviewer.client import DEFAULT_URL, Client, ServiceError
from interviewer.settings import Settings, SettingsError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A self-hosted LLM mock interviewer.")
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Url = Annotated[str, typer.Option("--url", help="Where the service runs.", envvar="INTERVIEWER_URL")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one clear message and exit."""
    err.print(f"[bold]error:[/bold] {escape(message)}")
    raise typer.Exit(code)


def show(data: Any) -> None:
    """Print JSON for machines."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Hold mock interviews with a local model."""
    if version:
        typer.echo(__version__)
        raise typer.Exit()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (default 8600); 0 takes a free one.")] = None,
    engine_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint, http://host:port/v1.")] = None,
    engine_model: Annotated[str | None, typer.Option(help="Model name at that endpoint.")] = None,
    model: Annotated[str | None, typer.Option(help="Base model of the embedded engine: see `model list`.")] = None,
    database_url: Annotated[str | None, typer.Option(help="SQLAlchemy URL; default is a SQLite file.")] = None,
    adapters: Annotated[bool | None, typer.Option(help="Serve the personas' adapters.")] = None,
    auth: Annotated[bool | None, typer.Option("--auth", help="Ask everybody for a key: see `keys`.")] = None,
    insecure: Annotated[bool | None, typer.Option("--insecure", help="Let others in without keys.")] = None,
    store: Annotated[str | None, typer.Option(help="disk, or none: nothing is kept when the service stops.")] = None,
) -> None:
    """Start the service and, unless an endpoint is given, the embedded engine."""
    given = {
        "host": host,
        "port": port,
        "engine_url": engine_url,
        "engine_model": engine_model,
        "model": model,
        "database_url": database_url,
        "adapters": adapters,
        "auth": auth,
        "insecure": insecure,
        "store": store,
    }
    if store not in (None, "disk", "none"):
        fail(f"--store is disk or none, not {store!r}")
    from interviewer.running import run_service

    try:
        run_service(Settings(**{k: v for k, v in given.items() if v is not None}))
    except SettingsError as error:
        fail(str(error))


@app.command()
def chat(
    persona: Annotated[
        str | None, typer.Option(help="Who interviews; hiring_manager, or with --question the one of its round.")
    ] = None,
    rubric: Annotated[str | None, typer.Option(help="Round; the persona's own by default.")] = None,
    level: Annotated[str, typer.Option(help="mid or senior.")] = "mid",
    mode: Annotated[str, typer.Option(help="practice or real.")] = "practice",
    minutes: Annotated[int | None, typer.Option(help="Length; the round's own by default.")] = None,
    question: Annotated[
        str | None, typer.Option(help="Id of the question to open with; see `interviewer questions`.")
    ] = None,
    scenario: Annotated[str | None, typer.Option(help="Situation to open with, or any; none by default.")] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Id of a session to go on with.")] = None,
    resume_file: Annotated[Path | None, typer.Option(help="Your resume, as text or PDF.")] = None,
    job_file: Annotated[Path | None, typer.Option(help="The job description, as text or PDF.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Hold an interview in the terminal."""
    from interviewer.material_files import MaterialError, read_material
    from interviewer.terminal import hold

    try:
        material = {n: read_material(f) for n, f in (("resume", resume_file), ("job", job_file)) if f is not None}
    except MaterialError as error:
        fail(str(error))
    if resume is not None and material:
        fail("--resume goes on with a session that has its material; leave --resume-file and --job-file out")

    with Client(url) as client:
        try:
            if resume is None:
                body: dict[str, Any] = {"level": level, "mode": mode}
                who = persona or (None if question else "hiring_manager")
                body |= {"persona": who} if who else {}
                body |= {"rubric": rubric} if rubric else {}
                body |= {"minutes": minutes} if minutes else {}
                body |= {"question": question} if question else {}
                body |= {"scenario": scenario} if scenario else {}
                body |= material
                opened = client.post("/v1/sessions", body)
            else:
                opened = {"id": resume, **client.post(f"/v1/sessions/{resume}/token", {})}
            asyncio.run(hold(url, opened["id"], opened["token"], out))
        except KeyboardInterrupt:
            err.print(f"\nThe session is kept; go on with: interviewer chat --resume {opened['id']}")
        except ServiceError as error:
            fail(str(error))


@app.command()
def drill(
    name: Annotated[str | None, typer.Argument(help="Id of the drill; without one they are listed.")] = None,
    persona: Annotated[str | None, typer.Option(help="Who interviews; the round's own by default.")] = None,
    level: Annotated[str, typer.Option(help="mid or senior.")] = "mid",
    mode: Annotated[str, typer.Option(help="practice or real.")] = "practice",
    minutes: Annotated[int | None, typer.Option(help="Length; the drill's own by default.")] = None,
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Practise one exercise in the terminal, for example the customer crisis on the clock."""
    from interviewer.terminal import hold

    with Client(url) as client:
        if name is None:
            found = _try(lambda: client.get("/v1/drills"))["drills"]
            if as_json:
                show(found)
                return
            table = Table("drill", "minutes", "what to do")
            for row in found:
                table.add_row(row["id"], str(row["minutes"]), f"{row['title']}. {row['how']}")
            out.print(table)
            return
        body: dict[str, Any] = {"drill": name, "level": level, "mode": mode}
        body |= {"persona": persona} if persona else {}
        body |= {"minutes": minutes} if minutes else {}
        opened = _try(lambda: client.post("/v1/sessions", body))
        try:
            asyncio.run(hold(url, opened["id"], opened["token"], out))
        except KeyboardInterrupt:
            err.print(f"\nThe session is kept; go on with: interviewer chat --resume {opened['id']}")


@app.command()
def score(
    answer: Annotated[str, typer.Argument(help="File with the answer or, as .jsonl, many; - for standard input.")],
    question_id: Annotated[str | None, typer.Option("--id", help="Question of a rubric.")] = None,
    question: Annotated[str | None, typer.Option("--question", help="Any question's text.")] = None,
    criteria: Annotated[str | None, typer.Option(help="Criterion ids, comma-separated.")] = None,
    rubric: Annotated[
        str | None, typer.Option(help="Round whose criteria are used for a free question, or a YAML or JSON file.")
    ] = None,
    reference: Annotated[str | None, typer.Option(help="File with what a full answer says.")] = None,
    level: Annotated[str, typer.Option(help="mid or senior.")] = "mid",
    lines: Annotated[bool, typer.Option("--jsonl", help="Score JSON Lines; assumed for a .jsonl file.")] = False,
    into: Annotated[Path | None, typer.Option("--out", help="File of the results as JSON Lines; resumable.")] = None,
    chunk: Annotated[int, typer.Option(min=1, max=1000, help="Most JSON Lines that are sent at once.")] = 32,
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Score a written answer, or each line {"id", "question": {"id"} or {"text"}, "answer"} of a JSON Lines file.

    Options stand for what a line leaves out. An id that has a result in --out is not scored again.
    """
    from interviewer.score_cli import coaching_lines, own_rubric, score_file
    from interviewer.score_lines import LinesError

    body: dict[str, Any] = {"level": level}
    body |= {"question": {"id": question_id} if question_id else {"text": question}} if question_id or question else {}
    body |= {"criteria": criteria.split(",")} if criteria else {}
    body |= {"reference": _read(reference)} if reference else {}
    try:
        body |= {"rubric": own_rubric(rubric)} if rubric else {}
        if lines or answer.endswith(".jsonl"):
            raise typer.Exit(bool(score_file(url, answer, into, body, chunk).failed))
    except LinesError as error:
        fail(str(error))
    if "question" not in body:
        fail("which question was answered? Give --id (see `interviewer questions`) or --question")
    body["answer"] = _read(answer)
    with Client(url) as client:
        result = _try(lambda: client.post("/v1/score", body))
    if as_json:
        show(result)
        return
    if result["unscored"]:
        out.print(f"Not scored: {result['unscored']['detail']}")
    table = Table("criterion", "level", "confidence", "evidence")
    for row in result["scores"]:
        quotes = " / ".join(q["text"] for q in row["evidence"])
        table.add_row(row["criterion"], str(row["level"]), f"{row['confidence']:.2f}", quotes)
    out.print(table)
    for fact in result["facts"]:
        state = "right" if fact["kind"] == "checked" else "not right"
        out.print(f'claim {state}: "{fact["quote"]["text"]}" - {fact["right"]}', markup=False)
    for notice in result["notices"]:
        out.print(f"notice: {notice['message']}")
    for line in coaching_lines(result["coaching"]):
        out.print(line, markup=False)


@app.command("import")
def import_(
    transcript: Annotated[str, typer.Argument(help="File with a transcript, or - for standard input.")],
    rubric: Annotated[str, typer.Option(help="Round to judge it by.")],
    persona: Annotated[str | None, typer.Option(help="Who asked; the round's own by default.")] = None,
    level: Annotated[str, typer.Option(help="mid or senior.")] = "mid",
    candidate: Annotated[str | None, typer.Option(help="Name of the candidate's label.")] = None,
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Import a transcript as a session and wait until it is read.

    Labelled text and Markdown, WebVTT, SRT, and JSON (this project's own, or chat messages) are told apart.
    """
    import time

    from interviewer.core.intake import MAX_TRANSCRIPT, decode
    from interviewer.core.transcript import TranscriptError

    try:
        content = decode(_bytes(transcript))
    except TranscriptError as error:
        fail(f"{transcript}: {error}")
    if (size := len(content.encode())) > MAX_TRANSCRIPT:
        fail(f"{transcript} has {size} bytes as UTF-8; at most {MAX_TRANSCRIPT} are taken")
    body = {
        "content": content,
        "rubric": rubric,
        "persona": persona,
        "level": level,
        "candidate": candidate,
    }
    with Client(url) as client:
        taken = _try(lambda: client.post("/v1/transcripts", body))
        while True:
            seen = _try(lambda: client.get(f"/v1/sessions/{taken['id']}"))
            progress = seen["progress"]
            err.print(f"read {progress['assessed']} of {progress['total']} answers", end="\r")
            if progress["assessed"] >= progress["total"]:
                break
            time.sleep(0.5)
        err.print()
    if as_json:
        show(taken)
        return
    for line in taken["unplaced"]:
        err.print(f"line {line['line']} was not placed: {line['text']}", markup=False)
    for notice in taken["notices"]:
        err.print(f"notice: {notice}", markup=False)
    again = "imported before, " if taken["repeated"] else ""
    out.print(f"session {taken['id']}: {again}{taken['turns']} answers; see: interviewer report {taken['id']}")


@app.command()
def replay(
    session: Annotated[str, typer.Argument(help="Id of the session.")],
    persona: Annotated[str | None, typer.Option(help="Who would ask.")] = None,
    rubric: Annotated[str | None, typer.Option(help="Round to judge by.")] = None,
    judge_again: Annotated[bool, typer.Option(help="Read the answers again with the judge that runs now.")] = False,
    judge: Annotated[str | None, typer.Option(help="Read them with another judge: small, uncalibrated, ...")] = None,
    from_turn: Annotated[int | None, typer.Option(help="Go on live from this turn (what-if).")] = None,
    answer: Annotated[str | None, typer.Option(help="File with the edited answer of that turn.")] = None,
    play: Annotated[bool, typer.Option(help="Play the session as it was, from --from-turn or the start.")] = False,
    speed: Annotated[float, typer.Option(min=0, help="With --play: 2 is twice as fast, 0 does not wait.")] = 1.0,
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Replay a session as another persona or rubric, or from an edited answer, and show what changed; or play it."""
    if play:
        if persona or rubric or judge_again or judge or answer:
            fail("--play shows the session as it was; leave out --persona, --rubric, --judge and --answer")
        _play(session, speed, from_turn or 1, url)
        return
    if answer and not from_turn:
        fail("--answer needs --from-turn: the turn whose answer it replaces")
    body: dict[str, Any] = {"persona": persona, "rubric": rubric, "from_turn": from_turn}
    if judge_again or judge:
        body["judge"] = judge or "again"
    if answer:
        body["edits"] = {str(from_turn): _read(answer)}
    body = {key: value for key, value in body.items() if value is not None}
    with Client(url) as client:
        made = _try(lambda: client.post(f"/v1/sessions/{session}/replays", body))
        if as_json:
            show(made)
        elif made["diff"] is None:
            out.print(f"session {made['id']} goes on from turn {from_turn}: interviewer chat --resume {made['id']}")
        else:
            typer.echo(client.text(f"/v1/sessions/{made['id']}/diff", format="md"))


def _play(session: str, speed: float, turn: int, url: str) -> None:
    import time

    from interviewer.playback import play

    with Client(url) as client:
        lines = _try(lambda: client.text(f"/v1/sessions/{session}/events")).splitlines()
    log = [json.loads(line) for line in lines]
    if turn > (last := max((line["event"].get("turn", 1) for line in log), default=1)):
        fail(f"there is no turn {turn}: the session has {last}")
    for wait, text in play(log, turn):
        time.sleep(wait / speed if speed else 0)
        out.print(text, markup=False)


@app.command()
def report(
    session: Annotated[str, typer.Argument(help="Id of the session.")], url: Url = DEFAULT_URL, as_json: Json = False
) -> None:
    """Print the debrief of a session."""
    with Client(url) as client:
        format_ = "json" if as_json else "md"
        typer.echo(_try(lambda: client.text(f"/v1/sessions/{session}/report", format=format_)))


@app.command()
def history(url: Url = DEFAULT_URL, as_json: Json = False) -> None:
    """List sessions, newest first."""
    with Client(url) as client:
        rows = _try(lambda: client.get("/v1/sessions"))["sessions"]
    if as_json:
        show(rows)
        return
    table = Table("id", "started", "round", "persona", "mode", "origin", "ended")
    for row in rows:
        ended = "yes" if row["ended"] else "no"
        table.add_row(
            row["id"], row["created_at"][:16], row["rubric"], row["persona"], row["mode"], row["origin"], ended
        )
    out.print(table)


@app.command()
def personas(url: Url = DEFAULT_URL, as_json: Json = False) -> None:
    """List the interviewers."""
    with Client(url) as client:
        found = _try(lambda: client.get("/v1/personas"))["personas"]
    if as_json:
        show(found)
        return
    table = Table("id", "name", "title", "round", "adapter")
    for row in found:
        adapter = "prompt-only" if row["prompt_only"] else "served"
        table.add_row(row["id"], row["name"], row["title"], row["rubric"], adapter)
    out.print(table)


@app.command()
def questions(
    rubric: Annotated[str | None, typer.Option(help="Only this round.")] = None, url: Url = DEFAULT_URL
) -> None:
    """List the questions."""
    with Client(url) as client:
        found = _try(lambda: client.get("/v1/questions", rubric=rubric))["questions"]
    table = Table("id", "topic", "criteria")
    for row in found:
        table.add_row(row["id"], row["topic"], ", ".join(row["criteria"]))
    out.print(table)


def _bytes(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}")


def _read(path: str) -> str:
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        fail(f"{path} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8")


def _try(call: Any) -> Any:
    try:
        return call()
    except ServiceError as error:
        fail(str(error))


def main() -> None:
    """Run the command."""
    from interviewer import adapters_cli, bench_cli, faults_cli, keys_cli, memory_cli, tools

    app.add_typer(adapters_cli.adapters, name="adapters")
    app.add_typer(keys_cli.keys, name="keys")
    app.add_typer(memory_cli.memory)
    app.add_typer(tools.model, name="model")
    app.add_typer(tools.bench, name="bench")
    app.add_typer(tools.evaluate, name="eval")
    app.command()(tools.train)
    app.command()(tools.doctor)
    app.command()(faults_cli.simulate_engine)
    tools.evaluate.command()(faults_cli.faults)
    tools.bench.command()(bench_cli.gateway)
    tools.bench.command()(bench_cli.soak)
    tools.bench.command()(bench_cli.workers)
    tools.evaluate.command()(faults_cli.frames)
    try:
        app()
    except SettingsError as error:  # a variable that any command may read
        err.print(f"[bold]error:[/bold] {escape(str(error))}")
        sys.exit(2)
