"""`export freeze`: items of a workspace to a dataset; apart from what opens datasets, as it knows every recipe."""

from __future__ import annotations

from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.cli.build.running import Described
from inpaintbench.cli.console import Answer, AsJson, InWorkspace, Next
from inpaintbench.errors import UsageError
from inpaintbench.export.exposure import exposed_words
from inpaintbench.frozen import dataset_id, has_truth
from inpaintbench.recipes import dataset_table
from inpaintbench.recipes.settings import export, export_apart, recall
from inpaintbench.recipes.versions import Asked
from inpaintbench.workspace import Workspace


def freeze(
    workspace: InWorkspace,
    *,
    to: Path | None = None,
    held: list[str] | None = None,
    version: str | None = None,
    replace: bool = False,
    allow_near_duplicates: str | None = None,
    allow_exposed: str | None = None,
    describing: Described = Described(),
    as_json: AsJson = False,
) -> Answer:
    """Write the frozen dataset of a workspace. What changed since the last version is told first, and gets a version of its own.

    Args:
        to: Dataset folder. [default: WORKSPACE/exports/RECIPE]
        held --hold-back (SPLIT): Keep the truth of this split out of the dataset, in a second one called TO-truth; may be
            given again. [default: none]
        version (X.Y.Z): Of the dataset. [default: the last one's, or the next where the content changed; at first 1.0.0]
        replace: Publish this in the place of a dataset of other content, even where items are lost.
        allow_near_duplicates (WHY): Leave near-duplicates in different splits, for a reason that is published.
        allow_exposed (WHY): With --hold-back: let inputs show what lies under each other's holes, for a reason that is
            published.

    Example: inpaintbench export freeze WORKSPACE --to FOLDER
    """
    if allow_exposed is not None and not held:
        raise UsageError("--allow-exposed is for --hold-back; give both, or neither")
    opened = Workspace(workspace, create=False)
    say = console.warn if as_json else console.say
    asked = Asked(version=version, allow_near_duplicates=allow_near_duplicates, replace=replace, say=say)
    with console.writing(opened):
        before = dataset_table.kept(opened)
        table = describing.over(before)
        if table.splits != before.splits:
            raise UsageError("splits are dealt when items are made; give them to `inpaintbench build`")
        dataset_table.keep(opened, table)
        if held:
            made = list(export_apart(recall(opened), opened, splits=held, target=to, allow_exposed=allow_exposed, asked=asked))
        else:
            made = [export(recall(opened), opened, target=to, asked=asked)]
    facts = [
        {
            "folder": folder, "id": dataset_id(dataset), "items": len(dataset.items),
            "with_truth": sum(map(has_truth, dataset.items)),
            "slices": {part.name: len(part.item_ids) for part in dataset.slices}, "left_out": dataset.left_out,
            "removed": len(dataset.removed),
        }
        for folder, dataset in made
    ]  # fmt: skip
    (folder, dataset), counts = made[0], f"{len(made[0][1].items)} items in {len(made[0][1].slices)} slices"
    if not held:
        return Answer(facts, f"{counts}: {folder}", f"It is {dataset_id(dataset)}", Next("export", "verify", folder))
    apart, kept = made[1]
    held_back = dataset.facts["held_back"]
    if not as_json and (seen := held_back.get("shown_by_other_inputs")):
        why = f"; the dataset says that it is allowed because: {held_back['allowed']}" if "allowed" in held_back else ""
        console.warn(exposed_words(seen, len(kept.items)) + why)
    return Answer(facts, f"{counts}, {len(kept.items)} of them without truth: {folder}", f"their truth, to be kept: {apart}")
