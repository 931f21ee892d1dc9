"""A folder of predictions and scores, bound to one frozen dataset: what it holds, and whether that still stands."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, RunError, UnknownNameError, VerifyError, WorkspaceError
from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.parts import held_back_words, items_of_slices
from inpaintbench.executors.base import Rejection, Step
from inpaintbench.files import file_sha256, write_atomically
from inpaintbench.frozen import content_of, dataset_id
from inpaintbench.ledgers import is_sealed, is_whole, sealed
from inpaintbench.manifest import column
from inpaintbench.pages.words import count
from inpaintbench.steps import predict_step, predicted_label, score_step
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Dataset, Plain, Prediction, Score, SliceScore, canonical_json
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

# In the details of a score, kind of what kept it from a value: bytes that are not those that were published or predicted.
DAMAGED = VerifyError.__name__
# Parts of an item whose hashes its scores state, besides that of the prediction.
PROOFS = ("truth", "hole", "input")
NOT_RUN = "the method was not run on this item"
# Endings of files beside the predictions of a method: that it is a reference; the option of `eval run` that asks for it; a
# list of sentences where its task is another; what it may have kept of an item for another, a word of ``BETWEEN_ITEMS``.
REFERENCE, OPTION, TASK, BETWEEN = ".reference", ".option", ".task", ".between"
# Of those beside any table: what its step was asked for; beside scores: the digest of what they are of.
SETTINGS, _DIGEST = ".settings", ".sha256"
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


def digest(ids: Iterable[str], predictions: Sequence[Prediction], failures: Mapping[str, str]) -> str:
    """SHA-256, hexadecimal, of what there is to score of one method: for each item its blob, or the reason why there is none."""
    blobs = {row.item_id: row.blob for row in predictions}
    results = {item: ["blob", blobs[item]] if item in blobs else ["failure", failures.get(item, NOT_RUN)] for item in ids}
    return hashlib.sha256(canonical_json(results).encode()).hexdigest()


def remember_scored(workspace: Workspace, scored: str, *, step: str) -> None:
    """Keep the digest ``scored`` beside the table of the step ``step`` that scored it."""
    _keep(_digest_file(workspace, step), scored)


def is_stale(workspace: Workspace, dataset: Dataset, *, protocol: str, method: str) -> bool:
    """Return whether the predictions of a method are others than those that its scores under ``protocol`` were made of.

    False where nothing tells: scores from before digests were kept, and scores whose predictions are gone.

    Raises:
        WorkspaceError: what tells is damaged.
    """
    path = _digest_file(workspace, score_step(protocol, method))
    predictions, failures = predictions_of(workspace, method)
    if not path.exists() or not (predictions or failures):
        return False
    return bool(_kept(workspace, path) != digest(column(dataset, "item_id"), predictions, failures))


def _digest_file(workspace: Workspace, step: str) -> Path:
    return workspace.path / "tables" / "scores" / f"{step}{_DIGEST}"


# What stands beside the predictions of a method


def remember(workspace: Workspace, label: str, ending: str, told: object) -> None:
    """Keep something beside the predictions of a method; None and False take it away.

    Args:
        workspace: of the run.
        label: of the method.
        ending: of the file: what is told, one of those above.
        told: any JSON.
    """
    path = workspace.path / "tables" / "predictions" / f"{predict_step(label)}{ending}"
    if told is None or told is False:
        path.unlink(missing_ok=True)
    else:
        _keep(path, told)


def remembered(workspace: Workspace, ending: str) -> dict[str, Any]:
    """Label of a method of a run folder -> what stands beside its predictions; of release 0.2 the text of the file.

    Raises:
        WorkspaceError: one is damaged.
    """
    paths = sorted((workspace.path / "tables" / "predictions").glob(f"{predict_step('*')}{ending}"))
    labels = {path: predicted_label(path.name.removesuffix(ending)) for path in paths}
    return {label: _kept(workspace, path) for path, label in labels.items() if label is not None}


def references_in(workspace: Workspace) -> frozenset[str]:
    """Labels of the reference methods of a run folder: floors that others are seen against, and that never compete."""
    return frozenset(remembered(workspace, REFERENCE))


def tasks_in(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """Label of a method of a run folder -> sentences on where its task is another than the published one."""
    found = remembered(workspace, TASK)
    return {label: tuple(told.splitlines() if isinstance(told, str) else told) for label, told in found.items()}


# Files beside tables: a value with its own hash


def _keep(path: Path, told: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, sealed(canonical_json({"told": told}).encode()) + b"\n")


def read_kept(path: Path) -> Any:
    """What a file beside a table tells. Release 0.2 wrote the plain text of some, without a hash, which is returned as it is.

    Raises:
        OSError: it is not there. ValueError: it is damaged.
    """
    line = path.read_bytes().removesuffix(b"\n")
    plain = not line.startswith(b"{") or line.startswith(b"{\n")
    if plain and path.suffix not in (SETTINGS, BETWEEN) and (line or path.suffix == REFERENCE) and is_whole(line):
        return line.decode(errors="replace")
    if not is_sealed(line) or "told" not in (found := json.loads(line)):
        raise ValueError("it has another SHA-256 than it states")
    return found["told"]


def _kept(workspace: Workspace, path: Path) -> Any:
    try:
        return read_kept(path)
    except ValueError as error:
        raise WorkspaceError(f"{str(path)!r} is damaged: {error}; {repair_words(workspace.path)}") from error


def kept_files(run: Path) -> list[Path]:
    """All such files of a run folder."""
    beside = [path for ending in (SETTINGS, BETWEEN, TASK, OPTION, REFERENCE) for path in (run / "tables").glob(f"*/*{ending}")]
    digests = (path for path in (run / "tables" / "scores").glob(f"*{_DIGEST}") if path.with_suffix("").suffix != ".parquet")
    return sorted([*beside, *digests, *run.glob(_HELD_BACK_INPUTS)])


# Settings of steps, to do again what is damaged


def remember_settings(workspace: Workspace, step: Step, told: Plain) -> None:
    """Keep beside the table of ``step`` what it was asked for: ``root`` of the dataset, ``only`` some items or None, and more.

    Items of earlier calls with the same settings are asked for still.
    """
    path = workspace.path / "tables" / step.table / f"{step.name}{SETTINGS}"
    with suppress(OSError, ValueError):
        before = read_kept(path)
        same: Plain = {"only": None, "remarks": ()}
        if {**before, **same} == {**told, **same}:
            told = {**told, "only": sorted({*before["only"], *told["only"]}) if before["only"] and told["only"] else None}
    _keep(path, told)


def settings_in(workspace: Workspace, table: str) -> list[dict[str, Any]]:
    """The settings of all steps with a table, but for damaged ones."""
    found = []
    for path in sorted((workspace.path / "tables" / table).glob(f"*{SETTINGS}")):
        with suppress(ValueError):
            found.append(read_kept(path))
    return found


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


def check_undamaged(rows: Iterable[Score], run: Path) -> None:
    """Refuse scores that have no value because stored bytes are damaged: of what is left, every mean would be another.

    Raises:
        VerifyError: which items these are, of which methods, and the way out.
    """
    damaged = {(row.item_id, row.method): str(row.reason) for row in rows if row.details.get(UNEXPECTED) == DAMAGED}
    if damaged:
        (item, method), reason = next(iter(damaged.items()))
        others = _listed([repr(item) for item in dict.fromkeys(item for item, _ in damaged)])
        more = f"; {len(damaged)} results have none, of {others}" if len(damaged) > 1 else ""
        raise VerifyError(f"item {item!r} of {method!r} has no scores: {reason}{more}. {repair_words(run)}")


def repair_words(run: Path) -> str:
    """The way out of a damaged run folder."""
    return f"`inpaintbench eval verify {shlex.quote(str(run))} --repair` does again what a run lost"


def check_any_value(rows: Sequence[Score]) -> None:
    """Raise ``RunError`` where scoring gave not one value: the commonest reason says why."""
    if without_value(rows) == len(rows):
        reasons = Counter(row.reason or "no reason is known" for row in rows).most_common(1)
        why = f": {reasons[0][0]}" if reasons else ": no method was run on an item that was to be scored"
        raise RunError(f"{len(rows)} of {len(rows)} scores have no value{why}")


def items_without_value(rows: Iterable[Score], *, unmeasured: Collection[str]) -> int:
    """Return how many items lack a value by some metric for some method; ``unmeasured`` metrics have none of any."""
    lacking = (row for row in rows if row.metric not in unmeasured and not row.details.get(INAPPLICABLE))
    return len({row.item_id for row in lacking if row.value is None and row.features is None})


def without_value(rows: Iterable[Score]) -> int:
    """Return how many scores have neither a value nor the vector of a metric of sets."""
    return sum(row.value is None and row.features is None for row in rows)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_SLICES} others" if len(names) > _NAMED_SLICES else ""
    return ", ".join(names[:_NAMED_SLICES]) + more


# Items whose truth is held back


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
        told = read_kept(run / _HELD_BACK_INPUTS)
        of_run: dict[str, str] = json.loads(told) if isinstance(told, str) else told
    except (OSError, ValueError, RecursionError):  # no such file, or a damaged one: nothing shows that the items are the same
        return False
    of_dataset = _inputs(dataset, held=False)
    common = of_run.keys() & of_dataset.keys()
    return bool(common) and all(of_run[item] == of_dataset[item] for item in common)


def _inputs(dataset: Dataset, *, held: bool) -> dict[str, str | None]:
    """Item id -> SHA-256 of its input; ``held``: of the items alone whose truth is held back."""
    rows = zip(*(column(dataset, name) for name in ("item_id", "input_sha256", "truth_file_name")), strict=True)
    return {item_id: sha256 for item_id, sha256, truth in rows if not (held and truth)}


def bind(workspace: Workspace, root: Path) -> str | None:
    """Remember which dataset a run folder is for.

    Predictions made on a public dataset are scored on the one that holds its truth: the folder stays that of the first. A folder
    of an earlier version becomes one of the new version, where predictions and scores of items that stayed stand.

    Returns:
        That the folder goes on from an earlier version, in a sentence; None where it does not.

    Raises:
        InputError: it is for another one.
    """
    marker, content = workspace.path / "dataset.sha256", workspace.path / "dataset.content"
    manifest = file_sha256(root / frozen.MANIFEST)
    bound = marker.read_text(errors="replace").strip() if marker.exists() else ""
    if bound == manifest:
        return None
    dataset = frozen.load(root)
    same = content.exists() and content.read_text(errors="replace").strip() == content_of(
        dataset
    )  # of another version, or sealed anew
    earlier = frozen.version_of(dataset, bound) if bound and not same else None
    if bound and not same and not earlier and not is_truth_of(workspace.path, dataset, bound=bound):
        raise InputError(
            f"run folder {str(workspace.path)!r} holds results on another dataset than {dataset_id(dataset)}; use another --run"
        )
    if not bound or earlier:
        # Those that its predictions of held-back items are made from.
        if inputs := _inputs(dataset, held=True):
            _keep(workspace.path / _HELD_BACK_INPUTS, inputs)
        write_atomically(content, f"{content_of(dataset)}\n".encode())
        write_atomically(marker, f"{manifest}\n".encode())
    return f"results on {earlier} go on as those on {dataset_id(dataset)}" if earlier else None


def predicted(workspace: Workspace) -> list[str]:
    """Methods with predictions, sorted.

    Raises:
        InputError: there are none.
    """
    tables = (workspace.path / "tables").glob("*/*.parquet")
    labels = sorted({label for path in tables if (label := predicted_label(path.stem)) is not None})
    if not labels:
        raise InputError(f"no predictions in {str(workspace.path)!r}; run `inpaintbench eval run` first")
    return labels


def scored_methods(workspace: Workspace, protocol: str) -> list[str]:
    """Methods with scores under a protocol, sorted."""
    prefix = score_step(protocol, "")
    return [step.removeprefix(prefix) for step in workspace.steps("scores") if step.startswith(prefix)]


def check_scored(method: str, scored: Sequence[str]) -> None:
    """Raise ``UnknownNameError`` where others were scored and ``method`` was not."""
    if scored and method not in scored:
        raise UnknownNameError(
            f"{unknown_name('scored method', method, list(scored))}: run `inpaintbench eval run --for scores` for others"
        )


def scores_of(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, *, methods: Sequence[str] | None = None
) -> tuple[Scores[Score], list[SliceScore]]:
    """Scores under a protocol, of items and of slices, of all methods or some.

    Raises:
        InputError: there are none, or a method was run again after it was scored: old scores would stand for new predictions; or
            the dataset grew since, and a method was not run on what is new.
        VerifyError: there are none of some item because its bytes are damaged.
        WorkspaceError: a table is damaged.
    """
    command = (PROTOCOLS.get(protocol).command if protocol in PROTOCOLS else "eval run --for scores").split()
    rows = [row for row in workspace.table("scores", Score) if row.protocol == protocol]
    rows = [row for row in rows if methods is None or row.method in methods]
    if not rows:
        others = sorted({row.protocol for row in workspace.table("scores", Score)})
        there = f", but under {', '.join(others)}: give --protocol, or" if others else ";"
        first = shlex.join(["inpaintbench", *command, str(root), "--run", str(workspace.path), "--protocol", protocol])
        raise InputError(f"no scores under protocol {protocol!r} in {str(workspace.path)!r}{there} run `{first}` first")
    for method in dict.fromkeys(row.method for row in rows):
        if is_stale(workspace, dataset, protocol=protocol, method=method):
            again = shlex.join(["inpaintbench", *command, str(root), "--run", str(workspace.path), "--protocol", protocol])
            scored = {row.item_id for row in rows if row.method == method}
            predictions, failures = predictions_of(workspace, method)
            found = {*(row.item_id for row in predictions), *failures, *scored}
            gained = [item for item in column(dataset, "item_id") if item not in found]
            # Whether they are all that is new: none of them was scored or predicted, and all else still stands.
            kept = _kept(workspace, _digest_file(workspace, score_step(protocol, method)))
            if gained and kept == digest(scored, predictions, failures):
                more = f"the dataset has {count(len(gained), 'item')} more than when {method!r} was run and scored"
                raise InputError(f"{more} under {protocol!r}: run `inpaintbench eval run` first, then `{again}`")
            raise InputError(f"the scores of {method!r} under {protocol!r} are older than its predictions; run `{again}` again")
    check_undamaged(rows, workspace.path)
    return Scores(rows), [row for row in workspace.table("slice_scores", SliceScore) if row.protocol == protocol]


def check_reportable(root: Path, slices: Sequence[str]) -> None:
    """Refuse a report before anything runs where not one of the asked items can be scored.

    Args:
        root: a frozen dataset.
        slices: the items that are asked for are in these; () = all items.

    Raises:
        InputError: the truth of every asked item is held back, or no item is in the slices. UnknownNameError: no such slice.
    """
    dataset = frozen.load(root)
    asked = items_of_slices(dataset, slices) if slices else {row["item_id"] for row in dataset.items}
    words = held_back_words(dataset)
    if words and not any(row["item_id"] in asked and not frozen.is_held_back(row) for row in dataset.items):
        raise InputError(f"{words}; leave out --report, and send the run folder to those who hold the truth")


RecordT = TypeVar("RecordT")


class Scores(list[RecordT]):
    """Scores in the order in which they were measured: ``ItemScore`` of arrays and folders, ``Score`` of a run folder."""

    def to_pandas(self, dataset: Dataset | None = None) -> pd.DataFrame:
        """Return a table with a row for each score and a column for each of its fields.

        A missing value is NaN, and ``reason`` says why it is missing.

        Args:
            dataset: that the scores are on; with it every row has the ``source`` of its item by which means cluster, its
                ``source_id`` (the file), its slices (names, with ``;`` between) and ``attribute.NAME`` for each attribute that is
                a number or a word.
        """
        import pandas as pd  # takes half a second, and most commands make no table

        table = pd.DataFrame(list(self))
        if "value" in table:
            table = table.astype({"value": "float64"})  # of objects where all are missing
        if dataset is None or table.empty:
            return table
        slices: dict[str, list[str]] = {}
        for part in dataset.slices:
            for item_id in part.item_ids:
                slices.setdefault(item_id, []).append(part.name)
        wanted, items = set(table["item_id"]), []
        for row in dataset.items:
            if row["item_id"] in wanted:
                facts = {"source": frozen.source_of(row), "source_id": row["source_id"]}
                facts |= {"item_id": row["item_id"], "slices": ";".join(slices.get(row["item_id"], ()))}
                for name, value in row.get("attributes", {}).items():
                    if value is None or isinstance(value, str | int | float):
                        facts[f"attribute.{name}"] = value
                items.append(facts)
        return table.merge(pd.DataFrame(items), on="item_id", how="left", validate="many_to_one")
