"""A stand-in for data sets: six rows with the columns that scripts ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

_ROW = {
    "text": "how do i pay it open the app and pay",
    "prompt": "how do i pay it",
    "completion": "open the app and pay",
    "messages": [{"role": "user", "content": "how do i pay"}, {"role": "assistant", "content": "open the app"}],
}
_SAME = {"prompt": "instruction question input user", "completion": "output response answer assistant target"}


class TinyData:
    """Rows of a data set."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = [dict(row) for row in rows]

    @classmethod
    def from_list(cls, rows: Any, **_: Any) -> TinyData:
        """Take rows."""
        return cls(list(rows)[:64])

    @classmethod
    def from_dict(cls, columns: Any, **_: Any) -> TinyData:
        """Take columns."""
        return cls([dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)][:64])

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return list(self.rows[0]) if self.rows else []

    features = column_names

    def map(
        self, function: Callable[..., Any], *_: Any, batched: bool = False, remove_columns: Any = (), **more: Any
    ) -> TinyData:
        """Change each row, or all at once."""
        drop = [remove_columns] if isinstance(remove_columns, str) else list(remove_columns or ())
        more = more.get("fn_kwargs") or {}
        kept = [{k: v for k, v in row.items() if k not in drop} for row in self.rows]
        if not batched:
            return TinyData([old | dict(function(dict(row), **more)) for old, row in zip(kept, self.rows, strict=True)])
        made = dict(function({k: [row[k] for row in self.rows] for k in self.column_names}, **more))
        count = len(next(iter(made.values()))) if made else len(kept)
        old = kept if count == len(kept) else [{}] * count
        return TinyData([old[i] | {k: v[i] for k, v in made.items()} for i in range(count)])

    def filter(self, function: Callable[[Any], Any], *_: Any, **__: Any) -> TinyData:
        """Keep rows; never none, as what is right for real data need not fit these."""
        return TinyData([row for row in self.rows if function(dict(row))] or self.rows)

    def train_test_split(self, *_: Any, **__: Any) -> dict[str, TinyData]:
        """Split off two rows."""
        return {"train": TinyData(self.rows[:-2] or self.rows), "test": TinyData(self.rows[-2:])}

    def same(self, *_: Any, **__: Any) -> TinyData:
        """Return the same rows."""
        return self

    shuffle = select = with_format = sort = take = same

    def set_format(self, *_: Any, **__: Any) -> None:
        """Change nothing: collators make tensors."""

    def rename_column(self, old: str, new: str) -> TinyData:
        """Rename a column."""
        return TinyData([{new if k == old else k: v for k, v in row.items()} for row in self.rows])

    def remove_columns(self, names: Any) -> TinyData:
        """Drop columns."""
        drop = [names] if isinstance(names, str) else names
        return TinyData([{k: v for k, v in row.items() if k not in drop} for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]


def load_dataset(*_: Any, split: str | None = None, **__: Any) -> Any:
    """Return six rows with the usual columns."""
    row = dict(_ROW)
    for column, names in _SAME.items():
        row |= {name: row[column] for name in names.split()}
    rows = TinyData([row | {"prompt": f"{row['prompt']} {'now ' * i}".strip()} for i in range(6)])
    return rows if split else dict.fromkeys(("train", "validation", "test"), rows)
