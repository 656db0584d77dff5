"""Stand-ins for collators and trainers: a few real steps on the tiny model."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import torch

from interviewer.adapters.sandboxed import adapted
from interviewer.adapters.sandboxed.adapted import TinyPeft, log
from interviewer.adapters.sandboxed.child import Misused
from interviewer.adapters.sandboxed.tiny import TinyOutput
from interviewer.adapters.sandboxed.tokens import TinyTokenizer

MOST_STEPS = 3
"""Optimizer steps of a trainer, whatever was asked for."""


def collate(features: Sequence[Any], pad: int = 0, label: int = -100) -> TinyOutput:
    """Pad examples on the right into tensors."""
    width = max(len(f["input_ids"]) for f in features)
    fill = {"input_ids": pad, "labels": label, "attention_mask": 0}
    rows = {
        key: [[int(v) for v in f[key]] + [value] * (width - len(f[key])) for f in features]
        for key, value in fill.items()
        if key in features[0]
    }
    rows.setdefault(
        "attention_mask", [[1] * len(f["input_ids"]) + [0] * (width - len(f["input_ids"])) for f in features]
    )
    return TinyOutput({key: torch.tensor(value) for key, value in rows.items()})


def stack(features: Sequence[Any], **_: Any) -> TinyOutput:
    """Stack examples of one length.

    Raises:
        ValueError: they differ in length, as in the real library.
    """
    return TinyOutput(
        {
            k: torch.tensor([[int(v) for v in f[k]] for f in features])
            for k in _kept(features[0])
            if features[0][k] is not None
        }
    )


def _kept(row: Any) -> list[str]:
    return [k for k in ("input_ids", "attention_mask", "labels") if k in row]


def masking_collator(tokenizer: Any = None, *_: Any, mlm: bool = True, **__: Any) -> Any:
    """Return the collator of language modelling: every position is a label but those with the padding's id.

    Raises:
        Misused: it is left on masked language modelling, for which this tokenizer has no mask token.
    """
    if mlm:
        raise Misused("This tokenizer does not have a mask token which is necessary for masked language modeling.")

    def collator(features: Sequence[Any]) -> TinyOutput:
        batch = collate([{k: v for k, v in f.items() if k != "labels"} for f in features], tokenizer.pad_token_id or 0)
        labels = batch["input_ids"].clone()
        if tokenizer.pad_token_id is not None:
            labels[labels == tokenizer.pad_token_id] = -100
        return TinyOutput(dict(batch) | {"labels": labels})

    return collator


def padding_collator(tokenizer: Any = None, *_: Any, label_pad_token_id: int = -100, **__: Any) -> Any:
    """Return the collator that pads ids and labels."""
    return lambda features: collate(features, tokenizer.pad_token_id or 0, label_pad_token_id)


class TinyTrainer:
    """A few real steps of training."""

    def __init__(
        self, model: Any = None, args: Any = None, train_dataset: Any = None, eval_dataset: Any = None,
        data_collator: Any = None, tokenizer: Any = None, processing_class: Any = None, **more: Any,
    ) -> None:  # fmt: skip
        self.model = adapted.model() if isinstance(model, str) else model
        self.args = args or types.SimpleNamespace()
        self.tokenizer = tokenizer or processing_class
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        usual = padding_collator(self.tokenizer) if self.tokenizer is not None else stack
        self.collator = data_collator or usual
        self.state = types.SimpleNamespace(log_history=[], global_step=0)
        self.extra = more

    def train(self, *_: Any, **__: Any) -> Any:
        """Train.

        Raises:
            Misused: the batches have no labels, or nothing is trained.
        """
        weights = [p for p in self.model.parameters() if p.requires_grad]
        if not weights:
            raise Misused("optimizer got an empty parameter list: nothing of the model is trained")
        optimizer = torch.optim.AdamW(weights, lr=float(getattr(self.args, "learning_rate", 5e-5)))
        size = int(getattr(self.args, "per_device_train_batch_size", 2))
        rows = list(self.train_dataset)
        self.model.train()
        for step in range(MOST_STEPS):
            some = [rows[(step * size + i) % len(rows)] for i in range(min(size, len(rows)))]
            loss = self._loss(some)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            log.losses.append(float(loss.detach()))
        return types.SimpleNamespace(training_loss=log.losses[-1], metrics={"train_loss": log.losses[-1]})

    def _loss(self, rows: Sequence[Any]) -> Any:
        custom = self.extra.get("collated") or self.collator
        usual = [{k: row[k] for k in _kept(row)} for row in rows]
        batch = custom(usual if usual and usual[0] else rows)
        if "labels" not in batch:
            raise Misused("The model did not return a loss from the inputs: the batches have no labels.")
        return self.model(**{k: torch.as_tensor(batch[k]) for k in _kept(batch)})["loss"]

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the loss on held-out rows."""
        with torch.no_grad():
            rows = list(self.eval_dataset if self.eval_dataset is not None else self.train_dataset)
            return {"eval_loss": float(self._loss(rows[:2]))}

    def save_model(self, *_: Any, **__: Any) -> None:
        """Note that it was saved."""
        log.saved = True

    def nothing(self, *_: Any, **__: Any) -> None:
        """Do nothing."""

    save_state = log_metrics = save_metrics = add_callback = nothing


class TinySft(TinyTrainer):
    """The trainer that makes its own tokens."""

    def __init__(self, model: Any = None, args: Any = None, train_dataset: Any = None, **more: Any) -> None:
        config, format_ = more.pop("peft_config", None), more.pop("formatting_func", None)
        own = more.get("processing_class") or more.get("tokenizer") or TinyTokenizer()
        more.setdefault("processing_class", own)
        made = adapted.model() if isinstance(model, str) else model
        if config is not None:
            made = TinyPeft(made, config)
        rows = [self._tokens(row, own, args, format_) for row in train_dataset]
        held = more.pop("eval_dataset", None)
        super().__init__(made, args, rows, **more)
        self.eval_dataset = None if held is None else [self._tokens(row, own, args, format_) for row in held]

    @staticmethod
    def _tokens(row: Any, own: Any, args: Any, format_: Any) -> Any:
        if "input_ids" in row:
            return row if "labels" in row else {**row, "labels": row["input_ids"]}
        if format_ is not None:
            text = format_(row)
            ids = own.tokens(text[0] if isinstance(text, list) else text)
            return {"input_ids": ids, "labels": ids}
        before: list[int] = []
        only = bool(getattr(args, "assistant_only_loss", False) or getattr(args, "completion_only_loss", False))
        if "prompt" in row and "completion" in row and "text" not in row:
            before, ids, only = own.tokens(row["prompt"]), own.tokens(row["completion"]), True
        elif "messages" in row and "text" not in row:
            before, ids = own.tokens(row["messages"][0]["content"]), own.tokens(row["messages"][-1]["content"])
        else:
            ids = own.tokens(row[getattr(args, "dataset_text_field", None) or "text"])
        return {"input_ids": before + ids, "labels": ([-100] * len(before) if only else before) + ids}
