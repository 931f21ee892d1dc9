"""Small originals, edits of them and masks on disk, lists of them, and scores in one go."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from tests.eval.metrics.editboard import flickering, moving

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Frames
from inpaintbench.wings.editboard.checking import Checked, Finding, check, needed
from inpaintbench.wings.editboard.media import look, read_manifest
from inpaintbench.wings.editboard.scoring import Measuring, Scored
from inpaintbench.workspace import Workspace

FIDELITY = ("ff_alpha", "ff_beta", "semantic_score")
PUBLISHED = "editboard/as-published"
Line = Mapping[str, object]


def write_frames(folder: Path, frames: np.ndarray, *, name: Callable[[int], str] = "{:05d}.png".format) -> Path:
    folder.mkdir(parents=True)
    for place, frame in enumerate(frames):
        video.write_image(folder / name(place), frame)
    return folder


def original(*, frames: int = 4, height: int = 48, width: int = 64, right: int = 1) -> Frames:
    return moving(frames=frames, height=height, width=width, right=right)


def square_mask(*, frames: int = 4, height: int = 48, width: int = 64) -> np.ndarray:
    mask = np.zeros((frames, height, width, 3), np.uint8)
    mask[:, 10:30, 20:40] = 255
    mask[:, 9, 20:40] = 3  # a soft edge
    return mask


def world(folder: Path) -> list[dict[str, object]]:
    """Two originals with masks, and five edits by two models."""
    lines: list[dict[str, object]] = []
    for name, speed in (("fox", 1), ("ship", 2)):
        source = original(right=speed)
        write_frames(folder / name, source)
        write_frames(folder / f"{name}_mask", square_mask())
        for model, amplitude in (("calm", 4), ("wild", 40)):
            if (name, model) == ("ship", "calm"):
                continue
            write_frames(folder / model / name, flickering(source, amplitude=amplitude))
            for task, target in (("SOSA", "a white one"), ("SE", "an oil painting")):
                if (model, name, task) != ("wild", "ship", "SE"):
                    lines.append(line(model, name, task=task, target_prompt=target))
    return lines


def line(model: str, name: str, **cells: object) -> dict[str, object]:
    return {
        "model": model, "id": f"{name}-{cells.get('task')}", "original_video_path": name, "edited_video_path": f"{model}/{name}",
        "semantic_mask_path": f"{name}_mask", "source_prompt": "a brown one", "target_prompt": "a white one", **cells,
    }  # fmt: skip


def write_list(folder: Path, lines: Sequence[Line], *, name: str = "items.csv") -> Path:
    columns = list(dict.fromkeys(column for cells in lines for column in cells))
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(lines)
    return folder / name


def checked(
    executor: LocalExecutor, manifest: Path, *, metrics: Sequence[str] = FIDELITY, side: int | None = None
) -> tuple[list[Checked], list[Finding]]:
    listed = read_manifest(manifest)
    assert not listed.faults
    looked = look(executor, [one for edit in listed.edits for one in needed(edit, metrics)], folder=listed.folder)
    return check(listed.edits, looked, metrics=metrics, side_pixels=side, published=True)


def scored(
    workspace: Path, manifest: Path, *, workers: int = 0, metrics: Sequence[str] = FIDELITY, protocol: str = PUBLISHED,
    side: int | None = None, progress: Callable[[str, int, int], None] | None = None,
) -> Scored:  # fmt: skip
    with LocalExecutor(Workspace(workspace), workers=workers, progress=progress) as executor:
        found, _ = checked(executor, manifest, metrics=metrics, side=side)
        return Measuring(PROTOCOLS.get(protocol), metrics, Compute(device="cpu"), side).score(executor, found)


def values(found: Scored) -> dict[tuple[str, str, str], float | None]:
    return {(row.method, row.item_id, row.metric): row.value for row in found.rows}


def measured(workspace: Path) -> int:
    """How many edits were ever measured there."""
    ledgers = (workspace / "ledger").glob("score.*")
    return sum(bool(line) for path in ledgers for line in path.read_text().splitlines())
