"""What can be looked at together: common items under a common protocol, or a sentence that says why not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.workbench.conftest import RUNS

from inpaintbench import manifest
from inpaintbench.errors import InputError
from inpaintbench.executors.unfinished import Plan
from inpaintbench.types import Score
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.joining import Joined, of_dataset, of_runs, progress
from inpaintbench.workspace import Workspace


def joined(folder: Path, *names: str, protocol: str = "") -> Joined:
    folders = Folders([folder])
    return of_runs(folders, folders.things(), [f"0/{name}" for name in names], protocol)


def head(packed: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packed[4 : 4 + int.from_bytes(packed[:4], "little")])
    return found


def test_every_pair_of_six_runs_stands_side_by_side(world: Path) -> None:
    pairs = list(combinations(RUNS, 2))
    assert len(pairs) == 15
    for one, other in pairs:
        found = joined(world, f"runs/{one}", f"runs/{other}")
        assert {method.run for method in found.methods} == {f"0/runs/{one}", f"0/runs/{other}"}
        assert [method.name for method in found.methods if method.label == "telea"] == [f"telea · {one}", f"telea · {other}"]
        assert len(found.ids) == 3
        assert "3 items of 3 sources" in found.sentences[0]


def test_items_are_read_once_for_whatever_is_put_beside_them(world: Path) -> None:
    first, second = joined(world, "runs/a"), joined(world, "runs/b")
    assert first.facts is second.facts is of_dataset(Folders([world]), "0/waves").facts
    assert (first.methods, first.values.keys()) != (second.methods, second.values.keys())


def test_values_are_those_of_the_run(world: Path) -> None:
    found, rows = joined(world, "runs/a"), Workspace(world / "runs" / "a", create=False).table("scores", Score)
    known = {(f"{row.metric}/{row.region}", row.method, row.item_id): row.value for row in rows if row.value is not None}
    assert len(known) > 50
    for (key, method, item), value in known.items():
        assert found.values[key, method][found.ids.index(item)] == value
    assert found.default == "psnr/hole"
    assert [one.name for one in found.methods if one.reference] == ["blank"]


def test_columns_are_packed_as_the_browser_reads_them(world: Path) -> None:
    found = joined(world, "runs/a")
    packed = found.packed
    told, start = head(packed), 4 + int.from_bytes(packed[:4], "little")
    assert start % 4 == 0
    column = np.frombuffer(packed, np.float32, count=3, offset=start + told["values"]["psnr/hole|telea"])
    assert column.tolist() == found.values["psnr/hole", "telea"].astype(np.float32).tolist()
    assert told["ids"] == found.ids


def test_runs_of_unlike_datasets_are_not_compared(world: Path) -> None:
    with pytest.raises(InputError, match=r"waves.* and other.* have no item in common; 3 have the same id and other pixels"):
        joined(world, "runs/a", "of_other")


def test_runs_of_two_versions_are_compared_on_what_both_have(world: Path) -> None:
    found = joined(world, "runs/a", "of_later")
    assert found.ids == ["i0", "i1"]
    assert (
        "compared on the 2 items of 2 sources that all have with the same pixels; 1 item changed in between" in found.sentences[0]
    )
    assert found.values["psnr/hole", "telea · a"].tolist() == found.values["psnr/hole", "telea · of_later"].tolist()


def test_runs_without_a_common_protocol_are_not_compared(own: Path) -> None:
    shutil.rmtree(own / "runs" / "b" / "tables" / "scores")
    with pytest.raises(InputError, match=r"nothing was scored yet in b: run"):
        joined(own, "runs/a", "runs/b")


def test_scores_of_other_protocols_are_not_compared(own: Path) -> None:
    _rewritten(own / "runs" / "b", protocol="lama")
    with pytest.raises(InputError, match=r"have no protocol in common \(a under devil/corrected; b under lama\)"):
        joined(own, "runs/a", "runs/b")


def _rewritten(run: Path, **fields: str) -> None:
    workspace = Workspace(run, create=False)
    for step in workspace.steps("scores"):
        rows = [replace(row, **fields) for row in workspace.table("scores", Score, step=step)]  # type: ignore[arg-type]
        workspace.write_table("scores", step, rows, Score)


def test_other_constants_of_one_protocol_are_not_compared(own: Path) -> None:
    _rewritten(own / "runs" / "b", fingerprint="0" * 12)
    with pytest.raises(InputError, match="had other constants or versions in these runs"):
        joined(own, "runs/a", "runs/b")


def test_a_run_whose_dataset_is_elsewhere_says_so(own: Path) -> None:
    shutil.rmtree(own / "waves")
    with pytest.raises(InputError, match="the dataset of run a is not below these folders"):
        joined(own, "runs/a")


def test_differences_are_paired_and_have_no_interval_from_few_sources(world: Path) -> None:
    found = joined(world, "runs/b")
    lead = found.lead("psnr/hole", "navier_stokes", "telea", [0, 1, 2])
    apart = found.values["psnr/hole", "navier_stokes"] - found.values["psnr/hole", "telea"]
    assert lead.mean == pytest.approx(apart.mean())
    assert lead.interval_low is None
    assert lead.reason is not None
    assert "3 sources" in lead.reason
    assert any("needs at least 6" in one for one in found.sentences)


def test_a_run_in_progress_shows_what_is_there(own: Path) -> None:
    """As `eval run` leaves it while it scores: a plan, a ledger, no table."""
    run = own / "runs" / "a"
    whole = joined(own, "runs/a")
    workspace = Workspace(run, create=False)
    assert progress(workspace) == []
    step = next(one for one in workspace.steps("scores") if one.endswith("telea"))
    keys = workspace.ledger(step, Score).columns(Score).columns["key"].to_pylist()
    tasks = pa.table({"key": keys, "subject_id": keys, "name": keys})
    Plan(step, "scores", Score, tasks, []).begin(workspace)
    (run / "tables" / "scores" / f"{step}.parquet").unlink()
    assert [(one["done"], one["tasks"]) for one in progress(workspace)] == [(3, 3)]
    found = joined(own, "runs/a")
    assert found.values["psnr/hole", "telea"].tolist() == whole.values["psnr/hole", "telea"].tolist()


def test_a_dataset_is_looked_at_before_any_run(world: Path) -> None:
    found = of_dataset(Folders([world]), "0/waves")
    assert (found.kind, found.methods, len(found.ids)) == ("dataset", [], 3)
    assert [name for name, *_ in found.slices] == ["low", "high", "alone"]
    assert found.names == ["film 0.mp4", "film 1.mp4", "film 2.mp4"]
    assert manifest.load(world / "waves").name in found.title
