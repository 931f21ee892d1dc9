"""Small datasets and runs that studies can be made of, and what their players should show."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from old_format import one_file, write_fields
from skimage import data

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.pictures import laid
from inpaintbench.annotate.study import Proxy, StudyFile, parse_study
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Frames, Prediction
from inpaintbench.workspace import Workspace

METHODS = ("blank", "telea", "temporal_median")


def few_items(benchmark: Path, folder: Path, *, sources: int = 2, each: int = 2) -> Path:
    """A copy of the small benchmark's dataset with ``each`` items of ``sources`` sources."""
    root = Path(shutil.copytree(benchmark / "exports" / "devil", folder))
    fields = one_file(root)
    of_source: dict[str, list[dict[str, Any]]] = {}
    for row in fields["items"]:
        of_source.setdefault(row["source_uri"], []).append(row)
    enough = [rows[:each] for _, rows in sorted(of_source.items()) if len(rows) >= each]
    fields["items"] = [row for rows in enough[:sources] for row in rows]
    assert len(fields["items"]) == sources * each
    left = {row["item_id"] for row in fields["items"]}
    for part in fields["slices"]:
        part["item_ids"] = [item_id for item_id in part["item_ids"] if item_id in left]
    write_fields(root, fields)
    return root


def predicted(root: Path, run: Path, methods: Sequence[str] = METHODS, *, items: int | None = None, full: bool = False) -> Path:
    """A run folder with what ``methods`` make of the first ``items`` of a dataset."""
    dataset = frozen.load(root)
    with LocalExecutor(Workspace(run), workers=0) as executor:
        for name in methods:
            part = replace(dataset, items=dataset.items[:items])
            outcome = predict(executor, part, root=root, method=MethodSpec(name, name), keep_full_frames=full)
            assert not outcome.rejected, outcome.rejected
    return run


def pictures(folder: Path) -> Path:
    """A dataset of two pictures of odd sizes: one with a hole, one that is degraded everywhere and so has none."""
    folder.mkdir()
    rows = []
    for name, truth in (("coffee", data.coffee()[:75, :101]), ("chelsea", data.chelsea()[60:141, 100:191])):
        height, width = truth.shape[:2]
        hole = np.zeros((1, height, width), bool)
        hole[:, 20:50, 30:64] = True
        has_hole = name == "coffee"
        video.write_lossless(folder / f"{name}.png", truth[None], fps=1.0)
        if has_hole:
            video.write_hole(folder / f"{name} hole.png", hole, fps=1.0)
        else:
            video.write_lossless(folder / f"{name} input.png", truth[None] // 2, fps=1.0)
        rows.append(
            {
                "item_id": f"item-{name}", "clip_id": name, "source_id": f"source-{name}", "source_uri": f"{name}%20photo.png",
                "start_frame": 0, "end_frame": 1, "frames": 1, "height": height, "width": width, "fps": 1.0, "fill": 0,
                "truth_file_name": f"{name}.png", "truth_rgb_sha256": name, "truth_yuv_sha256": name, "split": "test",
                "hole_file_name": f"{name} hole.png" if has_hole else None, "hole_sha256": name if has_hole else None,
                "input_file_name": None if has_hole else f"{name} input.png", "input_sha256": None if has_hole else name,
                "hole_is_given": has_hole, "attributes": {},
            }
        )  # fmt: skip
    fields = {
        "name": "pictures", "recipe": {}, "items": rows, "slices": [], "left_out": {}, "files": {}, "versions": {},
        "format_version": 3,
    }  # fmt: skip
    write_fields(folder, fields)
    return folder


def run_by_hand(run: Path, made: dict[tuple[str, str], Frames], *, full: bool) -> Path:
    """A run folder with predictions (method, item id) -> frames, as they are."""
    workspace = Workspace(run)
    with workspace.locked():
        for method in sorted({method for method, _ in made}):
            rows = []
            for item_id, frames in ((item_id, frames) for (of, item_id), frames in made.items() if of == method):
                suffix = video.suffix_for(len(frames))
                blob, _ = workspace.blobs.put(suffix, lambda path, frames=frames: video.write_lossless(path, frames, fps=25.0))
                rows.append(Prediction(method, "1", item_id, blob, full, 0))
            workspace.write_table("predictions", f"predict.{method}", rows, Prediction)
    return run


def study_file(folder: Path, questions: Sequence[dict[str, Any]], **fields: Any) -> StudyFile:
    """A study whose paths are relative to ``folder``."""
    return parse_study({"title": "A study", "questions": list(questions), **fields}, where="study.toml", folder=folder)


def tiles(study_folder: Path, proxy: Proxy) -> dict[tuple[str, str | None], Frames]:
    """What the players of a proxy show: (role, candidate) -> frames."""
    frames = np.stack([laid(frame, proxy.tiles) for frame in video.read_frames(study_folder / "proxies" / proxy.name)])
    assert frames.shape == (proxy.frames, proxy.height, proxy.width, 3)
    return {
        (tile.role, tile.candidate): frames[:, tile.y : tile.y + tile.height, tile.x : tile.x + tile.width]
        for tile in proxy.tiles
    }


def psnr_db(one: Frames, other: Frames) -> float:
    """Over all values; infinite for equal frames."""
    assert one.shape == other.shape
    error = np.mean((one.astype(float) - other.astype(float)) ** 2)
    return float("inf") if error == 0 else float(10 * np.log10(255**2 / error))
