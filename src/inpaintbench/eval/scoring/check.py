"""Try a method on a clip that is made for it and on one real item, before anything is predicted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen
from inpaintbench.eval.adapters import checking
from inpaintbench.eval.adapters.checking import MADE, Checked, Finding
from inpaintbench.eval.adapters.fitting import ceiling_db
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.predict import MethodSpec, build, content_of_item, labelled, logged, padded_view
from inpaintbench.eval.scoring.run_folder import remember_settings
from inpaintbench.executors.base import Rejection, Step, Task
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.pages.words import count
from inpaintbench.steps import check_step
from inpaintbench.types import Dataset, Hole, Plain, Prompts, content_id
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs

VERSION = "2"
# Calls that a method gets for each clip.
_CALLS = 2
_PROMPTS = Prompts("a panning texture", "a panning texture in other colours", "give the texture other colours")
# Leaves that pass on what is not of this package; the others are tried by its tests.
_BROUGHT = ("python_callable", "command", "http_endpoint", "saved_folder")
# How workers and programs say that a limit stopped them.
_TOO_LONG = re.compile(r"took longer than [\d.e+]+ s and was stopped")


class Verdict(NamedTuple):
    """What the check of a method came to."""

    findings: list[Finding]
    clips: list[Checked]
    """Those on which it gave a result."""
    untried: list[Rejection]
    """Those on which it gave none, and why."""

    @property
    def timed_out(self) -> bool:
        """Whether it gave no result at all, and time ran out."""
        return not self.clips and any(_TOO_LONG.search(one.reason) for one in self.untried)


def is_brought(method: MethodSpec) -> bool:
    """Return whether what a method does is not of this package, so that a run begins with a check."""
    return method.leaf in _BROUGHT or not type(build(method)).__module__.startswith("inpaintbench.")


def check(
    executor: LedgeredExecutor,
    method: MethodSpec,
    *,
    time_limit_seconds: float,
    dataset: Dataset | None = None,
    root: Path | str = "",
    among: Collection[str] | None = None,
    oracle_mask: bool = False,
) -> Verdict:
    """Try a method in a worker; the table ``checks`` keeps what came of it.

    Args:
        executor: who does the work.
        method: which method.
        time_limit_seconds: for one call.
        dataset: its first item is tried, and the made clip is for its task; None = the made clip alone.
        root: folder of the dataset.
        among: ids of the items that the first is taken from; None = all.
        oracle_mask: show the hole of a benchmark that hides it.
    """
    leaf = build(method)
    label = method.label if dataset is None else labelled(method.label, dataset, oracle_mask=oracle_mask)
    seconds = _CALLS * time_limit_seconds
    step = Step(
        name=check_step(label),
        version=f"{VERSION}.{leaf.version}",
        table="checks",
        record=Checked,
        function="inpaintbench.eval.scoring.check:check_one",
        parameters={"label": label, "leaf": method.leaf, "constants": dict(method.constants), "oracle_mask": oracle_mask},
        time_limit_seconds=seconds,
    )
    row = None if dataset is None else next(row for row in dataset.items if among is None or row["item_id"] in among)
    tasks = []
    # The made clip asks for what the items do; a texture is no print, so that nothing is made for those.
    kind = ""
    if row is None:
        kind = "edit" if isinstance(leaf, Command) and leaf.layout.task == ("editing",) else "hole"
    elif frozen.is_edit(row):
        kind = "edit"
    elif frozen.has_hole(row):
        kind = "hole" if row["hole_is_given"] or oracle_mask else "text"
    if leaf.computes and kind:
        made = {"kind": kind, "frames": checking.FRAMES if row is None else min(row["frames"], checking.FRAMES)}
        content = content_id(MADE, *made.values(), leaf.content(MADE))
        tasks.append(Task(MADE, content, {"made": made, "seconds": seconds}, f"{label}/{MADE}"))
    if row is not None:
        payload = {"root": str(Path(root).resolve()), "row": dict(row), "seconds": seconds}
        tasks.append(Task(row["item_id"], content_of_item(row, leaf), payload, f"{label}/{row['item_id']}"))
        how = {"time_limit_seconds": time_limit_seconds, "oracle_mask": oracle_mask, "among": [row["item_id"]]}
        told = {"root": payload["root"], "only": None, "method": asdict(method), "how": how}
        remember_settings(executor.workspace, step, told)
    before = executor.only, executor.max_failures
    executor.only = executor.max_failures = None  # the made clip is no item, and no failure of the run
    try:
        outcome = executor.run(step, tasks)
    finally:
        executor.only, executor.max_failures = before
    return Verdict(
        checking.findings(outcome.records, reference=method.reference or leaf.reference), outcome.records, outcome.rejected
    )


def check_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Checked]:
    """Try a method on one clip."""
    leaf = build(MethodSpec(parameters["label"], parameters["leaf"], parameters["constants"]))
    clip: Callable[[], tuple[ItemView, Hole | None]]
    if made := payload.get("made"):
        clip, item_id = partial(made_view, made["kind"], made["frames"]), MADE
    else:
        root, row, item_id = payload["root"], payload["row"], payload["row"]["item_id"]

        def of_item() -> tuple[ItemView, Hole | None]:
            view = frozen.input_view(root, row, oracle_mask=parameters["oracle_mask"])
            if frozen.is_edit(row) or not frozen.has_hole(row):
                return view, None
            return view, view.hole if view.has("hole") else frozen.hole_of(root, row)

        clip = of_item
    with logged(leaf, blobs, label=parameters["label"], item_id=item_id, seconds=payload["seconds"]):
        return [replace(tried(leaf, clip), method=parameters["label"])]


def made_view(kind: str, frames: int = checking.FRAMES) -> tuple[ItemView, Hole | None]:
    """The made clip as a method sees it, and the hole around which pixels have to stay; None = none has to.

    Args:
        kind: ``hole``; ``text``, burnt in where the method is told nothing of it; or ``edit``, with prompts and an object.
        frames: of the clip.
    """
    clip, hole = checking.made_clip(frames, text=kind != "hole")
    parts: dict[str, Any] = {"input": clip}
    if kind == "hole":
        parts["hole"] = hole
    elif kind == "edit":
        parts |= {"object_mask": hole, "prompts": _PROMPTS}
    return ItemView.of_arrays(item_id=MADE, fps=24.0, **parts), None if kind == "edit" else hole


def tried(leaf: Any, clip: Callable[[], tuple[ItemView, Hole | None]]) -> Checked:
    """Call a method twice on what ``clip`` gives anew, as it stands for ``made_view``, and look at what comes back.

    Raises:
        NotMeasurable, or whatever the method raises.
    """
    view, hole = clip()
    shape = f"{count(view.frames, 'frame')} of {view.width}x{view.height}"
    words = f"a made clip, {shape}" if view.item_id == MADE else f"item {view.item_id}, {shape}"
    told = Checked(leaf.name, view.item_id, words, hole_given=view.has("hole"), keeps=hole is not None)
    padded, padding = padded_view(leaf, view)
    del view  # each clip less counts, where they are large
    before = _digest(padded.input)
    made = np.asarray(leaf.inpaint(padded))
    if leaf.any_size and made.shape != padded.input.shape:  # the protocol says what becomes of it
        return told
    after = _digest(padded.input if leaf.given is None else leaf.given)
    padded, _ = padded_view(leaf, clip()[0])  # the first input may have been written into
    form_db = ceiling_db(padded.input, leaf.lossy) if leaf.lossy else None
    known = None if hole is None else padding.pad(hole)
    found = checking.looked_at(padded.input, made, known, value_range=leaf.value_range, form_db=form_db)
    shown, excluded, known_db = found
    if after != before:
        shown[checking.IN_PLACE] = "changes the frames that it is given in place"
    if not shown.keys() & {checking.SIZE, checking.RANGE}:
        first, digest = checking.kept_frames(made), _digest(made)
        del made  # a clip less in memory while the next one is made
        again = np.asarray(leaf.inpaint(padded))
        if _digest(again) != digest:
            other = checking.other_result(first, checking.kept_frames(again), leaf.value_range)
            shown |= {} if other is None else {checking.SECOND: other}
    return replace(told, mistakes=shown, excluded=dict.fromkeys(sorted(excluded), True), known_db=known_db)


def _digest(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
