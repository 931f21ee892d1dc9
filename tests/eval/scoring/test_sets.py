"""Numbers for whole slices from the features of items."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scoring_probes import NAME, Sets, calls, install, predictions, write_items

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.metrics.base import Comparison, Features
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.score import Predicted, compare_sets, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Slice, SliceScore
from inpaintbench.workspace import Workspace

FIRST, LAST = Slice("first", "", ("item 0", "item 1")), Slice("last", "", ("item 1", "item 2", "item 3"))
REGION = "frame"


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    return tmp_path / "marks"


@pytest.fixture
def items(tmp_path: Path) -> Dataset:
    return write_items(tmp_path / "data", count=4, slices=(FIRST, LAST, Slice("empty", "", ())))


def scored(
    tmp_path: Path, items: Dataset, *, levels: dict[str, int], failures: Sequence[str] = (), compute: Compute | None = None
) -> None:
    workspace = Workspace(tmp_path / "run")
    methods = []
    for name, level in levels.items():
        made = [row for row in predictions(workspace.blobs, items, name, level=level) if row.item_id not in failures]
        methods.append(Predicted(name, made, dict.fromkeys(failures, "it crashed")))
    with LocalExecutor(workspace, workers=0) as executor:
        score(executor, items, root=tmp_path / "data", methods=methods, protocol=NAME, compute=compute)


def compared(tmp_path: Path, items: Dataset, *methods: str) -> dict[tuple[str, str, str], SliceScore]:
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        found = compare_sets(executor, items, protocol=NAME, methods=methods)
    rows = [row for outcome in found.values() for row in outcome.records]
    assert not any(outcome.rejected for outcome in found.values())
    return {(row.method, row.slice, row.metric): row for row in rows}


def expected(tmp_path: Path, one: Slice, level: int) -> float:
    """Straight from the pixels."""
    truths = [video.read_frames(tmp_path / "data" / f"truth {name[-1]}.mp4") for name in one.item_ids]
    difference = np.zeros(3)
    for truth in truths:
        made = truth.copy()
        made[:, 10:30, 20:50] = level
        difference += (made.mean(axis=(0, 1, 2)) - truth.mean(axis=(0, 1, 2))) / len(truths)
    return float((difference**2).sum())


def test_every_slice_and_all_items_are_compared(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = install(monkeypatch, marks, "probe_sets", "probe_alone")
    levels = {"dark": 10, "bright": 200}
    scored(tmp_path, items, levels=levels)
    found = compared(tmp_path, items, *levels)
    assert set(found) == {(name, one, "probe_sets") for name in levels for one in ("first", "last", ALL_ITEMS)}
    every = Slice(ALL_ITEMS, "", tuple(row["item_id"] for row in items.items))
    for name, level in levels.items():
        for one, sources in ((FIRST, 1), (LAST, 2), (every, 2)):
            row = found[name, one.name, "probe_sets"]
            assert row.value == pytest.approx(expected(tmp_path, one, level), rel=1e-5)
            count = len(one.item_ids)
            assert row.details == {"n": 6 * count, "d": 3, "sources": sources, "items": count, "missing": 0}
            assert (row.region, row.protocol, row.fingerprint, row.reason) == (REGION, NAME, protocol.fingerprint, None)
    stored = Workspace(tmp_path / "run").table("slice_scores", SliceScore)
    assert {(row.method, row.slice, row.metric): row for row in stored} == found


def test_items_without_features_are_left_out_and_counted(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, items, levels={"dark": 10}, failures=["item 1"])
    found = compared(tmp_path, items, "dark")
    last = found["dark", "last", "probe_sets"]
    assert last.value == pytest.approx(expected(tmp_path, replace(LAST, item_ids=LAST.item_ids[1:]), 10), rel=1e-5)
    assert (last.details["items"], last.details["missing"]) == (2, 1)
    # One item is left, and the metric refuses it: a reason, and the other slices have their numbers.
    first = found["dark", "first", "probe_sets"]
    assert (first.value, first.reason) == (None, "one item is no set")
    assert found["dark", ALL_ITEMS, "probe_sets"].details["missing"] == 1


def test_a_slice_without_any_features_says_why(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, items, levels={"black": 0, "dark": 10}, failures=["item 0", "item 1"])
    found = compared(tmp_path, items, "dark", "black")
    first = found["dark", "first", "probe_sets"]
    assert (first.value, first.reason) == (None, "it crashed")
    assert (first.details["items"], first.details["missing"]) == (0, 2)
    assert found["dark", "last", "probe_sets"].value is not None
    assert found["black", "last", "probe_sets"].reason == "it crashed"
    only_black = replace(items, slices=(Slice("black", "", ("item 2", "item 3")),))
    assert compared(tmp_path, only_black, "black")["black", "black", "probe_sets"].reason == "a hole is black"


def test_items_that_were_never_scored_are_missing_too(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, replace(items, items=items.items[:3]), levels={"dark": 10})
    found = compared(tmp_path, items, "dark", "unheard-of")
    assert {method for method, *_ in found} == {"dark"}
    assert found["dark", "last", "probe_sets"].details["missing"] == 1
    assert found["dark", ALL_ITEMS, "probe_sets"].details["missing"] == 1


def test_a_new_slice_needs_no_pixels_and_what_is_done_stays_done(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, items, levels={"dark": 10})
    before = compared(tmp_path, items, "dark")
    assert calls(marks, "compare") == 3
    for path in (tmp_path / "run" / "blobs").rglob("*.mp4"):
        path.unlink()
    shutil.rmtree(tmp_path / "data")
    odd = Slice("odd", "", ("item 1", "item 3"))
    after = compared(tmp_path, replace(items, slices=(*items.slices, odd)), "dark")
    assert {key: row for key, row in after.items() if key[1] != "odd"} == before
    assert after["dark", "odd", "probe_sets"].value is not None
    assert calls(marks, "compare") == 4
    assert calls(marks, "sets") == 4  # each item once


def test_a_slice_whose_items_changed_is_compared_again(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, items, levels={"dark": 10})
    compared(tmp_path, items, "dark")
    changed = replace(items, slices=(replace(FIRST, item_ids=("item 0", "item 3")), LAST))
    found = compared(tmp_path, changed, "dark")
    assert calls(marks, "compare") == 4
    assert found["dark", "first", "probe_sets"].value == pytest.approx(expected(tmp_path, changed.slices[0], 10), rel=1e-5)


def test_scores_of_another_fingerprint_are_compared_anew_and_say_so(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets")
    marked: list[Any] = []
    for compute in (Compute(), Compute(random_weights=1)):
        scored(tmp_path, items, levels={"dark": 10}, compute=compute)
        marked.append({row.fingerprint for row in compared(tmp_path, items, "dark").values()})
    assert marked[1] == {f"{fingerprint}+random-weights-1" for fingerprint in marked[0]}
    assert len(marked[0]) == 1
    assert calls(marks, "compare") == 6


def test_a_protocol_without_such_metrics_has_nothing_to_compare(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_alone")
    scored(tmp_path, items, levels={"dark": 10})
    assert compared(tmp_path, items, "dark") == {}
    assert Workspace(tmp_path / "run").table("slice_scores", SliceScore) == []


class Broken(Sets):
    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        if len(sets) == 3:
            raise RuntimeError("no convergence")
        return super().compare(sets, clusters)


def test_a_comparison_that_crashed_has_a_row_with_its_reason_and_is_tried_again(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = install(monkeypatch, marks, "probe_sets")
    scored(tmp_path, items, levels={"dark": 10})
    with monkeypatch.context() as patch:
        patch.setattr("scoring_probes.Sets", Broken)
        with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
            outcome = compare_sets(executor, items, protocol=NAME, methods=["dark"])["dark"]
    stored = {row.slice: row for row in Workspace(tmp_path / "run").table("slice_scores", SliceScore)}
    assert stored == {row.slice: row for row in outcome.records}
    assert set(stored) == {"first", "last", ALL_ITEMS}
    last = stored["last"]
    assert (last.value, last.reason) == (None, "RuntimeError: no convergence")
    assert (last.method, last.metric, last.region, last.fingerprint) == ("dark", "probe_sets", REGION, protocol.fingerprint)
    assert last.details == {"items": 3, "missing": 0}
    assert stored["first"].value is not None
    assert compared(tmp_path, items, "dark")["dark", "last", "probe_sets"].value is not None
