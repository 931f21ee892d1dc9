"""Predictions of runs for the items of a dataset: which can be shown, and why the others cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inpaintbench.annotate.preparing.pictures import frames_of
from inpaintbench.annotate.preparing.subjects import StudySubject
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError, WorkspaceError
from inpaintbench.executors.base import Executor, Rejection, Step, Task
from inpaintbench.executors.unfinished import stopped
from inpaintbench.steps import predicted_label
from inpaintbench.types import Plain, Prediction, content_id
from inpaintbench.workspace import Blobs, Workspace

NOT_PREDICTED = "{method} has no prediction of it"
# File of a run folder that names the dataset its predictions belong to.
_MARKER = "dataset.sha256"
# Seconds to decode one prediction: far above what the longest clips take.
_TIME_LIMIT_SECONDS = 600.0
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
        workspace = _opened(run, dataset_sha256)
        rows = workspace.table("predictions", Prediction)
        if not rows:
            raise InputError(f"run folder {run!r} holds no predictions; make them with `inpaintbench eval predict`")
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


def _opened(run: str, dataset_sha256: str) -> Workspace:
    try:
        workspace = Workspace(run, create=False)
    except WorkspaceError as error:
        raise InputError(f"run folder {run!r} cannot be used: {error}") from error
    stopped(workspace)  # writes what a stopped run had finished; items that lack a prediction are told with the tasks
    marker = workspace.path / _MARKER
    if marker.exists() and marker.read_text().strip() != dataset_sha256:
        raise InputError(f"run folder {run!r} holds predictions for another dataset, or for another state of this one")
    return workspace


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
    pairs = [(subject, (subject.subject_id, method)) for subject in subjects for method in candidates.methods]
    for _, key in pairs:
        if key in candidates.found and (path := Path(candidates.found[key].path)).is_file():
            Blobs(path.parents[2]).proved(path.name, of=f"what {key[1]} predicted for item {key[0]!r}: ")
    tasks = [_check(subject, candidates.found[key]) for subject, key in pairs if key in candidates.found]
    step = Step(
        name="check_predictions", version="1", table="checked", record=Checked,
        function="inpaintbench.annotate.preparing.candidates:check_one", time_limit_seconds=_TIME_LIMIT_SECONDS,
    )  # fmt: skip
    outcome = executor.run(step, tasks)
    good = {(row.item_id, row.method) for row in outcome.records}
    key_of = {task.subject_id: (task.payload["item_id"], task.payload["method"]) for task in tasks}
    refused = {key_of[row.subject_id]: row.reason for row in outcome.rejected}
    return Candidates(
        candidates.methods,
        {key: candidate for key, candidate in candidates.found.items() if key in good},
        {**candidates.failed, **{key: f"what {key[1]} predicted cannot be shown: {reason}" for key, reason in refused.items()}},
    )


def _check(subject: StudySubject, candidate: Candidate) -> Task:
    row = candidate.prediction
    prediction_id = content_id("prediction", row.item_id, row.method)
    payload = {
        "prediction_id": prediction_id, "item_id": row.item_id, "method": row.method, "path": candidate.path,
        "shape": list(subject.shape),
    }  # fmt: skip
    return Task(prediction_id, content_id(row.blob, list(subject.shape)), payload, f"{row.method}/{row.item_id}")


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
