"""Subjects of a study, which are clips of a workspace or items of a frozen dataset, and proxies of them that browsers play.

A proxy has every picture of a task in one video or image, made beforehand.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.pictures import (
    Grid,
    Picture,
    Shape,
    asking,
    frames_of,
    hole_of,
    laid,
    layout,
    outline,
    patches,
    write_sheets,
)
from inpaintbench.annotate.study import PATCHED, Proxy, Show, Tile
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError, WorkspaceError
from inpaintbench.executors.base import Executor, Rejection, Step, Task
from inpaintbench.executors.unfinished import stopped
from inpaintbench.files import display_name, file_sha256
from inpaintbench.lazily import lazily
from inpaintbench.steps import predicted_label
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import (
    Attribute,
    Clip,
    Dataset,
    Plain,
    Prediction,
    Selection,
    Source,
    canonical_json,
    content_id,
    item_rng,
)
from inpaintbench.view import composite
from inpaintbench.workspace import Blobs, Workspace, proved_path

cv2 = lazily("cv2")


@dataclass(frozen=True)
class StudySubject:
    """A clip or an item, with what its players are made from."""

    subject_id: str
    cluster: str
    """Its source, by which answers cluster: as ``frozen.source_of`` has it."""
    name: str
    """Name of its source, as people know it."""
    caption: str
    shape: Shape
    fps: float
    content: str
    """Identity of its pixels."""
    media: Mapping[str, Any]
    """``clip``: path of its file; or ``root`` and ``row`` of an item."""
    has_hole: bool = False
    has_truth: bool = True
    file: str = ""
    """Id of the file that it is from."""
    prompt: str = ""
    """Text that raters read."""


def clip_subjects(workspace: Workspace, *, kept: bool, prompt: str | None = None) -> list[StudySubject]:
    """The clips of ``workspace`` by the names of their sources, then by time.

    Args:
        workspace: with the tables ``clips`` and ``sources``.
        kept: without those that a rule of the table ``selection`` drops, or that wait for answers.
        prompt: attribute of the clips, or else their sources, that raters read.

    Raises:
        InputError: none is there, none is kept, or none has the attribute.
    """
    clips = list({clip.clip_id: clip for clip in workspace.table("clips", Clip)}.values())
    if not clips:
        raise InputError(f"workspace {str(workspace.path)!r} holds no clips; make them with `inpaintbench curation clips`")
    dropped = {row.clip_id for row in workspace.table("selection", Selection) if not row.keep} if kept else set()
    left = [clip for clip in clips if clip.clip_id not in dropped]
    if not left:
        raise InputError(f'no clip of {str(workspace.path)!r} is kept by its rules; choose clips = "all" to label every one')
    uri_of = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    left.sort(key=lambda clip: (uri_of.get(clip.source_id, ""), clip.start_frame, clip.clip_id))
    texts: dict[str, str] = {}
    if prompt:
        rows = to_records(workspace.columns("attributes", Attribute, where=("name", [prompt])), Attribute)
        texts = {row.subject_id: str(row.value) for row in rows if row.value is not None}
    subjects, sources = [], frozen.sources_of_clips(workspace, to_columns(left, Clip)).to_pylist()
    for clip, source in zip(left, sources, strict=True):
        uri = uri_of.get(clip.source_id, clip.source_id)
        caption = _caption(uri, clip.start_frame, clip.end_frame, clip.fps, clip.frames)
        subjects.append(StudySubject(
            clip.clip_id, source, display_name(uri), caption, (clip.frames, clip.height, clip.width), clip.fps,
            content_id("clip", clip.rgb_sha256, clip.fps), {"clip": str(workspace.blobs.path(clip.blob).resolve())},
            file=clip.source_id, prompt=texts.get(clip.clip_id) or texts.get(clip.source_id, ""),
        ))  # fmt: skip
    return _with_prompt(subjects, prompt)


def _with_prompt(subjects: list[StudySubject], prompt: str | None) -> list[StudySubject]:
    """``subjects``, unless a prompt was asked for and none has it."""
    if prompt and not any(subject.prompt for subject in subjects):
        raise InputError(f"none of the {len(subjects)} subjects has an attribute {prompt!r} for raters to read")
    return subjects


def item_subjects(dataset: Dataset, *, root: Path, slices: Sequence[str], prompt: str | None = None) -> list[StudySubject]:
    """The items of a frozen dataset in its order: those of the named slices, or all; ``prompt`` is an attribute of its rows,
    or one of their texts: ``prompts`` stands for both of an edit.

    Raises:
        UnknownNameError: no such slice.
        InputError: no items, none with the attribute, or items whose truth is held back.
    """
    members = {part.name: part.item_ids for part in dataset.slices}
    if unknown := [name for name in slices if name not in members]:
        raise UnknownNameError(unknown_name("slice", unknown[0], members))
    wanted = {item_id for name in slices for item_id in members[name]}
    rows = [row for row in dataset.items if not slices or row["item_id"] in wanted]
    if not rows:
        raise InputError(f"dataset {str(root)!r} has no items{' in ' + ', '.join(slices) if slices else ''}")
    if hidden := [row for row in rows if frozen.is_held_back(row)]:
        raise InputError(
            f"dataset {str(root)!r} holds the truth of {len(hidden)} items back, with which raters compare: give the study the "
            "dataset of the truth, or slices without them"
        )
    folder, subjects = str(root.resolve()), []
    for row in rows:
        uri, fps = row["source_uri"], row["fps"]
        caption = f"{_caption(uri, row['start_frame'], row['end_frame'], fps, row['frames'])}, item {row['item_id']}"
        hashes = [row["truth_rgb_sha256"], row["hole_sha256"], row["input_sha256"], row["fill"]]
        text: Any = ""
        if prompt == "prompts" and (asked := frozen.asked_of_edit(row)):
            text = " → ".join(text for text in (row.get("source_prompt"), asked) if text)
        elif prompt:
            text = row.get(prompt) if row["attributes"].get(prompt) is None else row["attributes"][prompt]
        subjects.append(StudySubject(
            row["item_id"], frozen.source_of(row), display_name(uri), caption, (row["frames"], row["height"], row["width"]), fps,
            content_id("item", *hashes, fps), {"root": folder, "row": dict(row)}, frozen.has_hole(row), frozen.has_truth(row),
            row["source_id"], str(text) if isinstance(text, str | int | float) else "",
        ))  # fmt: skip
    return _with_prompt(subjects, prompt)


def _caption(uri: str, start_frame: int, end_frame: int, fps: float, frames: int) -> str:
    name = display_name(uri)
    return name if frames == 1 else f"{name}, {start_frame / fps:.1f}-{end_frame / fps:.1f} s"


def drawn(subjects: Sequence[StudySubject], *, most: int | None, seed: int) -> list[StudySubject]:
    """``most`` of ``subjects`` in their order, each with the same chance; more or other subjects change no draw."""
    if most is None or most >= len(subjects):
        return list(subjects)
    lots = {subject.subject_id: item_rng(seed, "most", subject.subject_id).random() for subject in subjects}
    chosen = set(sorted(lots, key=lambda subject_id: (lots[subject_id], subject_id))[:most])
    return [subject for subject in subjects if subject.subject_id in chosen]


def fingerprints(subjects: Sequence[StudySubject], *, dataset: Path | None) -> dict[str, str]:
    """Hashes of the inputs of the study."""
    hashes = {"subjects": content_id(*([subject.subject_id, subject.content] for subject in subjects))}
    return hashes if dataset is None else {**hashes, frozen.MANIFEST: file_sha256(dataset / frozen.MANIFEST)}


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
VERSION = "3"
# Quality of the encoder, and frames between key frames. At 20 a proxy kept 66 % of the difference in flicker of two results, at
# 12 it keeps 88 %, in 2.6 times the bytes; finer ones gain little (`bench/proxy_flicker.py`).
CRF, KEY_EVERY = 12, 15
# The light encoding for slow lines: most bits for each pixel of one picture and frame, which is 1.5 MB for 90 frames of 480x270;
# and the worst quality, which may take more. Natural logarithm by which a step of the quality takes fewer bytes.
LIGHT_BITS, LIGHT_WORST_CRF, LIGHT_KEY_EVERY, _A_STEP = 1.02, 20, 30, 0.12
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
    light_blob: str = ""
    """The same tiles in fewer bytes, where that is so."""
    light_flicker_added: float | None = None

    def proxy(self, blobs: Blobs) -> Proxy:
        """As studies list it, with the bytes of its files as they lie in ``blobs``."""
        tiles = tuple(Tile(**tile) for tile in json.loads(self.tiles))
        size, light = (blobs.path(blob).stat().st_size if blob else 0 for blob in (self.blob, self.light_blob))
        return Proxy(
            self._name(self.blob), self.frames, self.fps, self.width, self.height, tiles, self.psnr_db, self.flicker_added, size,
            self._name(self.light_blob), light, self.light_flicker_added,
        )  # fmt: skip

    def _name(self, blob: str) -> str:
        """It also tells apart equal pictures with other tiles: two methods may give the same."""
        named = hashlib.sha256(canonical_json([blob, self.tiles]).encode())
        return blob and named.hexdigest()[:_NAME_DIGITS] + Path(blob).suffix


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


def making_task(
    subject: StudySubject, chosen: Sequence[str], *, candidates: Candidates, show: Show, seed: int, asks_for: Sequence[str] = ()
) -> Task:
    """The work for one proxy: ``subject`` with the predictions of the ``chosen`` methods, whose pictures ask for those in
    ``asks_for``."""
    there = {name: row for name in candidates.methods if (row := candidates.found.get((subject.subject_id, name)))}
    given = {method: there[method] for method in chosen}
    # A stored input may differ from the truth anywhere. All proxies of a subject are laid out alike: none tells who is in it.
    patched = subject.has_hole and not any(row.prediction.full_frames for row in there.values())
    patched = patched and bool(given) and not subject.media["row"].get("input_file_name")
    order = players(subject, chosen, show=show, seed=seed, patched=patched)
    payload = {
        "proxy_id": proxy_id(subject.subject_id, (*chosen, *asks_for)),
        "shape": list(subject.shape),
        "fps": subject.fps,
        "players": order,
        "asks_for": list(asks_for),
        "predictions": {method: {"path": row.path, "full_frames": row.prediction.full_frames} for method, row in given.items()},
        **subject.media,
    }
    pixels = {method: [row.prediction.blob, row.prediction.full_frames] for method, row in given.items()}
    content = content_id(subject.content, list(subject.shape), order, pixels, *asks_for)
    return Task(payload["proxy_id"], content, payload, "/".join([subject.subject_id, *chosen]))


def players(subject: StudySubject, chosen: Sequence[str], *, show: Show, seed: int, patched: bool = False) -> list[Player]:
    """Return who is in the picture, by tile. The order of candidates is drawn: a place tells nothing about a method.

    With ``patched`` the pictures differ from the original in the hole alone, so that it can be there once for all of them.
    """
    if not chosen:
        return [("clip", None)]
    drawn = item_rng(seed, "tiles", canonical_json([subject.subject_id, *chosen])).permutation(len(chosen))
    there = ("original", "input") if subject.has_truth else ("input",)
    beside: list[Player] = [(role, None) for role in there if getattr(show, role)]
    lines: list[Player] = [("outline", None)] if show.outline and subject.has_hole else []
    mask: list[Player] = [("mask", None)] if patched and ("original", None) in beside else []
    return [*beside, *(("candidate", chosen[place]) for place in drawn), *lines, *mask]


def make_proxy(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[MadeProxy]:
    """One row: the players of a task, tiled; ``Rejected`` where one cannot be read."""
    frames, height, width = payload["shape"]
    order: list[Player] = [(role, label) for role, label in payload["players"]]
    grid = layout(len(order), width=width, height=height, largest_side=parameters["largest_side"])
    tiles, made = tiles_of(grid, order), list[Luma]()

    def sheets() -> Iterator[Picture]:
        first = not made
        for shown in _shown(payload, grid):
            sheet = grid.sheet([shown[player] for player in order])
            if first and len(made) < _MEASURED_FRAMES:
                made.append(_luma(laid(sheet, tiles)))
            yield sheet

    def flicker(blob: str) -> tuple[float | None, float | None]:
        decoded = islice(video.Decoder(blobs.path(blob)), len(made))
        kept = [_luma(laid(frame.to_ndarray(format="rgb24"), tiles)) for frame in decoded]
        loss = float(np.mean([np.mean((one.astype(np.float32) - other) ** 2) for one, other in zip(made, kept, strict=True)]))
        psnr_db = None if not loss else round(10 * math.log10(255**2 / loss), 2)
        return psnr_db, None if len(made) < 3 else round(_flicker(kept) - _flicker(made), 4)

    psnr_db = added = light_added = None
    try:
        blob, light = encoded(sheets, blobs, fps=payload["fps"], frames=frames, picture=grid.picture)
    except MediaError as error:
        raise Rejected(f"its players cannot be made: {error}") from error
    if not video.is_image(blobs.path(blob)):  # pictures lose nothing
        psnr_db, added = flicker(blob)
        light_added = flicker(light)[1] if light else None
    placed = canonical_json([asdict(tile) for tile in tiles])
    made_of = (payload["proxy_id"], blob, frames, payload["fps"], *grid.size)
    return [MadeProxy(*made_of, placed, psnr_db, added, light, light_added)]


def encoded(
    sheets: Callable[[], Iterator[Picture]], blobs: Blobs, *, fps: float, frames: int, picture: tuple[int, int]
) -> tuple[str, str]:
    """The blobs of sheets in full quality and in the light one, which is empty where the full one takes as few bytes.

    Args:
        sheets: begins them anew.
        blobs: where they are put.
        fps: frames a second.
        frames: number of sheets.
        picture: width and height of one picture, pixels.
    """

    def written(crf: int, **how: Any) -> tuple[str, int]:
        write = partial(write_sheets, sheets=sheets(), fps=fps, crf=crf, **how)
        blob = blobs.put(video.suffix_for(frames), write)[0]
        return blob, blobs.path(blob).stat().st_size

    full, size = written(CRF, key_every=KEY_EVERY)
    light, crf, most = "", CRF, LIGHT_BITS * frames * picture[0] * picture[1] / 8
    while not video.is_image(full) and size > most and crf < LIGHT_WORST_CRF:
        crf = min(LIGHT_WORST_CRF, crf + max(1, int(math.log(size / most) / _A_STEP)))
        light, size = written(crf, key_every=LIGHT_KEY_EVERY, thorough=True)
    return full, light


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
            if payload["asks_for"]:
                shown["candidate", label] = asking(shown["candidate", label], wanted=label in payload["asks_for"])
        if ("mask", None) in [tuple(player) for player in payload["players"]]:
            hole = np.ones_like(hole) if payload["asks_for"] else hole
            cut, mask = patches({key: one for key, one in shown.items() if key[0] in PATCHED}, hole, grid=grid)
            shown |= {**cut, ("mask", None): mask}
        yield shown
