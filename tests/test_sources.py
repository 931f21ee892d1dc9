"""One definition of a source: whatever counts sources, or clusters by them, counts those by which scores cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.annotate.preparing.proxies import clip_subjects, item_subjects
from inpaintbench.cli.build.running import summarise
from inpaintbench.errors import InputError
from inpaintbench.eval.scoring.run_folder import Scores
from inpaintbench.export.card import _chosen, card
from inpaintbench.export.freeze import seal
from inpaintbench.export.holding_back import _check_apart, stand_ins
from inpaintbench.export.thin_rows import ThinRows, with_told
from inpaintbench.types import Attribute, Clip, Dataset, Source
from inpaintbench.workspace import Workspace

GROUPS = {"i0": "finger 7", "i1": "finger 7"}
SOURCES = {"i0": "finger 7", "i1": "finger 7", "i2": "s2"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files, two of them prints of one finger."""
    folder = make_dataset(tmp_path)
    dataset = frozen.load(folder)
    rows = [{**row, "attributes": {**row["attributes"], frozen.GROUP: GROUPS.get(row["item_id"])}} for row in dataset.items]
    seal(folder, replace(dataset, items=tuple(rows)))
    return folder


def test_one_number_of_sources_everywhere(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = frozen.load(folder)
    assert frozen.sources_of(dataset) == SOURCES
    assert {one.subject_id: one.cluster for one in item_subjects(dataset, root=folder, slices=())} == SOURCES
    table = Scores([{"item_id": name, "value": 1.0} for name in SOURCES]).to_pandas(dataset)
    assert dict(zip(table["item_id"], table["source"], strict=True)) == SOURCES
    assert sorted(table["source_id"]) == ["s0", "s1", "s2"]
    for told in (card(dataset, pictures=(), sizes={}), card(thin(dataset), pictures=(), sizes={})):
        assert "3 clips of 2 sources" in told
        assert "There are only 2 sources" in told
        assert "`low` | `x == 'low'` | 2 | 1 |" in told
    summarise(Workspace(tmp_path / "empty"), dataset)
    assert "│ low   │     2 │       1 │" in capsys.readouterr().out
    assert [row["item_id"] for row in _chosen(list(dataset.items))] == ["i0", "i2", "i1"]


def test_what_is_held_back_shares_no_source_with_what_is_open(folder: Path) -> None:
    rows = list(frozen.load(folder).items)
    assert stand_ins(rows, "source", frozen.source_of) == {"finger 7": "held-back-source-1", "s2": "held-back-source-2"}
    with pytest.raises(InputError, match="item i1 of the split 'test' shares its source with items of 'test'"):
        _check_apart(rows[:1], rows[1:])


def test_clips_of_one_group_are_one_source(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    workspace.write_table("sources", "find", [Source(name, name, "h", 1, "folder") for name in ("s0", "s1", "s2")], Source)
    clips = [Clip(f"c{n}", f"s{n}", 0, 1, 25.0, 8, 8, 1, "b.png", "y", "r", 0, 99.0) for n in range(3)]
    workspace.write_table("clips", "cut", clips, Clip)
    rows = [Attribute(f"s{n}", frozen.GROUP, "finger 7", None, "test", "1") for n in range(2)]
    workspace.write_table("attributes", "known", rows, Attribute)
    found = clip_subjects(workspace, kept=False)
    assert [(one.subject_id, one.cluster, one.file) for one in found] == [
        ("c0", "finger 7", "s0"), ("c1", "finger 7", "s1"), ("c2", "s2", "s2"),
    ]  # fmt: skip


def thin(dataset: Dataset) -> Dataset:
    rows = ThinRows(dataset.items.ids)
    for table in dataset.items.batches():
        rows.add(with_told(table))
    rows.identity = dataset.items.identity
    return replace(dataset, items=rows)
