"""Run a method over a frozen dataset: one prediction an item, its hole pixels kept without loss."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import inpaintbench
from inpaintbench import frozen, video
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.exchange import Shape
from inpaintbench.eval.adapters.fitting import Padding, ceiling_db, to_levels
from inpaintbench.eval.adapters.layouts import Task as ItemTask
from inpaintbench.eval.adapters.parts import Parts
from inpaintbench.eval.adapters.starting import card_peak_mebibytes, forget_card_peak, machine, words_kept
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.effort import APART, STATELESS, UNWATCHED, Repeat, groups_of, kept, to_repeat, to_repeat_apart
from inpaintbench.eval.scoring.run_folder import BETWEEN, OPTION, REFERENCE, TASK, remember, remember_settings
from inpaintbench.executors.base import Executor, Outcome, Step, Tasks, state_cost
from inpaintbench.executors.base import Task as StepTask
from inpaintbench.lazily import lazily
from inpaintbench.manifest import column, mapping_of
from inpaintbench.steps import predict_step, repeat_step
from inpaintbench.types import Dataset, Frames, Hole, Plain, Prediction, canonical_json, content_id
from inpaintbench.view import ItemView, composite_in_place
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

VERSION = "1"
# Folder of a run with what programs said, a file for each method and item.
LOGS = "logs/methods"
# Folder of a run with what programs finished of items that they did not finish.
PARTS = "partial"
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
    remarks: Sequence[str] = (),
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
        remarks: sentences that stand beside its scores.

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
    groups = groups_of(dataset, leaf)
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
        apart=any(groups),
    )
    folder = str(Path(root).resolve())
    columns = (column(dataset, name) for name in _CONTENT)
    facts = [dict(zip(_CONTENT, values, strict=True)) for values in zip(*columns, strict=True)]
    for row, told in zip(facts, column(dataset, "attributes") if "prompts" in leaf.uses else (), strict=False):
        row["attributes"] = mapping_of(told) if isinstance(told, str) else told or {}
    ids = [row["item_id"] for row in facts]
    tasks = Tasks(
        pa.array(ids),
        # What a process made that had seen others of the clip does not stand.
        pa.array([f"{content_of_item(row, leaf)}{'.apart' * bool(group)}" for row, group in zip(facts, groups, strict=True)]),
        lambda place: {"root": folder, "row": dict(dataset.items[place]), "seconds": time_limit_seconds},
        pa.array([f"{label}/{item_id}" for item_id in ids]),
        groups,
        # A process that may see items of one clip one after the other decodes it once.
        None if any(groups) else [row["truth_rgb_sha256"] for row in facts],
    )
    remember(executor.workspace, label, REFERENCE, method.reference or leaf.reference)
    remember(executor.workspace, label, OPTION, option_of(method) + " --oracle-mask" * (label != method.label))
    # Of every item what decides how it is handed to a program.
    names = ("width", "height", "frames", "input_file_name", "hole_file_name")
    captioned = (bool(row.get("attributes", {}).get("caption")) for row in facts)
    shapes = [
        Shape(width, height, frames, blanked=bool(hole) and not stored, captioned=told)
        for width, height, frames, stored, hole, told in zip(*(column(dataset, name) for name in names), captioned, strict=True)
    ]
    task: ItemTask = "removal" if dataset.recipe.get("recipe") == "removal" else "inpainting"
    told = [*leaf.departures(shapes, task="editing" if frozen.is_edit(dataset.items[0]) else task), *remarks]
    remember(executor.workspace, label, TASK, list(dict.fromkeys(told)) or None)
    how = {"keep_full_frames": keep_full_frames, "oracle_mask": oracle_mask, "time_limit_seconds": time_limit_seconds}
    only = None if executor.only is None else sorted(executor.only)
    settings = {"root": folder, "only": only, "method": asdict(method), "how": how, "remarks": list(remarks)}
    remember_settings(executor.workspace, step, settings)
    outcome = executor.run(step, tasks)
    remember(executor.workspace, label, BETWEEN, _between_items(executor, dataset, leaf, step, tasks, outcome))
    return outcome


def _between_items(executor: Executor, dataset: Dataset, leaf: Any, step: Step, tasks: Tasks, outcome: Outcome) -> str:
    """What the method may have kept of an item for another: one of ``BETWEEN_ITEMS``. Methods of the user's own are tried."""
    if leaf.unwatched:
        return UNWATCHED
    says = leaf.stateless and leaf.name != "command"  # a program begins anew with each item, but may write down what it saw
    if says and type(leaf).stateless and type(leaf).__module__.startswith(f"{inpaintbench.__name__}."):
        return STATELESS
    made = outcome.columns("item_id", "blob")
    blobs = dict(zip(made["item_id"].to_pylist(), made["blob"].to_pylist(), strict=True))
    chosen = to_repeat(dataset, blobs) if says else to_repeat_apart(dataset, blobs)
    clean = STATELESS if says else APART
    if not (says or chosen):
        return clean
    again = replace(
        step,
        name=repeat_step(step.parameters["label"]),
        version=f"2.{step.version}",
        table="repeats",
        record=Repeat,
        function=f"{__name__}:repeat",
        time_limit_seconds=2 * sum(map(len, chosen[:1])) * step.time_limit_seconds,
        apart=True,
    )
    # What was written down of other items may have come since.
    after = () if says else sorted(blobs.values())
    repeated = []
    for places in chosen:
        some = [tasks[place] for place in places]  # made again in their order
        before = [blobs[task.payload["row"]["item_id"]] for task in some]
        payload = {**some[0].payload, "rows": [task.payload["row"] for task in some], "blobs": before}
        content = content_id(*(task.content for task in some), *before, *after)
        repeated.append(StepTask(some[-1].subject_id, content, payload, some[-1].name, some[-1].group))

    def once_more(number: int) -> Sequence[Repeat]:
        return executor.run(replace(again, name=repeat_step(step.parameters["label"], number=number)), repeated).records

    only, executor.only = executor.only, None  # what is tried tells of all that there is, whichever items this call is for
    try:
        found = executor.run(again, repeated)
        return kept(found.records, failed=bool(found.rejected), clean=clean, once_more=once_more)
    finally:
        executor.only = only


# Constants of programs that are options of their own.
_NOT_OF_A_PRESET = ("layout", "folder", "time_limit_seconds")


def option_of(method: MethodSpec) -> str:
    """The option of `eval run` that asks for a method, for a shell; folders, files and programs are left to fill in."""
    preset = method.constants.get("layout") if method.leaf == "command" and "command" not in method.constants else None
    if preset is not None:
        own = (f"{key}={_constant(key, value)}" for key, value in method.constants.items() if key not in _NOT_OF_A_PRESET)
        text = ",".join([str(preset), *own])
        return f"--method {shlex.quote(text if method.label == preset else f'{method.label}={text}')} --program FOLDER"
    if method.leaf in ("saved_folder", "command"):
        option, value = ("--saved", "FOLDER") if method.leaf == "saved_folder" else ("--method", "PROGRAM")
        return f"{option} {shlex.quote(method.label)}={value}"
    address = method.constants.get("address") if method.leaf == "python_callable" else None
    constants = dict(method.constants)
    if address is not None:
        del constants["address"]
        constants = {**constants.pop("arguments", {}), **constants}
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


def content_of_item(row: Plain, leaf: Any) -> str:
    """Identity of all that a method's result on an item depends on besides its constants."""
    # A leaf that reads files of its own says when they change.
    files = leaf.content(row["item_id"])
    more = [row["object_mask_sha256"]] if row.get("object_mask_sha256") else []
    if "prompts" in leaf.uses:
        more += [told for name in ("caption", "caption_hole") if (told := row.get("attributes", {}).get(name))]
    return content_id(row["item_id"], row["truth_rgb_sha256"], row["hole_sha256"], row["input_sha256"], row["fill"], files, *more)


def predict_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Prediction]:
    """Pad, run, crop back, keep the hole pixels."""
    leaf = build(MethodSpec(parameters["label"], parameters["leaf"], parameters["constants"]))
    row = payload["row"]
    view = frozen.input_view(payload["root"], row, oracle_mask=parameters["oracle_mask"])
    if leaf.name == "command":  # more time changes no frame
        of = {**parameters, "constants": {**parameters["constants"], "time_limit_seconds": None}, "keep_full_frames": None}
        key = content_id(content_of_item(row, leaf), leaf.version, canonical_json(of))
        leaf.parts = Parts(blobs.beside(PARTS) / parameters["label"] / row["item_id"], key)
    forget_card_peak()
    begun = time.perf_counter()
    with logged(leaf, blobs, label=parameters["label"], item_id=row["item_id"], seconds=payload["seconds"]):
        frames = run(leaf, view)
    if leaf.computes:
        took = {"seconds": time.perf_counter() - begun, "card_mebibytes": card_peak_mebibytes()}
        state_cost(**(took if leaf.usage is None else leaf.usage._asdict()), machine=machine())
    hole = view.hole if view.has("hole") else frozen.hole_of(payload["root"], row)
    change, known_db = _outside(frames, view.input, hole) if frames.shape == view.input.shape else (0, None)
    stored = frames if parameters["keep_full_frames"] else on_black(frames, hole)
    suffix = video.suffix_for(row["frames"])
    blob, _ = blobs.put(suffix, partial(video.write_lossless, frames=stored, fps=row["fps"]))
    if leaf.parts is not None:
        leaf.parts.forget()
    form_db = ceiling_db(view.input, leaf.lossy) if leaf.lossy else None
    return [
        Prediction(
            method=parameters["label"], method_version=leaf.version, item_id=row["item_id"], blob=blob,
            full_frames=parameters["keep_full_frames"], largest_change_outside=change, ceiling_db=form_db, known_db=known_db,
        )
    ]  # fmt: skip


def repeat(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Repeat]:
    """Make the predictions of ``payload["rows"]`` again, in that order, and compare them with those of before."""
    leaf = build(MethodSpec(parameters["label"], parameters["leaf"], parameters["constants"]))

    def made(row: Plain) -> Frames:
        # Of its own: other items are made again by other processes at the same time, and a log with nothing in it is removed.
        leaf.log = blobs.beside(LOGS) / parameters["label"] / f"{row['item_id']}.again.txt"
        view = frozen.input_view(payload["root"], row, oracle_mask=parameters["oracle_mask"])
        with words_kept(leaf.log, heading=leaf.heading, seconds=_BEFORE_THE_END * payload["seconds"]):
            frames = run(leaf, view)
        whole = parameters["keep_full_frames"]
        return frames if whole else on_black(frames, view.hole if view.has("hole") else frozen.hole_of(payload["root"], row))

    found = []
    for row, blob in zip(payload["rows"], payload["blobs"], strict=True):
        second = made(row)
        change = _most_apart(second, video.read_frames(blobs.proved(blob, of=f"the prediction of item {row['item_id']!r}: ")))
        at_once = _most_apart(second, made(row)) if change else 0
        digest = hashlib.sha256(np.ascontiguousarray(second).data).hexdigest()
        found.append(Repeat(parameters["label"], row["item_id"], change, at_once, digest))
    return found


def _most_apart(one: Frames, other: Frames) -> int:
    """Largest difference of two films, 0..255; 255 where they are not of one size."""
    if one.shape != other.shape:
        return 255
    return max(int(cv2.norm(picture, beside, cv2.NORM_INF)) for picture, beside in zip(one, other, strict=True))


@contextmanager
def logged(leaf: Any, blobs: Blobs, *, label: str, item_id: str, seconds: float) -> Iterator[None]:
    """Keep what a method says while the block runs it on an item, in its log, which an error then names.

    Args:
        leaf: the method.
        blobs: those of the run folder.
        label: of the method.
        item_id: of the item.
        seconds: its limit, before the end of which the log is told where the block is at.
    """
    leaf.log = blobs.beside(LOGS) / label / f"{item_id}.txt"
    leaf.log.unlink(missing_ok=True)  # of an earlier try
    try:
        with words_kept(leaf.log, heading=leaf.heading, seconds=_BEFORE_THE_END * seconds):
            yield
    except (Exception, SystemExit) as error:
        if leaf.log.exists():
            error.add_note(f"log: {leaf.log.relative_to(blobs.beside('.'))}")
        raise


def run(leaf: Any, view: ItemView) -> Frames:
    """One method on one item: symmetric padding to the method's divisor around it, and a check of what comes back.

    Raises:
        InputError: frames of another shape or type than the input's, unless the method may give another size, or states the range
            of its floats.
    """
    padded, padding = padded_view(leaf, view)
    frames = leaf.inpaint(padded)
    if frames.shape != padded.input.shape and not leaf.any_size:
        raise InputError(f"the method gave {frames.dtype}{frames.shape}, wanted uint8{padded.input.shape}")
    cropped: Frames = padding.crop(to_levels(frames, leaf.value_range))
    return cropped


def padded_view(leaf: Any, view: ItemView) -> tuple[ItemView, Padding]:
    """The item as a method sees it: what it needs and uses, padded to its divisor; and that padding."""
    padding, wanted = Padding.of(view.height, view.width, leaf.divisor), (*leaf.needs, *leaf.uses)
    parts: dict[str, Any] = {
        name: padding.pad(getattr(view, name)) for name in ("hole", "object_mask") if name in wanted and view.has(name)
    }
    if view.has("prompts"):
        parts["prompts"] = view.prompts
    padded = ItemView.of_arrays(item_id=view.item_id, fps=view.fps, input=padding.pad(view.input), **parts)
    return padded.declaring(leaf.name, wanted), padding


def on_black(frames: Frames, hole: Hole) -> Frames:
    """Hole pixels of ``frames``, everything else 0, which is written into ``frames`` where it can be."""
    black = np.zeros(frames.shape[1:], np.uint8)
    return composite_in_place([black] * len(frames), hole, frames)


def _outside(frames: Frames, before: Frames, hole: Hole) -> tuple[int, float | None]:
    """The largest change of a known pixel, 0..255, and the PSNR of known pixels in dB; None where none changed."""
    known = (~hole).view(np.uint8)
    largest, squares = 0.0, 0.0
    for picture, other, where in zip(frames, before, known, strict=True):
        change = cv2.absdiff(picture, other)
        largest = max(largest, cv2.norm(change, cv2.NORM_INF, mask=where))
        squares += cv2.norm(change, cv2.NORM_L2SQR, mask=where)
    if not squares:
        return 0, None
    return int(largest), round(10 * math.log10(255**2 * 3 * int(known.sum()) / squares), 3)
