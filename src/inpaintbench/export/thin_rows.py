"""Rows of a dataset with what its documents tell of them alone, in a hundred bytes each: codes in columns, rows when asked for.

Documents are written from rows, of which a large dataset has millions: as dicts they would take kilobytes each.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, overload

import numpy as np
import pyarrow as pa

from inpaintbench.export.card.measures import GROUPS, MEASURES
from inpaintbench.export.layout import MEDIA, file_column
from inpaintbench.lazily import lazily
from inpaintbench.manifest import KeyedRows, arrow_ids
from inpaintbench.types import Plain

pc = lazily("pyarrow.compute")

_COLUMNS = (
    "split", "clip_id", "source_id", "source_uri", "licence", "author", "page_url", "start_frame", "end_frame", "frames", "width",
    "height", "fps", "encode_crf", "encode_psnr_db", "fill", "hole_is_given", "task", "generator",
)  # fmt: skip
# Attributes that documents tell in words or group by.
_WORDS = ("label_doubts", "normalised", *GROUPS)
_NUMBERS = tuple(measure.name for measure in MEASURES)


class _Coded:
    """A column of few different values: a code for each row."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.values: list[Any] = []
        self._known: dict[Any, int] = {}

    def add(self, values: Sequence[Any]) -> None:
        for value in values:
            key = (type(value), value)
            if (code := self._known.get(key)) is None:
                code = self._known[key] = len(self.values)
                self.values.append(value)
            self.codes.append(code)

    def add_column(self, column: pa.ChunkedArray) -> None:
        """The same of a column in Arrow; each of its different values is looked up once."""
        encoded = column.combine_chunks().dictionary_encode()
        distinct = [*encoded.dictionary.to_pylist(), None]
        codes = []
        for value in distinct:
            key = (type(value), value)
            if (code := self._known.get(key)) is None and (value is not None or encoded.null_count):
                code = self._known[key] = len(self.values)
                self.values.append(value)
            codes.append(-1 if code is None else code)
        places = pc.fill_null(encoded.indices, len(distinct) - 1).to_numpy(zero_copy_only=False)
        self.codes.frombytes(np.array(codes, np.int32)[places].tobytes())

    def end(self) -> None:
        """Forget what only further rows need."""
        self._known = {}

    def __getitem__(self, place: int) -> Any:
        return self.values[self.codes[place]]


class ThinRows(KeyedRows):
    """Rows of items in the order of ids, without what documents do not tell: what is not kept raises ``KeyError``."""

    def __init__(self, ids: pa.Array) -> None:
        """Begin without rows, of which ``add`` takes all.

        Args:
            ids: of all items, ascending.
        """
        self.ids = ids
        self.columns: dict[str, _Coded] = {}
        self.words: dict[str, _Coded] = {}
        self.numbers: dict[str, array[float]] = {}
        self.names: list[str] = []
        """Names of the columns of the whole rows."""
        self._done = 0

    def add(self, table: pa.Table) -> None:
        """Take the next rows, as slices' metadata have them."""
        self.names, done = table.column_names, self._done
        self._done += table.num_rows
        media = {file_column(part) for part in MEDIA}
        for name in table.column_names:
            if name in _COLUMNS:
                self.columns.setdefault(name, _Coded()).add_column(table[name])
            elif name in media:
                self.columns.setdefault(name, _Coded()).add([_kind_of(value) for value in table[name].to_pylist()])
        facts = [json.loads(text) for text in table["attributes"].to_pylist()]
        for name in {name for fact in facts for name in fact}:
            if name in _NUMBERS:
                known = self.numbers.setdefault(name, array("d"))
                known.extend([math.nan] * (done - len(known)))
                known.extend(_number(fact.get(name)) for fact in facts)
            if name in _WORDS:
                words = self.words.setdefault(name, _Coded())
                words.add([None] * (done - len(words.codes)))
                words.add([value if isinstance(value := fact.get(name), str) else None for fact in facts])
        if self._done == len(self.ids):
            for coded in (*self.columns.values(), *self.words.values()):
                coded.end()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Plain, ...]: ...
    def __getitem__(self, place: int | slice) -> Plain | tuple[Plain, ...]:
        if isinstance(place, slice):
            return tuple(_Row(self, one) for one in range(len(self))[place])
        return _Row(self, range(len(self))[place])

    def __iter__(self) -> Iterator[Plain]:
        return (_Row(self, place) for place in range(len(self)))

    def rows_of(self, ids: Iterable[str]) -> list[Plain]:
        """The rows of these items, which are there, in their order."""
        return [_Row(self, place) for place in pc.index_in(arrow_ids(ids), value_set=self.ids).to_pylist()]


class _Row(Mapping[str, Any]):
    """A row, made of columns when it is asked."""

    __slots__ = ("_place", "_rows")

    def __init__(self, rows: ThinRows, place: int) -> None:
        self._rows, self._place = rows, place

    def __getitem__(self, name: str) -> Any:
        if name == "item_id":
            return self._rows.ids[self._place].as_py()
        if name == "attributes":
            return _Facts(self._rows, self._place)
        if name == "target_prompt" and name in self._rows.names:
            name = "task"
        return self._rows.columns[name][self._place]

    def __contains__(self, name: object) -> bool:
        return name in self._rows.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.names)

    def __len__(self) -> int:
        return len(self._rows.names)


class _Facts(Mapping[str, Any]):
    """Attributes of a row, as far as they are kept."""

    __slots__ = ("_place", "_rows")

    def __init__(self, rows: ThinRows, place: int) -> None:
        self._rows, self._place = rows, place

    def __getitem__(self, name: str) -> Any:
        value: Any = None
        if (numbers := self._rows.numbers.get(name)) is not None and self._place < len(numbers):
            value = None if math.isnan(numbers[self._place]) else numbers[self._place]
        if value is None and (words := self._rows.words.get(name)) is not None and self._place < len(words.codes):
            value = words[self._place]
        if value is None and name not in (*_WORDS, *_NUMBERS):
            raise LookupError(f"documents tell nothing of {name!r}; name it in {__name__}")
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._rows.numbers or name in self._rows.words

    def __iter__(self) -> Iterator[str]:
        return iter((*self._rows.numbers, *self._rows.words))

    def __len__(self) -> int:
        return len(self._rows.numbers) + len(self._rows.words)


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else math.nan


def _kind_of(value: Any) -> Any:
    """A stand-in for names of files, of which documents tell folder and suffix: the same for all that share them."""
    if isinstance(value, list):
        return tuple(dict.fromkeys(map(_kind_of, value)))
    path = None if value is None else PurePosixPath(value)
    return None if path is None else f"{path.parent}/name{path.suffix}"
