"""Edited videos from a list: checked, scored and written as a transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import count as counted
from pathlib import Path
from typing import Any, NamedTuple

import inpaintbench
from inpaintbench.compute import RANDOM_WEIGHTS, Compute, Shared
from inpaintbench.errors import InpaintBenchError, InputError, MediaError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.measured import unmeasured_metrics
from inpaintbench.eval.scoring import score_item
from inpaintbench.eval.scoring.score import SCORING_SECONDS
from inpaintbench.executors.base import Executor, Step, Task, task_key
from inpaintbench.lazily import lazily
from inpaintbench.models import torch_networks, weights
from inpaintbench.pages.words import count
from inpaintbench.steps import score_step, score_steps
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Frames, Plain, Prompts, Score, content_id
from inpaintbench.view import ItemView
from inpaintbench.wings.editboard import media
from inpaintbench.wings.editboard.checking import Checked, Finding, check, needed
from inpaintbench.wings.editboard.media import Edit, look, plain
from inpaintbench.wings.editboard.page import edits_csv, edits_json, write_transcript
from inpaintbench.wings.editboard.transcript import Told, transcript_of
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

# Of decoded videos at once; where more edits do not fit, they are measured in several goes.
_HELD_BYTES = 1 << 30
# No metric of edits asks for it.
_FPS = 24.0

Job = tuple[Plain, Plain]


def score_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All metrics of one edit."""
    return score_together([(payload, parameters)], blobs=blobs)[0]


def score_together(jobs: Sequence[Job], *, blobs: Blobs) -> list[list[Score]]:
    """All metrics of several edits of one original: the rows of each job."""
    size = 4 * max(payload["row"]["frames"] * _area(payload, parameters) for payload, parameters in jobs)  # colours and mask
    at_once = max(1, _HELD_BYTES // size - 1)
    goes = [jobs[begin : begin + at_once] for begin in range(0, len(jobs), at_once)]
    return [rows for some in goes for rows in _scored(some, blobs)]


def _area(payload: Plain, parameters: Plain) -> int:
    side = parameters["side_pixels"]
    area: int = side**2 if side else payload["row"]["height"] * payload["row"]["width"]
    return area


def _scored(jobs: Sequence[Job], blobs: Blobs) -> list[list[Score]]:
    shared = Shared(compute=Compute(**jobs[0][0]["compute"]))
    side = jobs[0][1]["side_pixels"]
    originals = {payload["original"]["path"]: payload["original"] for payload, _ in jobs if payload["original"]}
    read = lru_cache(maxsize=1)(lambda path: media.read(originals[path], side_pixels=side))
    views = [_view(payload, side, shared, read) for payload, _ in jobs]
    told = [(payload, {**parameters, "method": payload["method"]}) for payload, parameters in jobs]
    return score_item.score_together(told, blobs=blobs, ahead=views)


def _view(payload: Plain, side: int | None, shared: Shared, read: Callable[[str], Frames]) -> ItemView:
    """The parts of an edit.

    Raises:
        RuntimeError: they could be read when they were looked at, and cannot now; the next run tries again.
    """
    try:
        edited = media.read(payload["edited"], side_pixels=side)
        parts: dict[str, Callable[[], Any]] = {"prediction": lambda: edited}
        if payload["original"]:
            parts["truth"] = partial(lambda frames: frames, read(payload["original"]["path"]))
        if payload["mask"]:
            parts["object_mask"] = partial(lambda mask: mask, media.read_mask(payload["mask"], side_pixels=side))
    except (MediaError, OSError) as error:
        raise RuntimeError(f"it changed after it was looked at: {error}") from error
    source, target = payload["prompts"]
    if source or target:
        parts["prompts"] = lambda: Prompts(source, target or "")
    frames, height, width = edited.shape[:3]
    return ItemView(
        item_id=payload["row"]["item_id"], frames=frames, height=height, width=width, fps=_FPS, parts=parts, shared=shared
    )


FOLDER = "transcript"
# Stands in the keys of the ledger: another one measures all edits again.
VERSION = "1"
# Edits of one original that one worker measures together: the original's flow is then found once for all of them. More would
# leave workers idle where there are few originals.
AT_ONCE = 4
_WORKER = "inpaintbench.wings.editboard.scoring"
Entries = Mapping[str, Mapping[str, Any]]


class Scored(NamedTuple):
    """Scores and failures of a run."""

    rows: list[Score]
    """Rows of every edit and metric, measured or not, sorted by model, item and metric."""
    failures: int
    """Edits that a crash, a time-out or an unexpected error kept from values; the next run measures them again."""


@dataclass(frozen=True)
class Measuring:
    """Metrics that are wanted, and how they are measured."""

    protocol: Protocol
    metrics: Sequence[str]
    compute: Compute
    side_pixels: int | None = None
    """Side of the squares that all videos are squashed to; None = as they are."""
    seconds: float = SCORING_SECONDS
    """Time limit of one edit."""

    @classmethod
    def of(
        cls, protocol: Protocol, metrics: Sequence[str] | None, compute: Compute, *, side_pixels: int | None, seconds: float
    ) -> Measuring:
        """All metrics of a protocol, or some.

        Raises:
            UnknownNameError: the protocol has no such metric. InputError: networks cannot run so here.
        """
        protocol.build_metrics(metrics)  # misspelt names are told before any work
        names = list(dict.fromkeys(metrics)) if metrics else list(protocol.metrics)
        if protocol.weights_of(names):
            torch_networks.check_device(compute)
        return cls(protocol, names, compute, side_pixels, seconds)

    def lacking(self) -> Iterator[str]:
        """A sentence on metrics that would have no value for want of weights, where there are such."""
        if self.compute.random_weights is not None:
            return
        missing = {
            metric: [name for name in self.protocol.weights_of([metric]) if weights.state(weights.named(name)) != "ready"]
            for metric in self.metrics
        }
        if lacking := [metric for metric, names in missing.items() if names]:
            names = " ".join(dict.fromkeys(name for metric in lacking for name in missing[metric]))
            yield f"Will have no value here: {', '.join(lacking)}; `inpaintbench models fetch {names}` brings what they need"

    def checked(self, executor: Executor, edits: Sequence[Edit], folder: Path) -> tuple[list[Checked], list[Finding]]:
        """The edits with what their files hold, and what is wrong or notable; ``folder`` is that of the list."""
        looked = look(executor, [path for edit in edits for path in needed(edit, self.metrics)], folder=folder)
        published = not self.protocol.name.endswith("corrected")
        return check(edits, looked, metrics=self.metrics, side_pixels=self.side_pixels, published=published)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the protocol, with marks for what else changes numbers."""
        squashed = "" if self.side_pixels is None else f"+squashed-{self.side_pixels}"
        return self.protocol.fingerprint + self.compute.mark + squashed

    def score(self, executor: Executor, checked: Sequence[Checked]) -> Scored:
        """Score edits into the table ``scores``; those with a fault are not measured, and their rows say it.

        What an earlier run measured of the same pixels, prompts and names stands, in whatever order the edits come. What an
        unexpected error kept from a value is measured again.
        """
        steps = [self._step(slot) for slot in range(AT_ONCE)]
        entries = [executor.workspace.ledger(step.name).read() for step in steps]
        ordered = sorted(checked, key=lambda one: (one.edit.model, one.edit.item_id))
        work = _placed([_task(one, self.compute) for one in ordered if one.fault is None], steps, entries)
        outcomes = executor.run_together(list(zip(steps, work, strict=True)), label=score_steps(self.protocol.name))
        scores = {(row.method, row.item_id, row.metric): row for outcome in outcomes.values() for row in outcome.records}
        crashed = {row.name: row.reason for outcome in outcomes.values() for row in outcome.rejected}
        rows = [
            self._row(scores.get((one.edit.model, one.edit.item_id, name)), one, name, crashed)
            for one in ordered
            for name in self.protocol.metrics
            if name in self.metrics
        ]
        spoilt = {(row.method, row.item_id) for row in rows if UNEXPECTED in row.details}
        return Scored(rows, len(spoilt) + sum(outcome.failures for outcome in outcomes.values()))

    def _step(self, slot: int) -> Step:
        names = [name for name in self.protocol.metrics if name in self.metrics]
        needed = self.protocol.weights_of(names) if self.compute.random_weights is None else []
        parameters = {
            "protocol": self.protocol.name, "fingerprint": self.fingerprint, "side_pixels": self.side_pixels, "metrics": names,
            "weights": {}, **weights.needed(needed),
        }  # fmt: skip
        return Step(
            name=score_step(self.protocol.name, f"edits-{slot}"), version=VERSION, table="scores", record=Score,
            function=f"{_WORKER}:score_one", parameters=parameters, time_limit_seconds=self.seconds,
            together=f"{_WORKER}:score_together", lacks=torch_networks.lacks(needed, self.compute),
            on_card=bool(needed) and torch_networks.on_card(self.compute),
        )  # fmt: skip

    def _row(self, row: Score | None, one: Checked, metric: str, crashed: Mapping[str, str]) -> Score:
        """Row of a measurement, or of the reason why there is none."""
        if row is None:
            reason = one.fault or crashed.get(one.edit.name, "it was not measured")
            name = self.protocol.name
            return Score(one.edit.model, one.edit.item_id, metric, "frame", name, self.fingerprint, None, reason)
        if one.original is None and "truth" in METRICS.get(metric).needs:
            return replace(row, reason="the list names no original video")
        return row

    def settings(self) -> dict[str, Any]:
        """``settings_of``, and what the machine adds: packages, device, precision, weights that are there; no paths, no times."""
        told = settings_of(self.protocol, self.metrics)
        made_up = self.compute.random_weights is not None
        states = {name: "made up" if made_up else weights.state(weights.named(name)) for name in told["weights"]}
        running = not torch_networks.lacking() and bool({"ready", "made up"} & set(states.values()))
        return {
            "inpaintbench": inpaintbench.__version__,
            "opencv": cv2.__version__,
            **({"torch": version("torch")} if running else {}),
            "frames": "as they are" if self.side_pixels is None else f"squashed to {self.side_pixels}x{self.side_pixels}",
            "device": _device(self.compute) if running else "none: no network ran",
            "precision": self.compute.precision,
            **told,
            "weights": {name: state if made_up else f"{state}, {told['weights'][name]}" for name, state in states.items()},
        }

    def write(self, out: Path, title: str, folder: Path, checked: Sequence[Checked], rows: Sequence[Score]) -> Iterator[str]:
        """Write the transcript into ``out``, and say what came of it in sentences."""
        told = {}
        for one in checked:
            source = (one.original or one.edited).digest or str(one.edit.original or one.edit.edited)
            told[one.edit.model, one.edit.item_id] = Told(one.edit.task, source)
        fingerprint, settings = self.fingerprint, self.settings()
        faulty = sum(one.fault is not None for one in checked)
        lost = f"{faulty} of {count(len(checked), 'edit')} could not be scored; they are told under what is missing."
        left_out = [lost] if faulty else []
        made = transcript_of(rows, told, title=title, notes=[*cautions(fingerprint), *left_out], settings=settings)
        edits = [plain(one.edit, folder) for one in sorted(checked, key=lambda one: (one.edit.model, one.edit.item_id))]
        more = {
            "edits.csv": edits_csv(edits, rows, made.metrics),
            "edits.json": edits_json(edits, rows, settings | {"protocol": made.protocol.name, "fingerprint": fingerprint}),
        }  # fmt: skip
        seed = self.compute.random_weights  # what made-up parameters say never takes the place of what is real
        page = write_transcript(out / (FOLDER if seed is None else f"{FOLDER}-random-weights-{seed}"), made, more=more)
        yield f"{len(rows)} scores under {made.protocol.name}, {sum(row.value is None for row in rows)} without a value"
        for reason, names in unmeasured_metrics(rows).items():
            yield f"not measured: {', '.join(names)}: {reason}"
        yield from cautions(fingerprint)
        yield f"Transcript: {page.resolve()}"


def _task(one: Checked, compute: Compute) -> Task:
    """``subject_id`` is the original's, without the number of the group that it will be in."""
    edit, prompts = one.edit, [one.edit.source_prompt, one.edit.target_prompt]
    digests = [part and part.digest for part in (one.original, one.edited, one.mask)]
    row = {"item_id": edit.item_id, "frames": one.edited.frames, "height": one.edited.height, "width": one.edited.width}
    payload = {
        "row": row, "method": edit.model, "prompts": prompts, "compute": asdict(compute), "edited": one.edited.found,
        "original": one.original and one.original.found, "mask": one.mask and one.mask.found,
    }  # fmt: skip
    subject = (one.original or one.edited).digest[:16]
    return Task(subject, content_id(edit.model, edit.item_id, prompts, digests), payload, edit.name)


def _placed(tasks: Sequence[Task], steps: Sequence[Step], entries: Sequence[Entries]) -> list[list[Task]]:
    """The tasks of each step: at most one of each step for each group of an original.

    A task that was tried goes where it was tried, so that it is not done again when others come or go; the others go where
    nothing ever was.
    """
    of_original: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        of_original[task.subject_id].append(task)
    # Original -> places that earlier runs gave to its edits, of this list or not.
    used: dict[str, set[int]] = defaultdict(set)
    for slot, of_step in enumerate(entries):
        for entry in of_step.values():
            original, _, group = str(entry["subject_id"]).partition(".")
            used[original].add(int(group) * len(entries) + slot)
    work: list[list[Task]] = [[] for _ in steps]
    for original, own in of_original.items():
        before = used.get(original, set())
        settled = _settled(own, steps, entries, sorted(before))
        held = {task.name for task in settled.values()}
        free = (place for place in counted() if place not in before)
        new = zip(free, (task for task in own if task.name not in held), strict=False)
        for place, task in sorted((settled | {place: _at(task, place) for place, task in new}).items()):
            work[place % len(steps)].append(task)
    return work


def _settled(own: Sequence[Task], steps: Sequence[Step], entries: Sequence[Entries], places: Sequence[int]) -> dict[int, Task]:
    """Place -> the task that was tried there."""
    found: dict[int, Task] = {}
    for task in own:
        for place in places:
            slot, placed = place % len(steps), _at(task, place)
            if task_key(steps[slot], placed, entries[slot]) in entries[slot] and place not in found:
                found[place] = placed
                break
    return found


def _at(task: Task, place: int) -> Task:
    return replace(task, subject_id=f"{task.subject_id}.{place // AT_ONCE}")


def settings_of(protocol: Protocol, metrics: Sequence[str]) -> dict[str, Any]:
    """Settings that the protocol fixes: constants, versions of metrics, weights with their SHA-256."""
    names = [name for name in protocol.metrics if name in metrics]
    return {
        "metric_versions": {name: METRICS.get(name).version for name in names},
        "constants": {name: dict(protocol.metrics[name]) for name in names},
        "weights": {name: f"sha256 {weights.named(name).sha256}" for name in protocol.weights_of(names)},
    }


def _device(compute: Compute) -> str:
    try:
        return str(torch_networks.device_of(compute).type)
    except InpaintBenchError as error:
        return str(error)


def cautions(fingerprint: str) -> list[str]:
    """Sentences that a reader of scores with this fingerprint has to know."""
    if RANDOM_WEIGHTS in fingerprint:
        return ["Networks had made-up parameters: what they say means nothing."]
    return []


def keep_apart(out: Path, edits: Sequence[Edit]) -> None:
    """Raise ``InputError`` where ``out`` lies in a folder of frames."""
    target = out.absolute().resolve()
    for path in {path for edit in edits for path in (edit.original, edit.edited, edit.mask) if path is not None}:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise InputError(f"--out {str(out)!r} lies in the folder of frames {str(path)!r}, where nothing is to be written")
