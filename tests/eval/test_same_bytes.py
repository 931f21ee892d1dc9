"""The same predictions give the same bytes, wherever in memory they lie, however many workers score them, stopped or not."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import every_metric
import numpy.typing as npt
import pytest
from every_metric import (
    HEIGHT,
    OF_NO_PROTOCOL,
    RANDOM,
    WIDTH,
    built,
    measured,
    measured_here,
    moving_picture,
    noisy,
    of_a_wing,
    view_of,
    wandering_hole,
)
from laid_out import BYTES_APART, FEW_OFFSETS, everywhere
from tiny_networks import add_tiny_clip, shorten_dino

from inpaintbench import video
from inpaintbench.compute import Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Prediction
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

READ_NO_PIXELS = {
    "par": "its network comes from the user",
    **dict.fromkeys(("remove", "cfd", "dover", "jedi", "fvmd", "judge", "motion_fidelity"), "its program comes from the user"),
}
DEAR = (
    "lpips", "fid", "kid", "vfid", "vfid_clips", "pvcs", "p_ids", "u_ids", "lama_f1", "imaging_quality", "musiq",
    "subject_consistency", "rc_s", "rc_t", "cmmd", "dreamsim", "structure_distance", "second_moment",
)  # fmt: skip
"""Run a network of full size."""
PIXELS = [name for name in METRICS if measured_here(name) and not of_a_wing(name) and name not in READ_NO_PIXELS]


def frames_of(name: str) -> int:
    return 11 if name in ("pvcs", "vfid", "vfid_clips", "second_moment") else 5


def content(found: dict[str, Measurement]) -> dict[str, Any]:
    """All that a row of scores holds of a measurement, to the last bit."""
    return {
        region: (repr(one.value), one.reason, repr(one.details), one.features and [part.tobytes() for part in one.features])
        for region, one in found.items()
    }


PARTS = ("truth", "hole", "prediction", "composite", "object_mask", "effect_mask", "input")


def view_with(view: ItemView, arrays: Sequence[npt.NDArray[Any]]) -> ItemView:
    """The same item, its parts where ``arrays`` lie."""
    made = {part: partial(lambda held: held, held) for part, held in zip(PARTS, arrays, strict=True)}
    return ItemView(
        item_id="item", frames=view.frames, height=view.height, width=view.width, fps=view.fps,
        parts={**made, "prompts": lambda: view.prompts}, shared=Shared(compute=RANDOM),
    )  # fmt: skip


def check_everywhere_alike(name: str, offsets: Sequence[int]) -> None:
    metric, truth, hole = built(name), moving_picture(frames_of(name)), wandering_hole(frames_of(name))
    view = view_of(truth, hole, noisy(truth, levels=20))
    expected = content(measured(metric, view))
    assert any(value != "None" or features for value, _, _, features in expected.values()), expected
    for place, arrays in enumerate(everywhere([getattr(view, part) for part in PARTS], offsets)):
        assert content(measured(metric, view_with(view, arrays))) == expected, (name, place)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name in DEAR else name for name in PIXELS])
def test_no_metric_depends_on_where_frames_lie_in_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if every_metric.runs_network(name):
        pytest.importorskip("torch")
    add_tiny_clip(monkeypatch)
    shorten_dino(monkeypatch)
    check_everywhere_alike(name, FEW_OFFSETS[:3] if name in DEAR else FEW_OFFSETS)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PIXELS if not every_metric.runs_network(name)])
def test_no_metric_depends_on_any_offset(name: str) -> None:
    check_everywhere_alike(name, range(BYTES_APART))


# Through the whole of `eval run --for scores`: decoding, workers, ledgers and tables.

ITEMS = 3


def scored_by(protocol: str) -> list[str]:
    """Metrics of a protocol that take no network."""
    names = PROTOCOLS.get(protocol).metrics
    return [name for name in names if name not in (*READ_NO_PIXELS, *DEAR) and not every_metric.runs_network(name)]


_SOME = ("devil/corrected", "removal/paired", "vpbench/as-published", "ivebench/as-published")
SCORED = {protocol: scored_by(protocol) for protocol in _SOME}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Dataset]:
    """A frozen dataset of ``moving_picture``, each item from a source of its own."""
    folder = tmp_path_factory.mktemp("data")
    rows = []
    for place in range(ITEMS):
        truth, hole = moving_picture(11, seed=place), wandering_hole(11)
        video.write_lossless(folder / f"truth {place}.mp4", truth, fps=25.0)
        video.write_hole(folder / f"hole {place}.mp4", hole, fps=25.0)
        yuv, rgb = video.decoded_hashes(folder / f"truth {place}.mp4")
        rows.append({
            "item_id": f"item {place}", "truth_file_name": f"truth {place}.mp4", "hole_file_name": f"hole {place}.mp4",
            "fps": 25.0, "frames": 11, "height": HEIGHT, "width": WIDTH, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb,
            "hole_sha256": "same", "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
            "source_id": f"source {place}",
        })  # fmt: skip
    return folder, Dataset("same bytes", {}, tuple(rows), (), {}, {}, {})


def predicted(workspace: Workspace, dataset: Dataset, levels: int) -> Predicted:
    label = f"noise {levels}"
    made = []
    for place, row in enumerate(dataset.items):
        frames = noisy(moving_picture(11, seed=place), levels=levels)
        blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=frames, fps=25.0))
        made.append(Prediction(label, "1", row["item_id"], blob, True, 0))
    return Predicted(label, made)


def tables(folder: Path) -> dict[str, str]:
    files = [path for part in ("tables", "blobs") for path in sorted((folder / part).rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def score_all(folder: Path, dataset: Dataset, *, root: Path, protocol: str, metrics: Sequence[str], workers: int) -> None:
    workspace = Workspace(folder)
    methods = [predicted(workspace, dataset, levels) for levels in (3, 30)]
    with LocalExecutor(workspace, workers=workers) as executor:
        score(executor, dataset, root=root, methods=methods, protocol=protocol, metrics=metrics, compute=RANDOM)


def check_one_answer(tmp_path: Path, data: tuple[Path, Dataset], protocol: str, metrics: Sequence[str]) -> None:
    """One worker, two, and two that go on with what a killed run left."""
    root, dataset = data
    scored = partial(score_all, dataset=dataset, root=root, protocol=protocol, metrics=metrics)
    for folder, workers in (("one", 1), ("two", 2)):
        scored(tmp_path / folder, workers=workers)
    expected = tables(tmp_path / "one")
    assert len(expected) > 2
    assert tables(tmp_path / "two") == expected
    for ledger in (tmp_path / "one" / "ledger").glob("score.*"):
        lines = ledger.read_bytes().splitlines(keepends=True)
        ledger.write_bytes(lines[0] + lines[1][: len(lines[1]) // 2])  # killed in the middle of writing the second
    scored(tmp_path / "one", workers=2)
    assert tables(tmp_path / "one") == expected


@pytest.mark.parametrize(
    "protocol", [name if name == "devil/corrected" else pytest.param(name, marks=pytest.mark.long) for name in SCORED]
)
def test_workers_and_a_kill_change_no_byte(protocol: str, tmp_path: Path, data: tuple[Path, Dataset]) -> None:
    check_one_answer(tmp_path, data, protocol, SCORED[protocol])


@pytest.mark.long
def test_workers_and_a_kill_change_no_byte_of_networks(tmp_path: Path, data: tuple[Path, Dataset]) -> None:
    pytest.importorskip("torch")
    check_one_answer(tmp_path, data, "devil/corrected", ["lpips", "pvcs", "fid", "kid", "vfid", "vfid_clips"])


def test_every_metric_is_tried_or_says_why_not() -> None:
    assert set(PIXELS) | set(READ_NO_PIXELS) == {name for name in METRICS if measured_here(name) and not of_a_wing(name)}
    through_score = {name for names in SCORED.values() for name in names}
    # Those that no protocol of the core has are tried with those of the wings that have them.
    assert {name for name in PIXELS if not every_metric.runs_network(name)} <= through_score | set(OF_NO_PROTOCOL)
