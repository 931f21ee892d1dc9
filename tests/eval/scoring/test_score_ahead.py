"""The next item is decoded while one is measured: once, within a limit, and without any other row."""

from __future__ import annotations

import resource
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from footage import contents
from scoring_probes import FRAMES, HEIGHT, NAME, WIDTH, Alone, calls, install, predictions, write_items

from inpaintbench import video
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.scoring import score_item
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.eval.scoring.score_item import decode_ahead
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Prediction, Score
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

LEVELS = {"dark": 10, "bright": 200}


@pytest.fixture
def items(tmp_path: Path) -> Dataset:
    return write_items(tmp_path / "data", count=3)


def made(folder: Path, items: Dataset, *, count: int = 2) -> list[Predicted]:
    blobs = Workspace(folder).blobs
    return [Predicted(name, predictions(blobs, items, name, level=level)) for name, level in list(LEVELS.items())[:count]]


def run(tmp_path: Path, folder: str, items: Dataset, methods: Sequence[Predicted], **options: Any) -> dict[str, list[Score]]:
    chosen: dict[str, Any] = {name: options.pop(name) for name in ("protocol", "metrics") if name in options}
    with LocalExecutor(Workspace(tmp_path / folder), workers=0, **options) as executor:
        found = score(executor, items, root=tmp_path / "data", methods=methods, **{"protocol": NAME} | chosen)
    return {method: outcome.records for method, outcome in found.items()}


class Waiting(Alone):
    """Measures an item only once the truth of the next one has been read."""

    read: ClassVar[dict[str, threading.Event]] = {}

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        following = f"truth {int(view.item_id[-1]) + 1}.mp4"
        if following in Waiting.read:
            assert Waiting.read[following].wait(60)
        return super().measure(view)


@pytest.mark.parametrize("count", [1, 2])
def test_each_file_is_decoded_once_and_before_the_item_ahead_of_it_is_measured(
    tmp_path: Path, items: Dataset, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "marks", "probe_alone", "probe_together")
    monkeypatch.setattr("scoring_probes.Alone", Waiting)
    monkeypatch.setattr(Waiting, "read", {f"truth {place}.mp4": threading.Event() for place in range(3)})
    decoded: Counter[str] = Counter()

    def read_frames(path: Path, read: Any = video.read_frames) -> Frames:
        frames: Frames = read(path)
        decoded[path.name] += 1
        if path.name in Waiting.read:
            Waiting.read[path.name].set()
        return frames

    monkeypatch.setattr(video, "read_frames", read_frames)
    rows = run(tmp_path, "run", items, made(tmp_path / "run", items, count=count))
    assert all(row.value is not None for found in rows.values() for row in found)
    assert [decoded.pop(name) for name in Waiting.read] == [1] * 3
    assert list(decoded.values()) == [3] * count  # a method's predictions of all items are one and the same file
    assert calls(tmp_path / "marks", "together") == 3
    assert "ahead" not in {thread.name for thread in threading.enumerate()}


def spoilt(folder: Path, items: Dataset) -> list[Predicted]:
    """A method whose files are whole, and one with a damaged, a short and no prediction."""
    whole, other = made(folder, items)
    blobs = Workspace(folder).blobs
    damaged, _ = blobs.put(".mp4", lambda path: path.write_bytes(b"no video"))
    short, _ = blobs.put(".mp4", lambda path: video.write_lossless(path, np.zeros((2, HEIGHT, WIDTH, 3), np.uint8), fps=25.0))
    rows = [Prediction("bright", "1", f"item {place + 1}", blob, False, 0) for place, blob in enumerate((damaged, short))]
    return [whole, Predicted(other.method, rows, {"item 0": "it crashed"})]


@pytest.mark.usefixtures("whole_frames_are_known")
@pytest.mark.parametrize("protocol", ["devil/corrected", "whole/corrected"])
def test_rows_are_the_same_bytes_with_and_without_also_of_what_cannot_be_decoded(
    tmp_path: Path, items: Dataset, protocol: str
) -> None:
    (tmp_path / "data" / "truth 2.mp4").write_bytes(b"no video")
    found = {
        ahead: run(
            tmp_path, folder, items, spoilt(tmp_path / folder, items), ahead=ahead, protocol=protocol, metrics=["psnr", "mse"]
        )
        for ahead, folder in ((True, "run True"), (False, "run False"))
    }
    assert found[True] == found[False]
    tables = [{name: of for name, of in contents(tmp_path / f"run {ahead}").items() if "tables" in name} for ahead in found]
    assert tables[0] == tables[1]
    assert len(tables[0]) >= 2
    reasons = {(row.method, row.item_id): str(row.reason) for rows in found[True].values() for row in rows}
    assert reasons["bright", "item 1"].startswith("the prediction of item 'item 1' cannot be read")
    assert reasons["dark", "item 2"].startswith("cannot be opened as video")
    assert reasons["dark", "item 1"] == "None"


@pytest.mark.parametrize(
    ("held", "limit", "metric", "taken"),
    [
        (3, resource.RLIM_INFINITY, "probe_alone", True),
        (2, resource.RLIM_INFINITY, "probe_alone", False),
        (9, 24, "probe_alone", True),
        (9, 23, "probe_alone", False),
        (3, resource.RLIM_INFINITY, "probe_weighted", False),
    ],
)
def test_nothing_is_decoded_ahead_where_it_would_take_too_much_memory(
    tmp_path: Path, items: Dataset, held: int, limit: int, metric: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in clips: truth and two composites are three; an eighth of what a process may have is free for them.

    Beside networks on the processor there is less room.
    """
    if metric == "probe_weighted":
        pytest.importorskip("torch")
    install(monkeypatch, tmp_path / "marks", metric)
    clip = FRAMES * HEIGHT * WIDTH * 3
    monkeypatch.setattr(score_item, "_AHEAD_BYTES", held * clip)
    monkeypatch.setattr(score_item, "_AHEAD_BYTES_BESIDE_NETWORKS", (held - 1) * clip)
    given = limit if limit == resource.RLIM_INFINITY else limit * clip
    monkeypatch.setattr(resource, "getrlimit", lambda _: (given, given))
    blobs = Workspace(tmp_path / "run").blobs
    payload = {"root": str(tmp_path / "data"), "row": items.items[0], "compute": {"device": "cpu"}}
    jobs = [
        ({**payload, "blob": one.predictions[0].blob}, {"protocol": NAME, "metrics": [metric]})
        for one in made(tmp_path / "run", items)
    ]
    views = decode_ahead(jobs, blobs=blobs)
    assert (views is not None) == taken
    if views:
        assert [float(view.composite[:, 10:30, 20:50].mean()) for view in views if isinstance(view, ItemView)] == [10, 200]
