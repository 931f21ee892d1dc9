"""Rows of a dataset with what its documents tell of them alone, in a hundred bytes each: codes in columns, rows when asked for.

Documents are written from rows, of which a large dataset has millions: as dicts they would take kilobytes each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import frozen
from inpaintbench.export.card.measures import GROUPS, MEASURES
from inpaintbench.export.layout import MEDIA, CodedRows, file_column
from inpaintbench.lazily import lazily
from inpaintbench.manifest import KeyedRows, arrow_ids
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


Values = npt.NDArray[np.float64]
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

    def __getitem__(self, place: int) -> Any:
        code = int(self.codes[place])
        return None if code < 0 else self.values[code].as_py()


class _Kinds(_Coded):
    """Stand-ins for names of files, of which documents tell folder and suffix: the same for all that share them."""

    def __init__(self, *, several: bool) -> None:
        super().__init__()
        self._several = several

    def add(self, column: Any) -> None:
        """Take the names of the next rows, or lists of them."""
        if self._several:
            kinds = (None if names is None else "\n".join(dict.fromkeys(map(_kind_of, names))) for names in column.to_pylist())
            super().add(pa.array(kinds, pa.string()))
        else:
            super().add(pc.replace_substring_regex(column, r"^(.*)/[^/]+?(\.[^./]+)?$", r"\1/name\2"))

    def __getitem__(self, place: int) -> Any:
        kinds = super().__getitem__(place)
        return tuple(kinds.split("\n") if kinds else ()) if self._several and kinds is not None else kinds


class ThinRows(KeyedRows, CodedRows):
    """Rows of items in the order of ids, without what documents do not tell: what is not kept raises ``KeyError``."""

    def __init__(self, ids: pa.Array) -> None:
        """Begin without rows, of which ``add`` takes all.

        Args:
            ids: of all items, ascending.
        """
        self.ids = ids
        self.columns: dict[str, _Coded] = {}
        self.words: dict[str, _Coded] = {}
        self.measured: dict[str, Values] = {}
        self.names: list[str] = []
        """Names of the columns of the whole rows."""
        self._done = 0

    def add(self, table: pa.Table) -> None:
        """Take the next rows, as slices' metadata have them."""
        self.names, start = table.column_names, self._done
        self._done += table.num_rows
        media = {file_column(part) for part in MEDIA}
        for name in table.column_names:
            if name in media:
                several = pa.types.is_list(table[name].type)
                self.columns.setdefault(name, _Kinds(several=several)).add(flat(table[name]))
            elif name in _COLUMNS:
                self.columns.setdefault(name, _Coded()).add(flat(table[name]))
        facts = [json.loads(text) for text in table["attributes"].to_pylist()]
        for name in {name for fact in facts for name in fact}:
            if name in _NUMBERS:
                known = self.measured.setdefault(name, np.full(len(self.ids), math.nan))
                known[start : self._done] = [_number(fact.get(name)) for fact in facts]
            if name in _WORDS and name not in self.words:
                self.words[name] = _Coded()
                self.words[name].add(pa.nulls(start, pa.string()))
        for name, words in self.words.items():
            words.add(pa.array([_word(name, fact.get(name)) for fact in facts], pa.string()))
        if self._done == len(self.ids):
            for coded in (*self.columns.values(), *self.words.values()):
                coded.end()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Plain]: ...
    def __getitem__(self, place: int | slice) -> Plain | Sequence[Plain]:
        return self._all[place]

    def __iter__(self) -> Iterator[Plain]:
        return iter(self._all)

    @cached_property
    def _all(self) -> Some:
        return Some(self, np.arange(len(self)))

    def rows_of(self, ids: Iterable[str]) -> Some:
        """The rows of these items, which are there, in their order."""
        return Some(self, pc.index_in(arrow_ids(ids), value_set=self.ids).to_numpy(zero_copy_only=False))

    def take(self, places: Places) -> Some:
        """The rows at these places."""
        return self._all.take(places)

    def numbers(self, name: str) -> Values:
        """An attribute of each, NaN where it has none."""
        return self._all.numbers(name)

    def codes(self, name: str) -> Places:
        """A number for each row, 0 or more, which is the same where a column and the attribute of this name are."""
        codes = np.zeros(len(self), np.int64)
        for coded in (self.words.get(name), self.columns.get(self.own_name(name))):
            if coded is not None:
                codes = codes * (len(coded.values) + 1) + coded.codes + 1
        return codes

    def own_name(self, name: str) -> str:
        """The column that tells as much as ``name``."""
        return "task" if name == "target_prompt" and name in self.names else name


class Some(CodedRows):
    """Some of thin rows, in any order."""

    def __init__(self, rows: ThinRows, places: Places) -> None:
        self._rows, self._places = rows, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> Some: ...
    def __getitem__(self, place: int | slice) -> Plain | Some:
        return Some(self._rows, self._places[place]) if isinstance(place, slice) else _Row(self._rows, int(self._places[place]))

    def __iter__(self) -> Iterator[Plain]:
        return (_Row(self._rows, int(place)) for place in self._places)

    def numbers(self, name: str) -> Values:
        """An attribute of each, NaN where it has none."""
        known = self._rows.measured.get(name)
        return np.full(len(self), math.nan) if known is None else known[self._places]

    def codes(self, name: str) -> Places:
        """See ``ThinRows.codes``."""
        return self._rows.codes(name)[self._places]

    def take(self, places: Places) -> Some:
        """The rows at these places among them."""
        return Some(self._rows, self._places[places])


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
        return self._rows.columns[self._rows.own_name(name)][self._place]

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
        if (numbers := self._rows.measured.get(name)) is not None:
            value = None if math.isnan(numbers[self._place]) else float(numbers[self._place])
        if value is None and (words := self._rows.words.get(name)) is not None:
            value = words[self._place]
        if value is None and name not in (*_WORDS, *_NUMBERS):
            raise LookupError(f"documents tell nothing of {name!r}; name it in {__name__}")
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._rows.measured or name in self._rows.words

    def __iter__(self) -> Iterator[str]:
        return iter((*self._rows.measured, *self._rows.words))

    def __len__(self) -> int:
        return len(self._rows.measured) + len(self._rows.words)


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else math.nan


def _word(name: str, value: Any) -> str | None:
    """An attribute as a word; groups may be called by numbers."""
    return str(value) if isinstance(value, str) or (name == frozen.GROUP and value is not None) else None


def _kind_of(name: str) -> str:
    path = PurePosixPath(name)
    return f"{path.parent}/name{path.suffix}"
