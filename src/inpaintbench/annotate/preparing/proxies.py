"""Proxies that browsers play: every picture of a task in one video or image, made beforehand."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice, repeat
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.pictures import Grid, Picture, Shape, frames_of, hole_of, layout, outline, write_sheets
from inpaintbench.annotate.preparing.subjects import StudySubject
from inpaintbench.annotate.study import Proxy, Show, Tile
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError, WorkspaceError
from inpaintbench.executors.base import Executor, Rejection, Step, Task
from inpaintbench.executors.unfinished import stopped
from inpaintbench.steps import predicted_label
from inpaintbench.types import Plain, Prediction, canonical_json, content_id, item_rng
from inpaintbench.video.decoding import Decoder
from inpaintbench.view import composite
from inpaintbench.workspace import Blobs, Workspace, proved_path

# Predictions of runs for the items of a dataset: which can be shown, and why the others cannot.

NOT_PREDICTED = "{method} has no prediction of it"
# File of a run folder that names the dataset its predictions belong to.
_MARKER = "dataset.sha256"
# Seconds to decode one prediction: far above what the longest clips take.
_CHECK_LIMIT_SECONDS = 600.0
# Item id and method label.
Key = tuple[str, str]


@dataclass(frozen=True)
class Candidate:
    """One prediction and its file."""

    prediction: Prediction
    path: str


@dataclass(frozen=True)
class Candidates:
    """The predictions of some methods."""

    methods: tuple[str, ...] = ()
    """Labels, sorted."""
    found: Mapping[Key, Candidate] = field(default_factory=dict)
    failed: Mapping[Key, str] = field(default_factory=dict)
    """Reason why there is none."""

    def why_not(self, item_id: str, methods: Sequence[str]) -> str | None:
        """Return why ``item_id`` cannot be shown by all of ``methods``; None when it can."""
        lacking = [method for method in methods if (item_id, method) not in self.found]
        if not lacking:
            return None
        return self.failed.get((item_id, lacking[0]), NOT_PREDICTED.format(method=lacking[0]))


def read_runs(runs: Sequence[str], *, methods: Sequence[str], dataset_sha256: str) -> Candidates:
    """The predictions that lie in run folders.

    Args:
        runs: their paths.
        methods: some of their methods by label; all when empty.
        dataset_sha256: of the manifest of the dataset that is judged.

    Raises:
        InputError: a folder is no run, holds no predictions or those of another dataset, or two have the same method.
        UnknownNameError: no run has such a method.
    """
    predicted: dict[Key, Candidate] = {}
    failed: dict[Key, str] = {}
    run_of: dict[str, str] = {}
    for run in dict.fromkeys(runs):
        try:
            workspace = Workspace(run, create=False)
        except WorkspaceError as error:
            raise InputError(f"run folder {run!r} cannot be used: {error}") from error
        stopped(workspace)  # writes what a stopped run had finished; items that lack a prediction are told with the tasks
        marker = workspace.path / _MARKER
        if marker.exists() and marker.read_text().strip() != dataset_sha256:
            raise InputError(f"run folder {run!r} holds predictions for another dataset, or for another state of this one")
        rows = workspace.table("predictions", Prediction)
        if not rows:
            raise InputError(f"run folder {run!r} holds no predictions; make them with `inpaintbench eval run`")
        for label in {row.method for row in rows}:
            if label in run_of:
                raise InputError(
                    f"the runs {run_of[label]!r} and {run!r} both have a method {label!r}: predict one under another label"
                )
            run_of[label] = run
        predicted |= {(row.item_id, row.method): Candidate(row, str(workspace.blobs.path(row.blob).resolve())) for row in rows}
        for row in workspace.table("rejected", Rejection):
            if (method := predicted_label(row.step)) is not None:
                failed[row.subject_id, method] = f"{method} failed on it: {row.reason}"
    if unknown := [method for method in methods if method not in run_of]:
        raise UnknownNameError(unknown_name("method", unknown[0], run_of))
    chosen = set(methods or run_of)
    return Candidates(
        tuple(sorted(chosen)),
        {key: candidate for key, candidate in predicted.items() if key[1] in chosen},
        {key: reason for key, reason in failed.items() if key[1] in chosen},
    )


@dataclass(frozen=True)
class Checked:
    """A prediction that decodes to the frames of its item."""

    prediction_id: str
    item_id: str
    method: str


def showable(executor: Executor, candidates: Candidates, subjects: Sequence[StudySubject]) -> Candidates:
    """``candidates`` of ``subjects`` that decode whole at the size of their items; the others fail with the reason.

    Raises:
        VerifyError: a file holds other bytes than were predicted.
    """
    tasks, key_of = [], {}
    pairs = [(subject, (subject.subject_id, method)) for subject in subjects for method in candidates.methods]
    for subject, key in pairs:
        if key not in candidates.found:
            continue
        path, shape, blob = Path(candidates.found[key].path), list(subject.shape), candidates.found[key].prediction.blob
        if path.is_file():
            Blobs(path.parents[2]).proved(path.name, of=f"what {key[1]} predicted for item {key[0]!r}: ")
        prediction_id = content_id("prediction", *key)
        key_of[prediction_id] = key
        payload = {"prediction_id": prediction_id, "item_id": key[0], "method": key[1], "path": str(path), "shape": shape}
        tasks.append(Task(prediction_id, content_id(blob, shape), payload, f"{key[1]}/{key[0]}"))
    step = Step(
        name="check_predictions", version="1", table="checked", record=Checked,
        function="inpaintbench.annotate.preparing.proxies:check_one", time_limit_seconds=_CHECK_LIMIT_SECONDS,
    )  # fmt: skip
    outcome = executor.run(step, tasks)
    good = {(row.item_id, row.method) for row in outcome.records}
    refused = {key_of[row.subject_id]: row.reason for row in outcome.rejected}
    return Candidates(
        candidates.methods,
        {key: candidate for key, candidate in candidates.found.items() if key in good},
        {**candidates.failed, **{key: f"what {key[1]} predicted cannot be shown: {reason}" for key, reason in refused.items()}},
    )


def check_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Checked]:  # noqa: ARG001 - what executors call
    """Decode a prediction; ``Rejected`` when it is damaged or of another size than its item."""
    try:
        if not Path(payload["path"]).is_file():
            raise MediaError("its file is gone")
        for _ in frames_of(payload["path"], shape=tuple(payload["shape"])):
            pass
    except MediaError as error:
        raise Rejected(str(error)) from error
    return [Checked(payload["prediction_id"], payload["item_id"], payload["method"])]


# Of the step; another one makes all proxies anew.
VERSION = "2"
# Quality of the encoder, and frames between key frames. At 20 a proxy kept 66 % of the difference in flicker of two results, at
# 12 it keeps 88 %, in 2.6 times the bytes; finer ones gain little (`bench/proxy_flicker.py`).
CRF, KEY_EVERY = 12, 15
# First frames on which the loss of a proxy is measured: two key frames, and what lies between.
_MEASURED_FRAMES = 17
# Seconds to make one proxy: encoding a sheet of long clips can take many minutes.
_TIME_LIMIT_SECONDS = 3600.0
# Hex digits of a proxy's name: 128 bits, so that names cannot be guessed and do not collide.
_NAME_DIGITS = 32
# Role, and method label for candidates.
Player = tuple[str, str | None]
Luma = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class MadeProxy:
    """A proxy in the workspace of its making."""

    proxy_id: str
    blob: str
    frames: int
    fps: float
    width: int
    height: int
    tiles: str
    """A list of ``Tile`` as JSON."""
    psnr_db: float | None = None
    """Of luma, over the first frames; None where nothing is lost."""
    flicker_added: float | None = None
    """Mean absolute second difference in time of luma that the proxy has above what was made, in levels of 255."""

    def proxy(self) -> Proxy:
        """As studies list it. Its name also tells apart equal pictures with other tiles: two methods may give the same."""
        name = hashlib.sha256(canonical_json([self.blob, self.tiles]).encode()).hexdigest()[:_NAME_DIGITS]
        tiles = tuple(Tile(**tile) for tile in json.loads(self.tiles))
        return Proxy(
            name + Path(self.blob).suffix, self.frames, self.fps, self.width, self.height, tiles, self.psnr_db, self.flicker_added
        )


def proxy_id(subject_id: str, candidates: Sequence[str]) -> str:
    """The same for all tasks that show the same."""
    return content_id("proxy", subject_id, list(candidates))


def making_step(show: Show) -> Step:
    """The step that makes proxies."""
    return Step(
        name="make_proxies", version=VERSION, table="proxies", record=MadeProxy,
        function="inpaintbench.annotate.preparing.proxies:make_proxy", parameters={"largest_side": show.largest_side},
        time_limit_seconds=_TIME_LIMIT_SECONDS,
    )  # fmt: skip


def making_task(subject: StudySubject, chosen: Sequence[str], *, candidates: Candidates, show: Show, seed: int) -> Task:
    """The work for one proxy: ``subject`` with the predictions of the ``chosen`` methods."""
    given = {method: candidates.found[subject.subject_id, method] for method in chosen}
    order = players(subject, chosen, show=show, seed=seed)
    payload = {
        "proxy_id": proxy_id(subject.subject_id, chosen),
        "shape": list(subject.shape),
        "fps": subject.fps,
        "players": order,
        "predictions": {method: {"path": row.path, "full_frames": row.prediction.full_frames} for method, row in given.items()},
        **subject.media,
    }
    pixels = {method: [row.prediction.blob, row.prediction.full_frames] for method, row in given.items()}
    content = content_id(subject.content, list(subject.shape), order, pixels)
    return Task(payload["proxy_id"], content, payload, "/".join([subject.subject_id, *chosen]))


def players(subject: StudySubject, chosen: Sequence[str], *, show: Show, seed: int) -> list[Player]:
    """Return who is in the picture, by tile. The order of candidates is drawn: a place tells nothing about a method."""
    if not chosen:
        return [("clip", None)]
    drawn = item_rng(seed, "tiles", canonical_json([subject.subject_id, *chosen])).permutation(len(chosen))
    there = ("original", "input") if subject.has_truth else ("input",)
    beside: list[Player] = [(role, None) for role in there if getattr(show, role)]
    lines: list[Player] = [("outline", None)] if show.outline and subject.has_hole else []
    return [*beside, *(("candidate", chosen[place]) for place in drawn), *lines]


def make_proxy(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[MadeProxy]:
    """One row: the players of a task, tiled; ``Rejected`` where one cannot be read."""
    frames, height, width = payload["shape"]
    order: list[Player] = [(role, label) for role, label in payload["players"]]
    grid = layout(len(order), width=width, height=height, largest_side=parameters["largest_side"])
    made: list[Luma] = []

    def sheets() -> Iterator[Picture]:
        for shown in _shown(payload, grid):
            sheet = grid.sheet([shown[player] for player in order])
            if len(made) < _MEASURED_FRAMES:
                made.append(_luma(sheet))
            yield sheet

    try:
        write = partial(write_sheets, sheets=sheets(), fps=payload["fps"], crf=CRF, key_every=KEY_EVERY)
        blob, _ = blobs.put(video.suffix_for(frames), write)
    except MediaError as error:
        raise Rejected(f"its players cannot be made: {error}") from error
    psnr_db = flicker = None
    if not video.is_image(blobs.path(blob)):  # pictures lose nothing
        kept = [_luma(frame.to_ndarray(format="rgb24")) for frame in islice(Decoder(blobs.path(blob)), len(made))]
        loss = float(np.mean([np.mean((one.astype(np.float32) - other) ** 2) for one, other in zip(made, kept, strict=True)]))
        psnr_db = None if not loss else round(10 * math.log10(255**2 / loss), 2)
        flicker = None if len(made) < 3 else round(_flicker(kept) - _flicker(made), 4)
    tiles = canonical_json([asdict(tile) for tile in tiles_of(grid, order)])
    return [MadeProxy(payload["proxy_id"], blob, frames, payload["fps"], *grid.size, tiles, psnr_db, flicker)]


def tiles_of(grid: Grid, order: Sequence[Player]) -> list[Tile]:
    """Return where each player lies."""
    return [Tile(role, label, *grid.place(index), *grid.tile) for index, (role, label) in enumerate(order)]  # type: ignore[arg-type]


def _luma(sheet: Picture) -> Luma:
    """``uint8[H, W]``."""
    return np.asarray(cv2.cvtColor(sheet, cv2.COLOR_RGB2YUV)[..., 0], np.uint8)


def _flicker(frames: Sequence[Luma]) -> float:
    """Mean absolute second difference in time, in levels."""
    second = [
        np.abs(now - (before.astype(np.float32) + after) / 2).mean()
        for before, now, after in zip(frames, frames[1:], frames[2:], strict=False)
    ]
    return float(np.mean(second))


def _shown(payload: Plain, grid: Grid) -> Iterator[Mapping[Player, Picture]]:
    """Frame by frame, every player's picture."""
    shape: Shape = tuple(payload["shape"])
    if "clip" in payload:
        for picture in frames_of(proved_path(payload["clip"]), shape=shape):
            yield {("clip", None): picture}
        return
    root, row, predictions = payload["root"], payload["row"], payload["predictions"]
    # Nobody has the truth of an unpaired clip, whose input is stored; few others store theirs.
    truths, inputs = (
        frames_of(frozen.proved(root, row, part).path, shape=shape) if row.get(f"{part}_file_name") else repeat(None, shape[0])
        for part in ("truth", "input")
    )
    holes: Iterable[npt.NDArray[np.bool_]] = repeat(np.ones(shape[1:], np.bool_), shape[0])
    if frozen.has_hole(row):
        holes = hole_of(frozen.proved(root, row, "hole").path, shape=shape)
    given = [frames_of(proved_path(prediction["path"]), shape=shape) for prediction in predictions.values()]
    for truth, corrupted, hole, *frames in zip(truths, inputs, holes, *given, strict=True):
        before = corrupted if corrupted is not None else frozen.filled(truth[None], hole[None], fill=row["fill"])[0]
        shown: dict[Player, Picture] = {("original", None): truth, ("input", None): before}
        if ("outline", None) in [tuple(player) for player in payload["players"]]:
            shown["outline", None] = outline(hole, size=grid.picture)
        for (label, prediction), frame in zip(predictions.items(), frames, strict=True):
            whole_frame = prediction["full_frames"]
            shown["candidate", label] = frame if whole_frame else composite(before[None], hole[None], frame[None])[0]
        yield shown
