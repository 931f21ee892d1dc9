"""Networks run in one process a card, everything else in the others, and no score is different.

The card is a made-up one: workers find none and compute on the processor.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from footage import contents
from scoring_probes import predictions, write_items

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import torch_networks
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace

METRICS = ["psnr", "lpips", "ssim", "fid", "mse"]
MADE_UP = Compute(random_weights=3)


@pytest.fixture
def items(tmp_path: Path) -> Dataset:
    pytest.importorskip("torch")
    return write_items(tmp_path / "data", count=4)


def made(folder: Path, items: Dataset) -> list[Predicted]:
    """A method whose files are whole, and one with a damaged and no prediction."""
    blobs = Workspace(folder).blobs
    whole = predictions(blobs, items, "dark", level=10)
    damaged, _ = blobs.put(".mp4", lambda path: path.write_bytes(b"no video"))
    bright = predictions(blobs, items, "bright", level=200)[:2]
    return [
        Predicted("dark", whole),
        Predicted("bright", [*bright, Prediction("bright", "1", "item 2", damaged, False, 0)], {"item 3": "it crashed"}),
    ]


def children() -> list[int]:
    """Processes of this one, and theirs."""
    found = [os.getpid()]
    for process in found:
        for path in Path(f"/proc/{process}/task").glob("*/children"):
            found += map(int, path.read_text().split())
    return found[1:]


def scored(tmp_path: Path, name: str, items: Dataset, *, workers: int) -> tuple[dict[str, list[Score]], int]:
    """Rows of each method, and how many processes opened the library of the networks."""
    with LocalExecutor(Workspace(tmp_path / name), workers=workers) as executor:
        outcomes = score(
            executor, items, root=tmp_path / "data", methods=made(tmp_path / name, items), protocol="devil/corrected",
            metrics=METRICS, compute=MADE_UP,
        )  # fmt: skip
        opened = sum("libtorch_cpu" in Path(f"/proc/{process}/maps").read_text() for process in children())
    return {method: outcome.records for method, outcome in outcomes.items()}, opened


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux alone tells what processes have opened")
def test_networks_run_in_one_process_and_every_row_is_the_same(
    tmp_path: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_lane, opened = scored(tmp_path, "one", items, workers=3)
    assert opened > 1
    monkeypatch.setattr(torch_networks, "on_card", lambda compute: True)
    two_lanes, opened = scored(tmp_path, "two", items, workers=3)
    assert opened == 1
    assert two_lanes == one_lane
    tables = [{file: of for file, of in contents(tmp_path / name).items() if "tables" in file} for name in ("one", "two")]
    assert tables[0] == tables[1]
    assert len(tables[0]) >= 2
    assert [row.metric for row in one_lane["dark"] if row.item_id == "item 0" and row.region == "frame"] == METRICS
    assert sum(row.value is None and row.features is None for row in two_lanes["bright"]) > 0


def test_what_has_no_network_or_nothing_else_has_one_part(
    tmp_path: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_networks, "on_card", lambda compute: True)
    steps = {}

    class Asked(LocalExecutor):
        def run_together(self, work, **more):  # type: ignore[no-untyped-def]
            steps.update({tuple(step.parameters["metrics"]): step.before for step, _ in work})
            return super().run_together(work, **more)

    for metrics in (["psnr"], ["lpips"], ["mse", "lpips", "psnr"]):
        with Asked(Workspace(tmp_path / "-".join(metrics)), workers=0) as executor:
            score(
                executor, items, root=tmp_path / "data", methods=[Predicted("none", [])], protocol="devil/corrected",
                metrics=metrics, compute=MADE_UP,
            )  # fmt: skip
    *one, two = steps.values()
    assert one == [None, None]
    assert two is not None
    assert (two.parameters["metrics"], two.on_card, two.lacks) == (["mse", "psnr"], False, {})


def test_damaged_bytes_have_no_value_in_either_part(tmp_path: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_networks, "on_card", lambda compute: True)
    methods = made(tmp_path / "run", items)[:1]
    blobs = Workspace(tmp_path / "run").blobs
    path = blobs.path(methods[0].predictions[0].blob)
    path.chmod(0o644)
    video.write_lossless(path, 255 - video.read_frames(path), fps=25.0)
    with LocalExecutor(Workspace(tmp_path / "run"), workers=2) as executor:
        found = score(
            executor, items, root=tmp_path / "data", methods=methods, protocol="devil/corrected", metrics=METRICS, compute=MADE_UP
        )["dark"].records
    assert found
    assert all("another SHA-256" in str(row.reason) for row in found)  # all items have the same prediction
