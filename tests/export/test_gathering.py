"""Rows that go through files come out as from memory, and documents tell of thin rows what they tell of whole ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from publishing_data import contents, make_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.export import gathering
from inpaintbench.export.documents import is_document, sealed
from inpaintbench.export.gathering import Placed, Tables, of_records
from inpaintbench.export.thin_rows import ThinRows
from inpaintbench.manifest import MANIFEST, Rows
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Source


def thin(dataset: Dataset) -> Dataset:
    assert isinstance(dataset.items, Rows)
    rows = ThinRows(dataset.items.ids)
    for table in dataset.items.batches():
        rows.add(table)
    rows.identity = dataset.items.identity
    return replace(dataset, items=rows)


def check_documents(folder: Path) -> None:
    dataset, held = frozen.load(folder), contents(folder)
    sizes = {name: len(data) for name, data in held.items()}
    told, stored = sealed(thin(dataset), sizes)[1], sealed(replace(dataset, items=tuple(dataset.items)), sizes)[1]
    assert told == stored == {name: data for name, data in held.items() if is_document(name) or name == MANIFEST}


def test_documents_of_thin_rows_are_those_of_whole_ones(benchmark: Path, tmp_path: Path) -> None:
    check_documents(benchmark / "exports" / "devil")
    check_documents(make_dataset(tmp_path))


def test_many_buckets_give_the_same_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    licences = ("CC0-1.0", "MIT", None, "unknown", "CC-BY-4.0", None, "MIT")
    whole = contents(make_dataset(tmp_path / "one", licences=licences))
    monkeypatch.setattr(gathering, "ITEMS_AT_ONCE", 2)
    monkeypatch.setattr(gathering, "SHARD_ROWS", 3)
    monkeypatch.setattr(gathering, "_LOOKED_UP", 2)
    assert contents(make_dataset(tmp_path / "many", licences=licences)) == whole


def tables(sources: int, clips: int, items: int) -> Tables:
    """Every third item has a corruption within that of the one before; sources, clips and corruptions have a fact each."""
    made = [Clip(f"c{place}", f"s{place % sources}", 0, 3, 25.0, 8, 8, 3, "b.mp4", "y", "r", 0, 99.0) for place in range(clips)]
    holes = [
        Corruption(f"h{place}", f"c{place % clips}", "box", {}, 0, f"h{place - 1}" if place % 3 == 2 else None, "t.mp4", "d")
        for place in range(items)
    ]
    subjects = [
        *(f"s{place}" for place in range(sources)),
        *(clip.clip_id for clip in made),
        *(hole.corruption_id for hole in holes),
    ]
    return Tables(
        of_records([Item(f"i{place}", f"c{place % clips}", f"h{place}") for place in range(items)], Item),
        of_records([Source(f"s{place}", "a", "0", 1, "folder") for place in range(sources)], Source),
        of_records(made, Clip),
        of_records(holes, Corruption),
        of_records([Attribute(name, "x", float(place), None, "p", "1") for place, name in enumerate(subjects)], Attribute),
    )


@pytest.mark.parametrize(("sources", "at_once"), [(1, 1), (5, 3), (5, 100), (40, 2)])
def test_what_belongs_to_an_item_comes_with_it(
    sources: int, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "ITEMS_AT_ONCE", at_once)
    seen = []
    for some in tables(sources, 40, 90).together(tmp_path / "scratch"):
        clips = {clip.clip_id: clip for clip in some.clips}
        holes = {hole.corruption_id: hole for hole in some.corruptions}
        known = {fact.subject_id for fact in some.attributes}
        assert known == {*(row.source_id for row in some.sources), *clips, *holes}
        for item in some.items:
            assert holes[item.corruption_id].clip_id == item.clip_id
            assert clips[item.clip_id].source_id in {source.source_id for source in some.sources}
        seen += [item.item_id for item in some.items]
    assert sorted(seen) == sorted(f"i{place}" for place in range(90))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("rows", [1, 7, 8, 100])
def test_rows_come_in_their_places(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "SHARD_ROWS", 8)
    placed, order = Placed(tmp_path / "places", rows), np.random.default_rng(0).permutation(rows)
    for some in np.array_split(order, min(rows, 5)):
        placed.add(pa.table({"value": some}), some)
    assert [value for table in placed.tables() for value in table["value"].to_pylist()] == list(range(rows))


def test_items_whose_clip_is_gone_are_not_left_out_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Tables] = Tables

    def without_a_clip(*given: gathering.Batches) -> Tables:
        items, sources, clips, corruptions, attributes = given
        return real(items, sources, lambda columns=None: [table.slice(1) for table in clips(columns)], corruptions, attributes)

    monkeypatch.setattr("inpaintbench.export.freeze.Tables", without_a_clip)
    with pytest.raises(InputError, match="the clips or sources of 1 of 3 items are not there"):
        make_dataset(tmp_path)
