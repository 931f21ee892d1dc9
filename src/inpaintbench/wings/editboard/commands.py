"""`build editing`, `eval run --for edits` and `eval report --for transcript`: EditBoard's clips, metrics and transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.build.planning import say_what_pairs_tell
from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.console import InShard, Locally, Running
from inpaintbench.cli.evaluate_options import (
    InDataset,
    Networks,
    ProtocolName,
    Run,
    SomeMetrics,
    kept_between_items,
    opened,
)
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, Positive, Seconds, of_recipe, option, read_option
from inpaintbench.cli.words import check_name
from inpaintbench.curation.nearer import ZOOM
from inpaintbench.curation.sources.edit_folders import EditClips
from inpaintbench.curation.sources.edit_prompts import read_columns
from inpaintbench.errors import InputError, RunError, UsageError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.cautions import exposure_sentences
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.run_folder import bind, references_in, scores_of
from inpaintbench.eval.scoring.score import SCORING_SECONDS
from inpaintbench.pages.words import count
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.editboard.checking import Finding
from inpaintbench.wings.editboard.media import read_manifest
from inpaintbench.wings.editboard.page import write_transcript
from inpaintbench.wings.editboard.recipe import AXIS, EditingRecipe, warnings
from inpaintbench.wings.editboard.scoring import FOLDER, Measuring, cautions, keep_apart, settings_of
from inpaintbench.wings.editboard.transcript import Told, transcript_of
from inpaintbench.workspace import Workspace

DEMO_SIDE = 192


def build_editing(
    *,
    out: Out,
    clips: Path | None = None,
    prompts: Path | None = None,
    columns: str | None = None,
    demo: Demo = False,
    masks: Path | None = None,
    fps: float = 24.0,
    fewest_prompts: Positive = 2,
    licence: Annotated[str | None, option("The former name of --footage-licence.", hidden=True)] = None,
    given: Annotated[Given, of_recipe(EditingRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Clips with prompts that ask for edits in four tasks. Masks say what these are about.

    Footage:
        clips: Folder of clips (frames or videos), as DAVIS, TGVE, EditBoard.
        prompts: CSV, JSON lines or JSON: clip, target_prompt or instruction, perhaps task, source_prompt and object.
        columns (OURS=THEIRS,...): What it calls these, where that is something else: clip=video_name,task=edit_type.
        masks: Folder of the clips' masks. [default: beside the clips]
        fps: Frames a second of folders of frames.
        fewest_prompts: Target prompts, or instructions, that a clip needs in each of its tasks.

    Example: inpaintbench build editing --clips CLIPS --prompts prompts.csv --out WORKSPACE
    """
    one_of(clips, demo, "--clips FOLDER")
    if clips is not None and prompts is None:
        raise UsageError("--clips says where clips lie; say what is asked of them, too: --prompts FILE")
    if columns and not prompts:
        raise UsageError("--columns says what a table calls its columns; say which table: --prompts FILE")
    if demo and (prompts or masks):
        raise UsageError("the demo has prompts and masks of its own; for yours give --clips FOLDER")
    if licence is not None:
        owning = replace(owning, footage_licence=licence)
    # The demo's films have 256 pixels a side at most.
    side = 256 // ZOOM if given.get("paired") else DEMO_SIDE
    small = {"name": "Video editing demo", "side": side} if demo else {}
    recipe = build.recipe(EditingRecipe, small, given)
    filmed = recipe.large["width"] if recipe.paired else recipe.side
    source = SourceSpec("embedded_edits", {"side": min(max(filmed, 128), 256)})
    if clips is not None:
        constants: dict[str, Any] = {
            "folder": str(clips), "prompts": str(prompts), "masks": None if masks is None else str(masks), "fps": fps,
            "fewest_prompts": fewest_prompts, **owning.constants, "mask_tasks": list(recipe.mask_tasks),
            **({"columns": read_option(read_columns, columns)} if columns else {}),
        }  # fmt: skip
        source = SourceSpec("edit_clips", constants)
        EditClips(**constants).checked()  # before there is a folder
    build.run(recipe, [source], out)
    dataset = frozen.load(out / "exports" / recipe.kind)
    if recipe.paired:
        say_what_pairs_tell(AXIS.name, dataset, Workspace(out))
    for warning in warnings(dataset.items):
        console.warn(f"warning: {warning}")


_PREFIX = "editboard/"
_OURS = [name for name in PROTOCOLS if name.startswith(_PREFIX)]
_MOST_NOTES = 20


def editboard(
    *,
    manifest: Path,
    out: Path,
    protocol: Annotated[str, Among(_OURS)] = "editboard/as-published",
    metric: SomeMetrics = None,
    side: Annotated[int | None, Ge(16), Le(4096)] = None,
    dry_run: bool = False,
    keep_going: bool = False,
    networks: Networks = Networks(),
    time_limit: Seconds = SCORING_SECONDS,
    running: Locally = Running(),
    shard: InShard = None,
) -> None:
    """Score edited videos by EditBoard's nine metrics. They come from a list; the transcript of every model is written.

    Args:
        manifest: The edited videos: .csv, .jsonl, .json or .parquet with original_video_path, edited_video_path,
            semantic_mask_path, source_prompt, target_prompt, and perhaps task, model, id.
        out: Folder for scores and transcript; the same command goes on where it was.
        protocol: One of: {names}.
        side: Squash all videos to squares of this side in pixels; EditBoard takes 512. [default: as they are]
        dry_run: Check everything and measure nothing.
        keep_going: Leave out edits that cannot be scored, and say so.
        time_limit: Seconds for one edit.

    Example: inpaintbench eval run --for edits --manifest edits.csv --out RUN --dry-run
    """
    check_name("protocol for edits", protocol, _OURS)
    measuring = Measuring.of(PROTOCOLS.get(protocol), metric, networks.compute, side_pixels=side, seconds=time_limit)
    listed = read_manifest(manifest)
    if listed.faults:
        for fault in listed.faults:
            console.warn(fault)
        raise InputError(f"{count(len(listed.faults), 'fault')} in {str(manifest)!r}; nothing was measured")
    keep_apart(out, listed.edits)
    if (out / "dataset.sha256").exists():
        raise InputError(f"{str(out)!r} is the run folder of a frozen benchmark; choose another --out")
    workspace = Workspace(out, shard=console.parse_shard(shard))
    with running.on(workspace) as executor:
        own = [edit for edit in listed.edits if workspace.takes(str(edit.original or edit.edited))]
        checked, findings = measuring.checked(executor, own, listed.folder)
        _tell(findings)
        spoilt = [item for item in checked if item.fault]
        if spoilt and (dry_run or not keep_going):
            which = "it" if len(spoilt) == 1 else "them"
            raise InputError(
                f"{len(spoilt)} of {count(len(own), 'edit')} in {str(manifest)!r} cannot be scored; nothing was measured: "
                f"mend {which}, or give --keep-going to leave {which} out"
            )
        models, originals = {edit.model for edit in own}, {edit.original for edit in own if edit.original}
        counted = f"{count(len(own), 'edit')} by {count(len(models), 'model')} of {count(len(originals), 'original')}"
        console.say(f"{manifest.name}: {counted}")
        if dry_run:
            console.say("Nothing is wrong with them; nothing was measured.")
            for sentence in measuring.lacking():
                console.say(sentence)
            return
        scored = measuring.score(executor, checked)
        if workspace.shard is None:
            for sentence in measuring.write(out, manifest.stem, listed.folder, checked, scored.rows):
                console.say(sentence)
    if scored.failures:
        raise RunError(f"{count(scored.failures, 'edit')} failed; the same command tries them again")


def _tell(findings: Sequence[Finding]) -> None:
    """All faults; of the rest, each sentence once with the places that it is true of."""
    for finding in findings:
        if finding.kind == "fault":
            console.warn(str(finding))
    places: dict[str, list[str]] = {}
    for finding in findings:
        if finding.kind != "fault":
            places.setdefault(finding.text, []).append(finding.where)
    for text, where in list(places.items())[:_MOST_NOTES]:
        more = f" and {len(where) - 1} more" if len(where) > 1 else ""
        console.warn(f"{where[0]}{more}: {text}")
    if len(places) > _MOST_NOTES:
        console.warn(f"and {len(places) - _MOST_NOTES} more notes")


def transcript(dataset: InDataset, *, run: Run, protocol: ProtocolName = None, out: Path | None = None) -> None:
    """Write the transcript of methods on a benchmark of edits. It has each metric in each task, with its figures.

    Args:
        out: Folder for the transcript. [default: RUN/transcript]

    Example: inpaintbench eval report --for transcript DATASET --run RUN
    """
    workspace, loaded = opened(run), frozen.load(dataset)
    if not any(map(frozen.is_edit, loaded.items)):
        raise InputError(f"{loaded.name!r} has no edits, so there is no transcript of it; use `inpaintbench eval report`")
    bind(workspace, dataset)
    name = protocol or usual(loaded)
    with console.writing(workspace):
        rows, _ = scores_of(workspace, loaded, dataset, name)
        told_of: Mapping[str, Told] = {row["item_id"]: Told(row["task"], frozen.source_of(row)) for row in loaded.items}
        facts = {(row.method, row.item_id): told_of[row.item_id] for row in rows}
        chosen: Protocol = PROTOCOLS.get(name)
        settings = settings_of(chosen, sorted({row.metric for row in rows if row.value is not None}))
        references, efforts = references_in(workspace), kept_between_items(workspace)
        results = Results(loaded, rows, protocol=chosen, references=references, efforts=efforts)
        transcript = transcript_of(
            rows, facts, title=loaded.name, settings=settings, references=references,
            notes=[*cautions(rows[0].fingerprint), *exposure_sentences(results)],
        )  # fmt: skip
        page = write_transcript((out or workspace.path / FOLDER).absolute(), transcript)
    console.say(f"Transcript: {page.resolve()}")
