"""Run a method over a frozen dataset: one prediction an item, its hole pixels kept without loss."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import frozen, video
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.departures import Shape
from inpaintbench.eval.adapters.layouts import Task
from inpaintbench.eval.adapters.lossy import ceiling_db
from inpaintbench.eval.adapters.said import words_kept
from inpaintbench.eval.adapters.usage import card_peak_mebibytes, forget_card_peak, machine
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.fitting import Padding
from inpaintbench.eval.scoring.run_state import remember_option, remember_reference, remember_task
from inpaintbench.executors.base import Executor, Outcome, Step, Tasks
from inpaintbench.executors.performing import state_cost
from inpaintbench.manifest import column
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Frames, Hole, Plain, Prediction, canonical_json, content_id
from inpaintbench.view import ItemView, composite_in_place
from inpaintbench.workspace import Blobs

VERSION = "1"
# Folder of a run with what programs said, a file for each method and item.
LOGS = "logs/methods"
# Share of the time for an item after which a callable's log is told where it is at.
_BEFORE_THE_END = 0.9
# For one item of a method that no other limit is given.
SECONDS = 3600.0


@dataclass(frozen=True)
class MethodSpec:
    """A method leaf with its constants, and the label its scores carry."""

    label: str
    leaf: str
    constants: Plain = field(default_factory=dict)
    reference: bool = False
    """True when it is a floor that never competes, as leaves say of themselves with ``reference = True``."""


def predict(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    method: MethodSpec,
    keep_full_frames: bool = False,
    oracle_mask: bool = False,
    time_limit_seconds: float = SECONDS,
) -> Outcome:
    """Predict every item into the table ``predictions``; a failed item is a row of ``rejected``.

    Args:
        executor: who does the work; its workspace keeps the predictions.
        dataset: the frozen dataset.
        root: its folder.
        method: which method.
        keep_full_frames: store whole frames, for methods judged on what they do outside the hole. Benchmarks that hide the
            hole, or have objects with side effects, judge all of them so.
        oracle_mask: show the hole of a benchmark that hides it; the label then ends in ``+oracle-mask``.
        time_limit_seconds: for one item.

    Raises:
        UnknownNameError: no such method.
        InputError: a label that cannot be a file name, constants that the method does not take, or a method that needs a hole
            where the benchmark gives none.
    """
    if not method.label or any(letter in method.label for letter in "/\\\0") or method.label.startswith("."):
        raise InputError(f"method label {method.label!r} cannot be a file name; use letters, digits, - and _")
    leaf = build(method)
    label, hidden = labelled(method.label, dataset, oracle_mask=oracle_mask), not dataset.items[0]["hole_is_given"]
    if reason := why_not(method, dataset, oracle_mask=oracle_mask):
        raise InputError(reason)
    step = Step(
        name=predict_step(label),
        version=f"{VERSION}.{leaf.version}",
        table="predictions",
        record=Prediction,
        function="inpaintbench.eval.scoring.predict:predict_one",
        parameters={
            "label": label,
            "leaf": method.leaf,
            "constants": dict(method.constants),
            "keep_full_frames": keep_full_frames or hidden or benchmark_of(dataset).whole_frames,
            "oracle_mask": oracle_mask,
        },
        time_limit_seconds=time_limit_seconds,
    )
    folder = str(Path(root).resolve())
    columns = (column(dataset, name) for name in _CONTENT)
    facts = [dict(zip(_CONTENT, values, strict=True)) for values in zip(*columns, strict=True)]
    ids = [row["item_id"] for row in facts]
    tasks = Tasks(
        pa.array(ids),
        pa.array([_content(row, leaf) for row in facts]),
        lambda place: {"root": folder, "row": dict(dataset.items[place]), "seconds": time_limit_seconds},
        pa.array([f"{label}/{item_id}" for item_id in ids]),
    )
    remember_reference(executor.workspace, label, reference=method.reference or leaf.reference)
    remember_option(executor.workspace, label, option_of(method) + " --oracle-mask" * (label != method.label))
    remember_task(executor.workspace, label, leaf.departures(_shapes(dataset), task=_task_of(dataset)))
    return executor.run(step, tasks)


def _task_of(dataset: Dataset) -> Task:
    if frozen.is_edit(dataset.items[0]):
        return "editing"
    return "removal" if dataset.recipe.get("recipe") == "removal" else "inpainting"


def _shapes(dataset: Dataset) -> Iterator[Shape]:
    """Of every item what decides how it is handed to a program."""
    names = ("width", "height", "frames", "input_file_name", "hole_file_name")
    for width, height, frames, stored, hole in zip(*(column(dataset, name) for name in names), strict=True):
        yield Shape(width, height, frames, blanked=bool(hole) and not stored)


# Constants of programs that are options of their own.
_NOT_OF_A_PRESET = ("layout", "folder", "time_limit_seconds")


def option_of(method: MethodSpec) -> str:
    """The option of `eval predict` that asks for a method, for a shell; folders, files and programs are left to fill in."""
    preset = method.constants.get("layout") if method.leaf == "command" and "command" not in method.constants else None
    if preset is not None:
        own = (f"{key}={_constant(key, value)}" for key, value in method.constants.items() if key not in _NOT_OF_A_PRESET)
        text = ",".join([str(preset), *own])
        return f"--method {shlex.quote(text if method.label == preset else f'{method.label}={text}')} --program FOLDER"
    if method.leaf in ("saved_folder", "command"):
        option, value = ("--saved", "FOLDER") if method.leaf == "saved_folder" else ("--method", "PROGRAM")
        return f"{option} {shlex.quote(method.label)}={value}"
    address = method.constants.get("address") if method.leaf == "python_callable" else None
    constants = method.constants if address is None else method.constants.get("arguments", {})
    name = method.leaf if address is None else str(address)
    text = ",".join([name, *(f"{key}={_constant(key, value)}" for key, value in constants.items())])
    named = method.label in (name, name.replace(":", "."))
    return f"--method {shlex.quote(text if named else f'{method.label}={text}')}"


def _constant(name: str, value: object) -> str:
    if not isinstance(value, str):
        return canonical_json(value)
    return name.upper() if "/" in value or "\\" in value else value


def why_not(method: MethodSpec, dataset: Dataset, *, oracle_mask: bool) -> str | None:
    """Return why a method cannot run on a benchmark at all, one sentence; None where it can.

    Raises:
        UnknownNameError: no such method. InputError: constants that it does not take.
    """
    if "hole" not in build(method).needs or (dataset.items[0]["hole_is_given"] or oracle_mask):
        return None
    needs = f"method {method.leaf!r} needs the hole, which {dataset.name!r} does not "
    if not any(map(frozen.has_hole, dataset.items)):
        return f"{needs}have: {without_holes(dataset)}"
    return f"{needs}give; `--oracle-mask` gives it, and says so"


def without_holes(dataset: Dataset) -> str:
    """Words for what is done with the items of a benchmark that has no holes."""
    return "its clips are to be edited" if any(map(frozen.is_edit, dataset.items)) else "its pictures are degraded everywhere"


def labelled(label: str, dataset: Dataset, *, oracle_mask: bool) -> str:
    """Label of the scores of a method, which says so where a run is given a hidden hole."""
    return f"{label}+oracle-mask" if oracle_mask and not dataset.items[0]["hole_is_given"] else label


def build(method: MethodSpec) -> Any:
    """The method leaf, ready to run.

    Raises:
        UnknownNameError: no such method.
        InputError: constants that the method does not take.
    """
    leaf = METHODS.get(method.leaf)
    try:
        return leaf(**method.constants)
    except TypeError as error:
        if lacking := re.findall(r"missing \d+ required keyword-only arguments?: (.*)", str(error)):
            names = re.findall(r"'(\w+)'", lacking[0])
            wanted = ",".join(f"{name}=..." for name in names)
            raise InputError(
                f"method {method.leaf!r} needs {' and '.join(names)}: give --method {method.leaf},{wanted}"
            ) from error
        raise InputError(f"method {method.leaf!r} cannot be built with {dict(method.constants)}: {error}") from error


# What a prediction depends on besides its method.
_CONTENT = ("item_id", "truth_rgb_sha256", "hole_sha256", "input_sha256", "fill", "object_mask_sha256")


def _content(row: Plain, leaf: Any) -> str:
    # A leaf that reads files of its own says when they change.
    files = leaf.content(row["item_id"])
    mask = [row["object_mask_sha256"]] if row.get("object_mask_sha256") else []
    return content_id(row["item_id"], row["truth_rgb_sha256"], row["hole_sha256"], row["input_sha256"], row["fill"], files, *mask)


def predict_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Prediction]:
    """Pad, run, crop back, keep the hole pixels."""
    leaf = build(MethodSpec(parameters["label"], parameters["leaf"], parameters["constants"]))
    row = payload["row"]
    view = frozen.input_view(payload["root"], row, oracle_mask=parameters["oracle_mask"])
    leaf.log = blobs.beside(LOGS) / parameters["label"] / f"{row['item_id']}.txt"
    leaf.log.unlink(missing_ok=True)  # of an earlier try
    forget_card_peak()
    begun = time.perf_counter()
    try:
        with words_kept(leaf.log, heading=leaf.heading, seconds=_BEFORE_THE_END * payload["seconds"]):
            frames = run(leaf, view)
    except (Exception, SystemExit) as error:
        if leaf.log.exists():
            error.add_note(f"log: {leaf.log.relative_to(blobs.beside('.'))}")
        raise
    if leaf.computes:
        took = {"seconds": time.perf_counter() - begun, "card_mebibytes": card_peak_mebibytes()}
        state_cost(**(took if leaf.usage is None else leaf.usage._asdict()), machine=machine())
    hole = view.hole if view.has("hole") else frozen.hole_of(payload["root"], row)
    change = _largest_change(frames, view.input, hole) if frames.shape == view.input.shape else 0
    stored = frames if parameters["keep_full_frames"] else on_black(frames, hole)
    suffix = video.suffix_for(row["frames"])
    blob, _ = blobs.put(suffix, partial(video.write_lossless, frames=stored, fps=row["fps"]))
    return [
        Prediction(
            method=parameters["label"],
            method_version=leaf.version,
            item_id=row["item_id"],
            blob=blob,
            full_frames=parameters["keep_full_frames"],
            largest_change_outside=change,
            ceiling_db=ceiling_db(view.input, leaf.lossy) if leaf.lossy else None,
        )
    ]


def run(leaf: Any, view: ItemView) -> Frames:
    """One method on one item: symmetric padding to the method's divisor around it, and a check of what comes back.

    Raises:
        InputError: frames of another shape or type than the input's, unless the method may give another size.
    """
    padding = Padding.of(view.height, view.width, leaf.divisor)
    padded_input, wanted = padding.pad(view.input), (*leaf.needs, *leaf.uses)
    parts: dict[str, Any] = {
        name: padding.pad(getattr(view, name)) for name in ("hole", "object_mask") if name in wanted and view.has(name)
    }
    if view.has("prompts"):
        parts["prompts"] = view.prompts
    padded = ItemView.of_arrays(item_id=view.item_id, fps=view.fps, input=padded_input, **parts)
    frames = leaf.inpaint(padded.declaring(leaf.name, wanted))
    fits = frames.shape == padded_input.shape or leaf.any_size
    if not fits or frames.dtype != np.uint8:
        raise InputError(f"the method gave {frames.dtype}{frames.shape}{_unfit(frames)}, wanted uint8{padded_input.shape}")
    cropped: Frames = padding.crop(frames)
    return cropped


def _unfit(frames: npt.NDArray[Any]) -> str:
    """What else is wrong with numbers that are no levels: those that are none, or their range."""
    if not np.issubdtype(frames.dtype, np.floating) or not frames.size:
        return ""
    wrong = ~np.isfinite(frames)
    if not wrong.any():
        return f" of {frames.min():.3g} to {frames.max():.3g}"
    pixels = wrong.any(axis=-1) if frames.ndim == 4 else wrong
    what = "NaN" if np.isnan(frames[wrong]).all() else "NaN or infinite numbers"
    return f" with {what} in {np.count_nonzero(pixels):,} of {pixels.size:,} pixels"


def on_black(frames: Frames, hole: Hole) -> Frames:
    """Hole pixels of ``frames``, everything else 0, which is written into ``frames`` where it can be."""
    black = np.zeros(frames.shape[1:], np.uint8)
    return composite_in_place([black] * len(frames), hole, frames)


def _largest_change(frames: Frames, before: Frames, hole: Hole) -> int:
    known = (~hole).view(np.uint8)
    pairs = zip(frames, before, known, strict=True)
    return max(int(cv2.norm(cv2.absdiff(picture, other), cv2.NORM_INF, mask=where)) for picture, other, where in pairs)
