"""Rows that go through files come out as from memory, and documents tell of thin rows what they tell of whole ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from publishing_data import contents, make_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export import gathering
from inpaintbench.export.documents import is_document, sealed
from inpaintbench.export.gathering import Placed, Tables, of_records
from inpaintbench.export.thin_rows import ThinRows, with_told
from inpaintbench.manifest import MANIFEST, Rows
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Source, canonical_json
from inpaintbench.workspace import Workspace


def thin(dataset: Dataset) -> Dataset:
    assert isinstance(dataset.items, Rows)
    rows = ThinRows(dataset.items.ids)
    for table in dataset.items.batches():
        rows.add(with_told(table))
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
    for some in tables(sources, 40, 90).together(tmp_path / "scratch", np.arange(90)):
        clips = {clip["clip_id"]: clip for clip in some.clips.to_pylist()}
        holes = {hole["corruption_id"]: hole for hole in some.corruptions.to_pylist()}
        known = set(some.attributes["subject_id"].to_pylist())
        assert known == {*some.sources["source_id"].to_pylist(), *clips, *holes}
        for item in some.items.to_pylist():
            assert holes[item["corruption_id"]]["clip_id"] == item["clip_id"]
            assert clips[item["clip_id"]]["source_id"] in some.sources["source_id"].to_pylist()
            seen.append((item["place"], item["item_id"]))
    assert sorted(seen) == [(place, f"i{place}") for place in range(90)]
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


def test_a_dataset_that_could_not_be_read_replaces_no_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_dataset(tmp_path)
    before = contents(folder)
    odd = of_records([Attribute("c0", "joints", 1.0, None, "p", "1")], Attribute)
    monkeypatch.setattr("inpaintbench.export.freeze.Tables", lambda *given: Tables(*given[:-1], odd))
    monkeypatch.setattr("inpaintbench.export.freeze.write_strips", lambda *given: None)  # reads a few items
    with pytest.raises(VerifyError, match="attributes of item 'i0', joints is"):
        make_dataset(tmp_path)
    assert contents(folder) == before


def test_facts_of_an_item_are_canonical_json_of_what_is_known_of_its_source_clip_and_corruption(tmp_path: Path) -> None:
    blobs = Workspace(tmp_path).blobs
    data, _ = blobs.put(".json", lambda path: path.write_text('{"z": 1, "a": [0.1000000000000004, "\\u202e"]}'))
    clip = Clip("c", "s", 0, 3, 25.000000000000004, 8, 8, 3, "b.mp4", "y", "r", 0, 99.0)
    hole = Corruption("h", "c", "box", {"b": 1, "a": 0.30000000000000004}, 7, None, "a" * 64 + ".mp4", "d")
    second = [replace(hole, corruption_id=name, parent_id="h", hole=name * 20 + ".x.png") for name in ("hz", "ha")]
    facts = [
        Attribute("s", "level", "of source", None, "p", "1"), Attribute("c", "level", "of clip", None, "p", "1"),
        Attribute("h", "twice", 1.0, None, "p", "1"), Attribute("h", "twice", 2.0, None, "p", "1"),
        Attribute("s", "none", None, "why", "p", "1"), Attribute("c", "long", 0.30000000000000004, None, "p", "1"),
        Attribute("c", "small", 1e-7, None, "p", "1"), Attribute("c", "odd\x1b", 'say "\u202e"', None, "p", "1"),
        Attribute("h", "mask.list", "[3, 1.50]", None, "masks.measure", "1"), Attribute("c", "text", "[3]", None, "p", "1"),
        Attribute("c", "data", None, None, "p", "1", blob=data), Attribute("x", "other", 1.0, None, "p", "1"),
        Attribute("ha", "area", 0.5, None, "p", "1"), Attribute("ha", "unknown", None, "why", "p", "1"),
    ]  # fmt: skip
    given = Tables(
        of_records([Item("i", "c", "h")], Item), of_records([Source("s", "a\x07", "0", 1, "folder")], Source),
        of_records([clip], Clip), of_records([hole, *second], Corruption), of_records(facts, Attribute),
    )  # fmt: skip
    (row,) = gathering.item_rows(next(given.together(tmp_path / "scratch", np.arange(1))), blobs).to_pylist()
    told = {
        "level": "of clip", "twice": 2.0, "none": None, "long": 0.3, "small": 1e-7, "odd\\u001b": 'say "\\u202e"',
        "mask.list": [3, 1.5], "text": "[3]", "data": {"z": 1, "a": [0.1, "\\u202e"]},
        "second_holes": [
            {"corruption_id": "ha", "hole_sha256": "d", "area": 0.5}, {"corruption_id": "hz", "hole_sha256": "d"},
        ],
    }  # fmt: skip
    assert row["attributes"] == canonical_json(told)
    assert row["generator_parameters"] == '{"a":0.3,"b":1,"seed":7}'
    assert (row["fps"], row["source_uri"]) == (25.0, "a\\u0007")
    assert row["hole_file_name"] == f"holes/{'a' * 16}.mp4"
    assert row["second_hole_file_names"] == ["holes/hahahahahahahaha.png", "holes/hzhzhzhzhzhzhzhz.png"]
    assert row["truth_file_name"] == "truth/c.mp4"


@pytest.mark.parametrize(("value", "producer"), [(math.nan, "p"), (-math.inf, "p"), ("[1, NaN]", "masks.measure")])
def test_a_fact_that_is_not_finite_is_refused_where_a_row_has_it(value: float | str, producer: str, tmp_path: Path) -> None:
    blobs, given = Workspace(tmp_path).blobs, tables(1, 4, 3)  # no item is of c3; h2 is the second hole of h1
    for subject, item in (("c3", None), ("c0", "i0"), ("h2", "i1")):
        odd = Attribute(subject, "odd", value, None, producer, "1")
        facts = replace(given, attributes=of_records([odd, Attribute("c0", "words", "NaN", None, "p", "1")], Attribute))
        some = next(facts.together(tmp_path / "scratch", np.arange(3)))
        if item is None:
            assert gathering.item_rows(some, blobs)["attributes"][0].as_py() == '{"words":"NaN"}'
        else:
            with pytest.raises(InputError, match=f"of item '{item}' is not finite"):
                gathering.item_rows(some, blobs)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("parameters", '{"area":NaN}', "the generator parameter 'area' of item 'i4'"),
        ("parameters", '{"sides":[1.0,Infinity]}', "the generator parameter 'sides' of item 'i4'"),
        ("encode_psnr_db", math.inf, "'encode_psnr_db' of item 'i4'"),
        ("fps", math.nan, "'fps' of item 'i4'"),
    ],
)
def test_what_is_not_finite_of_a_clip_or_hole_is_refused_by_name(name: str, value: object, told: str, tmp_path: Path) -> None:
    given = tables(1, 6, 6)
    some = next(given.together(tmp_path / "scratch", np.arange(6)))
    part = "corruptions" if name == "parameters" else "clips"
    table = getattr(some, part)
    values = [value if place == 4 else one for place, one in enumerate(table[name].to_pylist())]
    odd = table.set_column(table.column_names.index(name), table.schema.field(name), [values])
    some = some._replace(**{part: odd})
    with pytest.raises(InputError, match=f"^{told} is not finite"):
        gathering.item_rows(some, Workspace(tmp_path).blobs)


def test_facts_of_all_second_holes_are_looked_up_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], gathering._told
    monkeypatch.setattr(gathering, "_told", lambda facts, owners: calls.append(owners) or real(facts, owners))
    rows = gathering.item_rows(next(tables(1, 4, 60).together(tmp_path / "scratch", np.arange(60))), Workspace(tmp_path).blobs)
    assert len(calls) == 2
    facts = {row["item_id"]: json.loads(row["attributes"]) for row in rows.to_pylist()}
    second = {"corruption_id": "h5", "hole_sha256": "d", "x": facts["i5"]["x"]}
    assert facts["i4"]["second_holes"] == [second]
