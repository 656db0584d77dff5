"""A tokenizer of words, with the calls of a real one."""

from __future__ import annotations

from typing import Any

import torch

from interviewer.adapters.sandboxed.tiny import VOCABULARY, TinyOutput


class TinyTokenizer:
    """Words to numbers by hash; three special tokens."""

    def __init__(self) -> None:
        self.pad_token: str | None = None
        self.eos_token, self.bos_token, self.unk_token = "<eos>", "<bos>", None
        self.eos_token_id, self.bos_token_id = 1, 2
        self.padding_side = "right"
        self.model_max_length = 512
        self.chat_template: str | None = None
        self.vocab_size = VOCABULARY
        self.known: dict[int, str] = {}

    @property
    def pad_token_id(self) -> int | None:
        """Number of the padding token; the end token's when that pads."""
        if self.pad_token is None:
            return None
        return self.eos_token_id if self.pad_token == self.eos_token else 0

    @pad_token_id.setter
    def pad_token_id(self, value: int) -> None:
        self.pad_token = self.eos_token if value == self.eos_token_id else "<pad>"

    def __len__(self) -> int:
        return VOCABULARY

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of the words of ``text``."""
        found = []
        for word in text.replace(self.eos_token, f" {self.eos_token} ").split():
            number = 1 if word == self.eos_token else 3 + sum(map(ord, word)) % (VOCABULARY - 3)
            self.known[number] = word
            found.append(int(word[1:]) if word[:1] == "t" and word[1:].isdigit() else number)
        return found

    def __call__(
        self, text: Any = None, *_: Any, return_tensors: Any = None, padding: Any = False, max_length: Any = None,
        truncation: Any = False, **__: Any,
    ) -> TinyOutput:  # fmt: skip
        """Encode one text or several."""
        many = isinstance(text, (list, tuple))
        rows = [
            self.tokens(str(t))[: max_length if truncation and max_length else None] for t in (text if many else [text])
        ]
        if padding:
            width = max_length if padding == "max_length" and max_length else max(map(len, rows))
            return self._shaped(rows, width, many, return_tensors)
        return self._shaped(rows, 0, many, return_tensors)

    def _shaped(self, rows: list[list[int]], width: int, many: bool, tensors: Any) -> TinyOutput:
        pad, left = self.pad_token_id or 0, self.padding_side == "left"
        ids, masks = [], []
        for row in rows:
            fill = [0] * max(0, width - len(row))
            ids.append([pad] * len(fill) + row if left else row + [pad] * len(fill))
            masks.append(fill + [1] * len(row) if left else [1] * len(row) + fill)
        if tensors:
            return TinyOutput(input_ids=torch.tensor(ids), attention_mask=torch.tensor(masks))
        return TinyOutput(input_ids=ids if many else ids[0], attention_mask=masks if many else masks[0])

    def encode(self, text: str, *_: Any, return_tensors: Any = None, **__: Any) -> Any:
        """Return the numbers of one text."""
        return torch.tensor([self.tokens(text)]) if return_tensors else self.tokens(text)

    def decode(self, ids: Any, *_: Any, skip_special_tokens: bool = False, **__: Any) -> str:
        """Return words that :meth:`tokens` reads back to the same numbers."""
        flat = torch.as_tensor(ids).flatten().tolist()
        return " ".join(f"t{i}" for i in flat if not (skip_special_tokens and i in (0, self.eos_token_id)))

    def batch_decode(self, rows: Any, *_: Any, **more: Any) -> list[str]:
        """Decode each row."""
        return [self.decode(row, **more) for row in rows]

    def apply_chat_template(
        self, messages: Any, *_: Any, tokenize: bool = True, return_tensors: Any = None, return_dict: bool = False,
        **__: Any,
    ) -> Any:  # fmt: skip
        """Render a chat, one conversation at a time."""
        text = " ".join(f"<{m['role']}> {m['content']} {self.eos_token}" for m in messages)
        if not tokenize:
            return text
        return (
            self(text, return_tensors=return_tensors)
            if return_dict
            else self.encode(text, return_tensors=return_tensors)
        )

    def pad(self, features: Any, *_: Any, max_length: Any = None, **__: Any) -> TinyOutput:
        """Pad examples into tensors."""
        rows = [torch.as_tensor(f["input_ids"]).tolist() for f in features]
        return self._shaped(rows, max(map(len, rows)), True, "pt")

    def add_special_tokens(self, tokens: Any, *_: Any) -> int:
        """Take the padding token; the others are there."""
        self.pad_token = tokens.get("pad_token", self.pad_token)
        return 1

    def save_pretrained(self, *_: Any, **__: Any) -> None:
        """Save nothing."""
