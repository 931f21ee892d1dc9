"""`eval editboard` and `eval transcript`: EditBoard's metrics and transcript, of a list of edited videos or of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.console import InShard, Locally, Running
from inpaintbench.cli.evaluate_options import (
    InDataset,
    InPrecision,
    OnDevice,
    ProtocolName,
    RandomWeights,
    Run,
    SomeMetrics,
    compute_of,
)
from inpaintbench.cli.options import option
from inpaintbench.cli.run_folder import bind, opened, scores_of
from inpaintbench.cli.scoring import unmeasured_metrics
from inpaintbench.cli.words import check_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, RunError
from inpaintbench.eval.editboard import files
from inpaintbench.eval.editboard.checking import Checked, Finding, check, needed
from inpaintbench.eval.editboard.looking import look
from inpaintbench.eval.editboard.manifest import Edit, plain, read_manifest
from inpaintbench.eval.editboard.scoring import fingerprint_of, score
from inpaintbench.eval.editboard.settings import cautions, settings_here, settings_of
from inpaintbench.eval.editboard.transcript import Told, transcript_of
from inpaintbench.eval.editboard.write import write_transcript
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.score import SCORING_SECONDS
from inpaintbench.eval.slices import source_of
from inpaintbench.executors.base import Executor
from inpaintbench.models import torch_networks, weights
from inpaintbench.pages.words import count
from inpaintbench.types import Score
from inpaintbench.workspace import Workspace

_PREFIX = "editboard/"
_OURS = [name for name in PROTOCOLS if name.startswith(_PREFIX)]
_FOLDER = "transcript"
_MOST_NOTES = 20


@dataclass(frozen=True)
class _Asked:
    """What the options say."""

    protocol: Protocol
    metrics: Sequence[str]
    compute: Compute
    side: int | None
    seconds: float


def editboard(
    manifest: Annotated[
        Path,
        option(
            "The edited videos: .csv, .jsonl, .json or .parquet with original_video_path, edited_video_path, "
            "semantic_mask_path, source_prompt, target_prompt, and perhaps task, model, id."
        ),
    ],
    out: Annotated[Path, option("Folder for scores and transcript; the same command goes on where it was.")],
    protocol: Annotated[str, option(f"One of: {', '.join(_OURS)}.", among=_OURS)] = "editboard/as-published",
    metric: SomeMetrics = None,
    side: Annotated[
        int | None,
        option(
            "Squash all videos to squares of this side in pixels; EditBoard takes 512.", default="as they are", min=16, max=4096
        ),
    ] = None,
    dry_run: Annotated[bool, option("Check everything and measure nothing.", "--dry-run")] = False,
    keep_going: Annotated[bool, option("Leave out edits that cannot be scored, and say so.", "--keep-going")] = False,
    device: OnDevice = "auto",
    precision: InPrecision = "fp32",
    random_weights: RandomWeights = None,
    time_limit: Annotated[float, option("Seconds for one edit.", min=1)] = SCORING_SECONDS,
    running: Locally = Running(),
    shard: InShard = None,
) -> None:
    """Score edited videos by EditBoard's nine metrics. They come from a list; the transcript of every model is written.

    Example: inpaintbench eval editboard --manifest edits.csv --out RUN --dry-run
    """
    asked = _asked(protocol, metric, compute_of(device, precision, random_weights), side, time_limit)
    listed = read_manifest(manifest)
    if listed.faults:
        _stop(manifest, listed.faults)
    _keep_apart(out, listed.edits)
    if (out / "dataset.sha256").exists():
        raise InputError(f"{str(out)!r} is the run folder of a frozen benchmark; choose another --out")
    workspace = Workspace(out, shard=console.parse_shard(shard))
    with running.on(workspace) as executor:
        own = [edit for edit in listed.edits if workspace.takes(str(edit.original or edit.edited))]
        checked, findings = _checked(executor, own, asked, listed.folder)
        _tell(findings)
        spoilt = [one for one in checked if one.fault]
        if spoilt and (dry_run or not keep_going):
            raise InputError(_refusal(manifest, spoilt, len(own)))
        console.say(f"{manifest.name}: {_in_words(own)}")
        if dry_run:
            console.say("Nothing is wrong with them; nothing was measured.")
            _tell_lacking(asked)
            return
        scored = score(
            executor, checked, protocol=asked.protocol.name, metrics=asked.metrics, compute=asked.compute, side_pixels=asked.side,
            time_limit_seconds=asked.seconds,
        )  # fmt: skip
        if workspace.shard is None:
            _write(out, manifest.stem, listed.folder, checked, scored.rows, asked)
    if scored.failures:
        raise RunError(f"{count(scored.failures, 'edit')} failed; the same command tries them again")


def _asked(protocol: str, metrics: list[str] | None, compute: Compute, side: int | None, seconds: float) -> _Asked:
    check_name("protocol for edits", protocol, _OURS)
    chosen: Protocol = PROTOCOLS.get(protocol)
    chosen.build_metrics(metrics)  # misspelt names are told before any work
    names = list(dict.fromkeys(metrics)) if metrics else list(chosen.metrics)
    if chosen.weights_of(names):
        torch_networks.check_device(compute)
    return _Asked(chosen, names, compute, side, seconds)


def _tell_lacking(asked: _Asked) -> None:
    """Metrics that would have no value for want of weights."""
    if asked.compute.random_weights is not None:
        return
    missing = {
        metric: [name for name in asked.protocol.weights_of([metric]) if weights.state(weights.named(name)) != "ready"]
        for metric in asked.metrics
    }
    if lacking := [metric for metric, names in missing.items() if names]:
        names = " ".join(dict.fromkeys(name for metric in lacking for name in missing[metric]))
        console.say(f"Will have no value here: {', '.join(lacking)}; `inpaintbench models fetch {names}` brings what they need")


def _keep_apart(out: Path, edits: Sequence[Edit]) -> None:
    target = out.absolute().resolve()
    for path in {path for edit in edits for path in (edit.original, edit.edited, edit.mask) if path is not None}:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise InputError(f"--out {str(out)!r} lies in the folder of frames {str(path)!r}, where nothing is to be written")


def _checked(executor: Executor, edits: Sequence[Edit], asked: _Asked, folder: Path) -> tuple[list[Checked], list[Finding]]:
    looked = look(executor, [one for edit in edits for one in needed(edit, asked.metrics)], folder=folder)
    published = not asked.protocol.name.endswith("corrected")
    return check(edits, looked, metrics=asked.metrics, side_pixels=asked.side, published=published)


def _tell(findings: Sequence[Finding]) -> None:
    """All faults; of the rest, each sentence once with the places that it is true of."""
    for one in findings:
        if one.kind == "fault":
            console.warn(str(one))
    places: dict[str, list[str]] = {}
    for one in findings:
        if one.kind != "fault":
            places.setdefault(one.text, []).append(one.where)
    for text, where in list(places.items())[:_MOST_NOTES]:
        more = f" and {len(where) - 1} more" if len(where) > 1 else ""
        console.warn(f"{where[0]}{more}: {text}")
    if len(places) > _MOST_NOTES:
        console.warn(f"and {len(places) - _MOST_NOTES} more notes")


def _stop(manifest: Path, faults: Sequence[str]) -> None:
    for fault in faults:
        console.warn(fault)
    raise InputError(f"{count(len(faults), 'fault')} in {str(manifest)!r}; nothing was measured")


def _refusal(manifest: Path, spoilt: Sequence[Checked], total: int) -> str:
    which = "it" if len(spoilt) == 1 else "them"
    some = f"{len(spoilt)} of {count(total, 'edit')} in {str(manifest)!r}"
    return f"{some} cannot be scored; nothing was measured: mend {which}, or give --keep-going to leave {which} out"


def _in_words(edits: Sequence[Edit]) -> str:
    models, originals = {edit.model for edit in edits}, {edit.original for edit in edits if edit.original}
    return f"{count(len(edits), 'edit')} by {count(len(models), 'model')} of {count(len(originals), 'original')}"


def _write(out: Path, title: str, folder: Path, checked: Sequence[Checked], rows: Sequence[Score], asked: _Asked) -> None:
    told = {(one.edit.model, one.edit.item_id): Told(one.edit.task, _source(one)) for one in checked}
    fingerprint = fingerprint_of(asked.protocol, asked.compute, side_pixels=asked.side)
    settings = settings_here(asked.protocol, asked.metrics, asked.compute, side_pixels=asked.side)
    notes = [*cautions(fingerprint), *_left_out(checked)]
    found = transcript_of(rows, told, title=title, notes=notes, settings=settings)
    edits = [plain(one.edit, folder) for one in sorted(checked, key=lambda one: (one.edit.model, one.edit.item_id))]
    more = {
        "edits.csv": files.edits_csv(edits, rows, found.metrics),
        "edits.json": files.edits_json(edits, rows, settings | {"protocol": found.protocol.name, "fingerprint": fingerprint}),
    }  # fmt: skip
    seed = asked.compute.random_weights  # what made-up parameters say never takes the place of what is real
    page = write_transcript(out / (_FOLDER if seed is None else f"{_FOLDER}-random-weights-{seed}"), found, more=more)
    unmeasured = sum(row.value is None for row in rows)
    console.say(f"{len(rows)} scores under {found.protocol.name}, {unmeasured} without a value")
    for reason, names in unmeasured_metrics(rows).items():
        console.say(f"not measured: {', '.join(names)}: {reason}")
    for caution in cautions(fingerprint):
        console.say(caution)
    console.say(f"Transcript: {page.resolve()}")


def _source(one: Checked) -> str:
    return (one.original or one.edited).digest or str(one.edit.original or one.edit.edited)


def _left_out(checked: Sequence[Checked]) -> list[str]:
    spoilt = sum(one.fault is not None for one in checked)
    return (
        [f"{spoilt} of {count(len(checked), 'edit')} could not be scored; they are told under what is missing."] if spoilt else []
    )


def transcript(
    dataset: InDataset,
    run: Run,
    protocol: ProtocolName = None,
    out: Annotated[Path | None, option("Folder for the transcript.", default="RUN/transcript")] = None,
) -> None:
    """Write the transcript of methods on a benchmark of edits. It has each metric in each task, with its figures.

    Example: inpaintbench eval transcript DATASET --run RUN
    """
    workspace, loaded = opened(run), frozen.load(dataset)
    if not any(map(frozen.is_edit, loaded.items)):
        raise InputError(f"{loaded.name!r} has no edits, so there is no transcript of it; use `inpaintbench eval report`")
    bind(workspace, dataset)
    name = protocol or usual(loaded)
    with console.writing(workspace):
        rows, _ = scores_of(workspace, loaded, dataset, name)
        told_of: Mapping[str, Told] = {row["item_id"]: Told(row["task"], source_of(row)) for row in loaded.items}
        told = {(row.method, row.item_id): told_of[row.item_id] for row in rows}
        chosen: Protocol = PROTOCOLS.get(name)
        settings = settings_of(chosen, sorted({row.metric for row in rows if row.value is not None}))
        found = transcript_of(rows, told, title=loaded.name, notes=cautions(rows[0].fingerprint), settings=settings)
        page = write_transcript((out or workspace.path / _FOLDER).absolute(), found)
    console.say(f"Transcript: {page.resolve()}")
