"""Trains the adapter that reads levels and evidence, then fits its calibration and measures it on unseen questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from interviewer.core.assessment import normalise
from interviewer.core.lexical import WordModel
from serving.train import PROJECT, TrainError
from serving.train.answers import Answer, Item, Part, Reader, load_answers, update_split
from serving.train.augment import empty, padded, shuffled
from serving.train.base import choose
from serving.train.config import PLACE, EvaluatorSettings, data_files, load_settings
from serving.train.data import identity, sha256
from serving.train.evaluation import measure
from serving.train.fit_calibration import Reading, fit_calibration
from serving.train.lexical import fit_words
from serving.train.loop import fit
from serving.train.output import command, evaluator_card, versions, write_result
from serving.train.persona import layers, library
from serving.train.tower import Tower, load_tokenizer, lora_config, new_tower, read_adapter, save_adapter

LEVELS = torch.arange(4.0)


class Objective:
    """Loss and readings of the evaluator."""

    def __init__(self, settings: EvaluatorSettings, reader: Reader) -> None:
        """Keep the weights of the parts of the loss and the tokens that are read."""
        self._settings = settings
        self._levels = list(reader.level_ids)
        self._soft = soft_targets(settings.smoothing)

    def loss(self, tower: Tower, item: Item) -> torch.Tensor:
        """Return the loss of one answer: its levels, and how far the expected levels are from them."""
        logs = tower.logits(tower.hidden(item.packed), item.level_nodes).log_softmax(-1)[:, self._levels]
        wanted = torch.tensor(item.levels, device=tower.device)
        likelihood = -(self._soft.to(tower.device)[wanted] * logs).sum(-1).mean()
        error = (logs.softmax(-1) @ LEVELS.to(tower.device) - wanted) ** 2
        return likelihood + self._settings.error_weight * error.mean()

    def readings(self, tower: Tower, items: Sequence[Item], word_model: WordModel) -> list[Reading]:
        """Read every criterion of ``items``; no gradients."""
        tower.model.eval()
        found = []
        with torch.no_grad():
            for item in items:
                hidden = tower.hidden(item.packed)
                levels = tower.logits(hidden, item.level_nodes)[:, self._levels].softmax(-1).tolist()
                found += [
                    Reading(
                        answer_id=item.answer.id,
                        question_id=item.answer.question_id,
                        criterion=criterion,
                        label=item.levels[index],
                        raw=normalise(tuple(levels[index])),
                        lean=word_model.lean(criterion, item.segments),
                        kind=item.answer.kind,
                    )
                    for index, criterion in enumerate(item.criteria)
                ]
        return found


def soft_targets(smoothing: float) -> torch.Tensor:
    """Return the target distribution of each level, ``[4, 4]``: neighbours share ``smoothing``."""
    table = torch.zeros(4, 4)
    for level in range(4):
        near = [n for n in (level - 1, level + 1) if 0 <= n <= 3]
        table[level, level] = 1 - smoothing
        for n in near:
            table[level, n] = smoothing / len(near)
    return table


class Lessons:
    """What is read in each epoch: answers as given, every second epoch some padded or shuffled, and always some empty.

    Which answers are altered is fixed, and so is how: what the frozen layers make of a sequence is computed once.
    """

    def __init__(self, answers: Sequence[Answer], reader: Reader, settings: EvaluatorSettings) -> None:
        """Render the answers."""
        self._plain: list[Item] = []
        self._altered: list[Item] = []
        for answer in answers:
            plain = reader.item(answer)
            if plain is None:
                continue
            chance = random.Random(f"alter:{settings.seed}:{answer.id}")
            alter = chance.choice((padded, shuffled)) if chance.random() < settings.altered else None
            self._plain.append(plain)
            self._altered.append((alter and reader.item(alter(answer, settings.seed))) or plain)
        first = {a.question_id: a for a in reversed(answers)}
        self._empty = [item for a in first.values() if (item := reader.item(empty(a, settings.seed)))]

    def of(self, epoch: int) -> list[Item]:
        """Return the sequences of one epoch, the same number each time."""
        return [*(self._altered if epoch % 2 else self._plain), *self._empty]


def parts_of(answers: Sequence[Answer], split: dict[str, Part], part: Part) -> list[Answer]:
    """Return the answers of one part of the split."""
    return [a for a in answers if split[a.question_id] == part]


def train_evaluator(
    name: str,
    *,
    base: Path,
    out: Path,
    resume: bool,
    progress: Callable[[str], None],
    overrides: dict[str, str],
) -> Path:
    """Train, calibrate and measure the evaluator; see :func:`serving.train.run`."""
    settings = load_settings(PROJECT / "personas" / name / "lora.yaml", EvaluatorSettings, overrides)
    torch.set_num_threads(1)
    files = data_files(settings)
    chosen, settings = choose(base, settings, overrides)
    answers = load_answers(files)
    split = update_split(PROJECT / settings.split, answers)
    vocabulary = library().vocabulary
    reader = Reader(load_tokenizer(base), vocabulary, settings.max_len)
    train_answers = parts_of(answers, split, "train")
    lessons = Lessons(train_answers, reader, settings)
    word_model = fit_words(train_answers)
    calibration_items = reader.items(parts_of(answers, split, "calibration"))
    test_answers = parts_of(answers, split, "test")
    if not calibration_items or not lessons.of(0):
        raise TrainError("the split leaves nothing to train on or to calibrate with; more labelled answers are needed")
    objective = Objective(settings, reader)
    tower = new_tower(base, settings, chosen.dtype, chosen.device)
    if settings.start:
        tower.load(read_adapter(Path(settings.start)))

    def check(current: Tower) -> float:
        return sum(float(objective.loss(current, i)) for i in calibration_items) / len(calibration_items)

    record = fit(
        tower,
        settings,
        lessons.of,
        objective.loss,
        check,
        checkpoint=Path("checkpoints") / chosen.slot(name) / "last.pt",
        identity=identity(settings.model_dump(exclude=set(PLACE)), sha256(files), split, *chosen.identity()),
        resume=resume,
        progress=progress,
    )
    save_adapter(tower.state(), lora_config(settings, layers(tower)), out / "adapter", settings.base)
    # What is measured is what is served: the weights as they were stored, not as they were trained.
    tower.load(read_adapter(out / "adapter"))
    (out / "words.json").write_text(word_model.model_dump_json() + "\n", encoding="utf-8")
    version = f"{sha256([out / 'adapter' / 'adapter_model.safetensors'])[:8]}-{word_model.version}"
    readings = objective.readings(tower, calibration_items, word_model)
    calibration = fit_calibration(readings, version)
    (out / "calibration.json").write_text(calibration.model_dump_json(indent=2) + "\n", encoding="utf-8")
    progress(f"calibrated on {len(readings)} labels: {calibration.default}")
    counts = {part: len(parts_of(answers, split, part)) for part in ("train", "calibration", "test")}
    result = {
        "name": name,
        "base": chosen.about(),
        "data": {"sha256": sha256(files), "files": [f.name for f in files], "answers": counts, "split": settings.split},
        "test": measure(
            tower,
            objective.readings,
            reader,
            vocabulary,
            calibration,
            word_model,
            calibration_items,
            readings,
            test_answers,
        ),
        "loss": {
            "calibration_each_epoch": [round(x, 4) for x in record.held_out],
            "train_each_epoch": [round(x, 4) for x in record.train],
            "best_epoch": record.best_epoch,
        },
        "calibration": calibration.model_dump(mode="json"),
        "settings": settings.model_dump(mode="json", exclude=set(PLACE - {"threads"})),
        "versions": versions(),
        "seconds": round(record.seconds),
        "command": command(name, overrides, chosen.entry),
    }
    write_result(out, result)
    (out / "README.md").write_text(evaluator_card(result), encoding="utf-8")
    return out
