"""Rows of a dataset with what its documents tell of them alone, in a hundred bytes each: codes in columns, rows when asked for.

Documents are written from rows, of which a large dataset has millions: as dicts they would take kilobytes each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import frozen
from inpaintbench.export.card.words import GROUPS, MEASURES, Values, number_in
from inpaintbench.export.layout import MEDIA_COLUMNS, CodedRows
from inpaintbench.lazily import lazily
from inpaintbench.manifest import INSTRUCTION, KeyedRows, arrow_ids
from inpaintbench.tables import flat
from inpaintbench.types import Plain

pc = lazily("pyarrow.compute")

_COLUMNS = (
    "split", "clip_id", "source_id", "source_uri", "licence", "author", "page_url", "start_frame", "end_frame", "frames", "width",
    "height", "fps", "encode_crf", "encode_psnr_db", "encoder", "fill", "hole_is_given", "task", "generator", frozen.SHOWN,
)  # fmt: skip
# Attributes that documents tell in words or group by.
_WORDS = ("label_doubts", "normalised", frozen.GROUP, *GROUPS)
_NUMBERS = tuple(measure.name for measure in MEASURES)
# Of them, what stands beside the columns of rows until ``ThinRows.add``.
TOLD = pa.schema([(f"attributes.{name}", pa.float64() if name in _NUMBERS else pa.string()) for name in (*_NUMBERS, *_WORDS)])
# Rows of which a column is made when it is asked of one of them.
_AT_ONCE = 1_024
Places = npt.NDArray[np.int64]


class _Coded:
    """A column as its different values and the place of each row's among them; missing values are -1."""

    def __init__(self) -> None:
        self.codes: npt.NDArray[Any] = np.empty(0, np.int32)
        self.values: Any = pa.array([])
        self._parts: list[tuple[npt.NDArray[Any], Any]] = []

    def add(self, column: Any) -> None:
        """Take the values of the next rows."""
        encoded = column.dictionary_encode()
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        self._parts.append((codes.astype(np.min_scalar_type(-max(1, len(encoded.dictionary)))), encoded.dictionary))

    def end(self) -> None:
        """All rows are there."""
        if not self._parts:
            return
        whole = pa.concat_arrays([values for _, values in self._parts]).dictionary_encode()
        self.values, places = whole.dictionary, whole.indices.to_numpy()
        kind = np.min_scalar_type(-max(1, len(self.values)))
        codes, start = [], 0
        for part, values in self._parts:
            own = np.append(places[start : start + len(values)], -1)  # -1 is the last one
            codes.append(own[part].astype(kind))
            start += len(values)
        self.codes, self._parts = np.concatenate(codes), []

    def at(self, places: Places) -> list[Any]:
        """The values of rows."""
        codes = self.codes[places]
        found: list[Any] = self.values.take(pa.array(codes, mask=codes < 0)).to_pylist()
        return found


def _kinds(names: Any) -> Any:
    """Stand-ins for names of files, of which documents tell folder and suffix: the same for all that share them."""
    if not pa.types.is_list(names.type):
        first = PurePosixPath(pc.first(names).as_py() or "")
        kind = f"{first.parent}/name{first.suffix}"
        alike = (
            pc.starts_with(names, f"{first.parent}/"),
            pc.ends_with(names, first.suffix),
            pc.equal(pc.count_substring(names, "/"), 1),
        )
        if first.suffix and all(pc.all(each).as_py() for each in alike):  # as it is with names that the program makes
            return pc.if_else(pc.is_valid(names), kind, pa.scalar(None, pa.string()))
        return pc.replace_substring_regex(names, r"^(.*)/[^/]+?(\.[^./]+)?$", r"\1/name\2")
    kinds: list[str | None] = []
    for of_row in names.to_pylist():
        told = dict.fromkeys(f"{path.parent}/name{path.suffix}" for path in map(PurePosixPath, of_row or ()))
        kinds.append(None if of_row is None else "\n".join(told))
    return pa.array(kinds, pa.string())


def _known(name: str, value: Any) -> float | str | None:
    """An attribute as it is told: a number, NaN for what is none; or a word, None for what is none."""
    if name in _NUMBERS:
        return number_in(value)
    return str(value) if isinstance(value, str) or (name == frozen.GROUP and value is not None) else None  # groups may be numbers


def told(texts: Mapping[str, pa.Array], rows: int) -> pa.Table:
    """What documents tell of the attributes of rows: columns of ``TOLD``, null where a row has none.

    Args:
        texts: attribute -> the JSON of each row's, null where it has none.
        rows: how many there are.
    """
    columns = []
    for name, kind in zip((*_NUMBERS, *_WORDS), TOLD.types, strict=True):
        found = texts.get(name, pa.nulls(rows, pa.string()))
        try:
            if name in _WORDS:
                raise pa.ArrowInvalid
            columns.append(pc.if_else(pc.equal(found, "null"), "nan", found).cast(kind))
        except pa.ArrowInvalid:
            encoded = found.dictionary_encode()
            known = [_known(name, json.loads(text)) for text in encoded.dictionary.to_pylist()]
            columns.append(pa.array(known, kind).take(encoded.indices))
    return pa.table(columns, TOLD)


def with_told(table: pa.Table) -> pa.Table:
    """Rows, as slices' metadata have them, with the columns of ``TOLD``."""
    facts = json.loads(f"[{','.join(table['attributes'].to_pylist())}]")  # faster than one by one
    for field, name in zip(TOLD, (*_NUMBERS, *_WORDS), strict=True):
        known = [_known(name, fact[name]) if name in fact else None for fact in facts]
        table = table.append_column(field, pa.array(known, field.type))
    return table


class _Kept:
    """What is kept of all rows, by columns."""

    def __init__(self, ids: pa.Array) -> None:
        self.ids = ids
        self.columns: dict[str, _Coded] = {}
        self.words: dict[str, _Coded] = {}
        self.measured: dict[str, Values] = {}
        self.names: dict[str, None] = {}
        """Names of the columns of the whole rows."""
        self._done = 0

    def add(self, table: pa.Table) -> None:
        """Take the next rows, as slices' metadata have them, with the columns of ``TOLD``."""
        self.names, start = dict.fromkeys(name for name in table.column_names if name not in TOLD.names), self._done
        self._done += table.num_rows
        for name in self.names:
            if name in MEDIA_COLUMNS or name in _COLUMNS:
                column = flat(table[name])
                self.columns.setdefault(name, _Coded()).add(_kinds(column) if name in MEDIA_COLUMNS else column)
        for name, field in zip((*_NUMBERS, *_WORDS), TOLD, strict=True):
            column = flat(table[field.name])
            if name in _WORDS:
                self.words.setdefault(name, _Coded()).add(column)
            elif column.null_count < len(column):
                known = self.measured.setdefault(name, np.full(len(self.ids), math.nan))
                known[start : self._done] = column.to_numpy(zero_copy_only=False)
        if self._done == len(self.ids):
            for coded in (*self.columns.values(), *self.words.values()):
                coded.end()

    def column_for(self, name: str) -> str:
        """The column that tells as much as ``name``."""
        return "task" if name in ("target_prompt", INSTRUCTION) and name in self.names else name

    def cells(self, places: Places, name: str) -> list[Any]:
        """A column of rows."""
        if name == "item_id":
            ids: list[Any] = self.ids.take(pa.array(places)).to_pylist()
            return ids
        values = self.columns[self.column_for(name)].at(places)
        if not name.endswith("_file_names"):
            return values
        return [value if value is None else tuple(value.split("\n") if value else ()) for value in values]

    def facts(self, places: Places, name: str) -> list[Any]:
        """An attribute of rows, None of those without it."""
        if name not in (*_WORDS, *_NUMBERS):
            raise LookupError(f"documents tell nothing of {name!r}; name it in {__name__}")
        words = self.words[name].at(places) if name in self.words else [None] * len(places)
        numbers = self.measured[name][places].tolist() if name in self.measured else [math.nan] * len(places)
        return [word if math.isnan(number) else number for word, number in zip(words, numbers, strict=True)]


class _Part:
    """Rows that are looked at one after the other: what is asked of one is made for all of them."""

    def __init__(self, kept: _Kept, places: Places) -> None:
        self.kept, self.cells, self.facts = kept, cache(partial(kept.cells, places)), cache(partial(kept.facts, places))


class _Row(Mapping[str, Any]):
    """A row whose values are made when they are asked for."""

    __slots__ = ("_part", "_place")

    def __init__(self, part: _Part, place: int) -> None:
        self._part, self._place = part, place

    @property
    def _names(self) -> Collection[str]:
        return self._part.kept.names

    def __getitem__(self, name: str) -> Any:
        return _Facts(self._part, self._place) if name == "attributes" else self._part.cells(name)[self._place]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Facts(_Row):
    """The attributes of a row."""

    __slots__ = ()

    @property
    def _names(self) -> Collection[str]:
        return {**self._part.kept.measured, **self._part.kept.words}

    def __getitem__(self, name: str) -> Any:
        if (value := self._part.facts(name)[self._place]) is None:
            raise KeyError(name)
        return value


class Some(CodedRows):
    """Some of thin rows, in any order, without what documents do not tell: what is not kept raises ``KeyError``."""

    def __init__(self, kept: _Kept, places: Places) -> None:
        self._kept, self._places = kept, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> Some: ...
    def __getitem__(self, place: int | slice) -> Plain | Some:
        if isinstance(place, slice):
            return Some(self._kept, self._places[place])
        return _Row(_Part(self._kept, self._places[[place]]), 0)

    def __iter__(self) -> Iterator[Plain]:
        for start in range(0, len(self), _AT_ONCE):
            places = self._places[start : start + _AT_ONCE]
            yield from map(partial(_Row, _Part(self._kept, places)), range(len(places)))

    def numbers(self, name: str) -> Values:
        """An attribute of each, NaN where it has none."""
        known = self._kept.measured.get(name)
        return np.full(len(self), math.nan) if known is None else known[self._places]

    def codes(self, name: str) -> Places:
        """A number for each row, 0 or more, which is the same where a column and the attribute of this name are."""
        codes = np.zeros(len(self), np.int64)
        for coded in (self._kept.words.get(name), self._kept.columns.get(self._kept.column_for(name))):
            if coded is not None:
                codes = codes * (len(coded.values) + 1) + coded.codes[self._places] + 1
        return codes

    def take(self, places: Places) -> Some:
        """The rows at these places among them."""
        return Some(self._kept, self._places[places])


class ThinRows(Some, KeyedRows):
    """Rows of all items in the order of ids."""

    def __init__(self, ids: pa.Array) -> None:
        """Begin without rows, of which ``add`` takes all.

        Args:
            ids: of all items, ascending.
        """
        super().__init__(_Kept(ids), np.arange(len(ids)))
        self.ids, self.add = ids, self._kept.add
        self._found: list[tuple[Iterable[str], Places]] = []

    def find(self, many: Sequence[Sequence[str]]) -> list[Places]:
        """Places of several lists of ids, which ``rows_of`` then knows: they are looked up at once, which goes over all ids."""
        ids = pa.concat_arrays([pa.array([], pa.string()), *map(arrow_ids, many)])
        places = pc.fill_null(pc.index_in(ids, value_set=self.ids), -1).to_numpy()
        found = np.split(places.astype(np.int64), np.cumsum([len(listed) for listed in many]))[:-1]
        self._found += zip(many, found, strict=True)
        return found

    def rows_of(self, ids: Iterable[str]) -> Some:
        """The rows of these items, which are there, in their order."""
        known = next((places for listed, places in self._found if listed is ids), None)
        if known is None:
            known = pc.index_in(arrow_ids(ids), value_set=self.ids).to_numpy(zero_copy_only=False)
        return self.take(known)
