"""State of a run folder beside its tables: fresh scores, reference methods, items not run on, and inputs of held-back items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.executors.base import Rejection
from inpaintbench.files import write_atomically
from inpaintbench.manifest import column
from inpaintbench.steps import predict_step, predicted_label, score_step
from inpaintbench.types import Dataset, Prediction, Score, canonical_json
from inpaintbench.workspace import Workspace

NOT_RUN = "the method was not run on this item"
# Ending of the empty file beside the predictions of a reference method.
_REFERENCE = ".reference"
# Ending of the file beside the predictions of a method that says by which option of `eval predict` it was asked for.
_OPTION = ".option"
# Ending of the file beside the predictions of a method that says, a sentence a line, where its task is another.
_TASK = ".task"
# File of a run folder: the inputs that predictions without truth are made from, item -> SHA-256.
_HELD_BACK_INPUTS = "held_back_inputs.json"
# Slices that a sentence names at most; the others are counted.
_NAMED_SLICES = 5


def predictions_of(workspace: Workspace, method: str) -> tuple[list[Prediction], dict[str, str]]:
    """Predictions of a method, and item id -> why there is none."""
    step = predict_step(method)
    failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
    return workspace.table("predictions", Prediction, step=step), failures


# Freshness of scores


def digest(dataset: Dataset, *, predictions: Sequence[Prediction], failures: Mapping[str, str]) -> str:
    """SHA-256, hexadecimal, of what there is to score of one method: for each item its blob, or the reason why there is none."""
    blobs = {row.item_id: row.blob for row in predictions}
    ids = column(dataset, "item_id")
    results = {item: ["blob", blobs[item]] if item in blobs else ["failure", failures.get(item, NOT_RUN)] for item in ids}
    return hashlib.sha256(canonical_json(results).encode()).hexdigest()


def remember_scored(workspace: Workspace, scored: str, *, step: str) -> None:
    """Keep the digest ``scored`` beside the table of the step ``step`` that scored it."""
    write_atomically(_digest_file(workspace, step), f"{scored}\n".encode())


def is_stale(workspace: Workspace, dataset: Dataset, *, protocol: str, method: str) -> bool:
    """Return whether the predictions of a method are others than those that its scores under ``protocol`` were made of.

    False where nothing tells: scores from before digests were kept, and scores whose predictions are gone.
    """
    path = _digest_file(workspace, score_step(protocol, method))
    predictions, failures = predictions_of(workspace, method)
    if not path.exists() or not (predictions or failures):
        return False
    return path.read_text().strip() != digest(dataset, predictions=predictions, failures=failures)


def _digest_file(workspace: Workspace, step: str) -> Path:
    return workspace.path / "tables" / "scores" / f"{step}.sha256"


# Reference methods: floors that others are seen against, and that never compete


def remember_reference(workspace: Workspace, label: str, *, reference: bool) -> None:
    """Keep beside the predictions of a method whether it is a reference."""
    path = workspace.path / "tables" / "predictions" / f"{predict_step(label)}{_REFERENCE}"
    if reference:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, b"")
    else:
        path.unlink(missing_ok=True)


def references_in(workspace: Workspace) -> frozenset[str]:
    """Labels of the reference methods of a run folder."""
    paths = (workspace.path / "tables" / "predictions").glob(f"{predict_step('*')}{_REFERENCE}")
    return frozenset(label for path in paths if (label := predicted_label(path.name.removesuffix(_REFERENCE))) is not None)


# How methods were asked for


def remember_option(workspace: Workspace, label: str, words: str) -> None:
    """Keep beside the predictions of a method the option of `eval predict` that asks for it."""
    path = workspace.path / "tables" / "predictions" / f"{predict_step(label)}{_OPTION}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{words}\n".encode())


def options_in(workspace: Workspace) -> dict[str, str]:
    """Label of a method of a run folder -> the option of `eval predict` that asks for it; none of runs before these were kept."""
    paths = sorted((workspace.path / "tables" / "predictions").glob(f"{predict_step('*')}{_OPTION}"))
    labels = {path: predicted_label(path.name.removesuffix(_OPTION)) for path in paths}
    return {label: path.read_text().strip() for path, label in labels.items() if label is not None}


def remember_task(workspace: Workspace, label: str, sentences: Sequence[str]) -> None:
    """Keep beside the predictions of a method the sentences on where its task is another than the published one."""
    path = workspace.path / "tables" / "predictions" / f"{predict_step(label)}{_TASK}"
    if sentences:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, "".join(f"{sentence}\n" for sentence in sentences).encode())
    else:
        path.unlink(missing_ok=True)


def tasks_in(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """Label of a method of a run folder -> sentences on where its task is another than the published one."""
    paths = sorted((workspace.path / "tables" / "predictions").glob(f"{predict_step('*')}{_TASK}"))
    labels = {path: predicted_label(path.name.removesuffix(_TASK)) for path in paths}
    return {label: tuple(path.read_text().splitlines()) for path, label in labels.items() if label is not None}


# Items without a prediction


def not_run(workspace: Workspace, dataset: Dataset, method: str) -> list[str]:
    """Ids of the items that a method has neither a prediction of nor a reason why there is none, in the dataset's order."""
    predictions, failures = predictions_of(workspace, method)
    done = {row.item_id for row in predictions} | failures.keys()
    return [item_id for item_id in column(dataset, "item_id") if item_id not in done]


def not_run_words(workspace: Workspace, dataset: Dataset, method: str) -> str | None:
    """One sentence on the items that a method was not run on, with the slices that lack items; None where it lacks nothing."""
    lacking = set(not_run(workspace, dataset, method))
    if not lacking:
        return None
    empty = [part.name for part in dataset.slices if part.item_ids and lacking.issuperset(part.item_ids)]
    partly = [part.name for part in dataset.slices if lacking.intersection(part.item_ids) and part.name not in empty]
    sentences = "; ".join(f"{share} of {_listed(names)}" for share, names in (("no item", empty), ("some", partly)) if names)
    where = f" ({sentences})" if sentences else ""
    return f"{method} was not run on {len(lacking)} of {len(dataset.items)} items{where}"


def asked(rows: Iterable[Score]) -> list[Score]:
    """Scores that were asked for.

    What was not run stands as rows without a value, so that means tell how many are missing; it was not to be scored.
    """
    return [row for row in rows if row.reason != NOT_RUN]


def without_value(rows: Iterable[Score]) -> int:
    """Return how many scores have neither a value nor the vector of a metric of sets."""
    return sum(row.value is None and row.features is None for row in rows)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_SLICES} more slices" if len(names) > _NAMED_SLICES else ""
    return ", ".join(names[:_NAMED_SLICES]) + more


# Items whose truth is held back


def remember_inputs(run: Path, dataset: Dataset) -> None:
    """Keep in a run folder the hashes of the inputs that its predictions of held-back items are made from."""
    if inputs := _inputs(dataset, held=True):
        write_atomically(run / _HELD_BACK_INPUTS, json.dumps(inputs, indent=1, sort_keys=True).encode() + b"\n")


def is_truth_of(run: Path, dataset: Dataset, *, bound: str) -> bool:
    """Return whether ``dataset`` holds the truth of the items that a run folder has predictions of.

    It does where it names the manifest ``bound`` (SHA-256) that the run is for; or where the items that both have, at least one,
    have the same inputs: a public dataset that was fetched in part, or with licences stated for it, has another manifest.
    """
    public: Mapping[str, Any] | None = dataset.facts.get("truth_of")
    if public is None:
        return False
    if public.get("manifest_sha256") == bound:
        return True
    try:
        of_run: dict[str, str] = json.loads((run / _HELD_BACK_INPUTS).read_text())
    except (OSError, ValueError):  # no such file, or a damaged one: nothing shows that the items are the same
        return False
    of_dataset = _inputs(dataset, held=False)
    common = of_run.keys() & of_dataset.keys()
    return bool(common) and all(of_run[item] == of_dataset[item] for item in common)


def _inputs(dataset: Dataset, *, held: bool) -> dict[str, str | None]:
    """Item id -> SHA-256 of its input; ``held``: of the items alone whose truth is held back."""
    rows = zip(*(column(dataset, name) for name in ("item_id", "input_sha256", "truth_file_name")), strict=True)
    return {item_id: sha256 for item_id, sha256, truth in rows if not (held and truth)}
