"""A workspace remembers the recipe it was begun with, so that every later stage can be run on its own."""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from inpaintbench.catalogue import Deviation, holding
from inpaintbench.errors import InputError, Waiting
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import growing
from inpaintbench.files import write_atomically
from inpaintbench.manifest import MANIFEST, dataset_id, load
from inpaintbench.mirrors import bring_exports
from inpaintbench.recipes import RECIPES, dataset_table, leakage, own_slices
from inpaintbench.recipes.dataset_table import SILENT, DatasetTable
from inpaintbench.recipes.stages import SourceSpec, check_sources, leaf_class, own_slices_of
from inpaintbench.recipes.versions import NOTHING_ASKED, Asked, exporting
from inpaintbench.types import Clip, Dataset, Item, canonical_json
from inpaintbench.workspace import Workspace

FILE = "recipe.json"
# Stage, such as ``label`` -> what is done before it.
Before = Mapping[str, Callable[[Executor], object]]
_OF_ITEMS = "recipe_of_items.json"


def remember(workspace: Workspace, recipe: BaseModel) -> None:
    """Keep ``recipe`` in the workspace. Raises what ``check_kind`` raises."""
    check_kind(workspace, recipe)
    write_atomically(workspace.path / FILE, _text(recipe))


def check_kind(workspace: Workspace, recipe: BaseModel) -> None:
    """Raise ``InputError`` where the workspace holds another kind of benchmark."""
    if (workspace.path / FILE).exists() and (kind := recall(workspace).kind) != _kind(recipe):
        raise InputError(
            f"workspace {str(workspace.path)!r} holds a {kind!r} benchmark; choose another --out for {_kind(recipe)!r}"
        )


def _kind(recipe: BaseModel) -> str:
    kind: str = recipe.kind  # type: ignore[attr-defined]
    return kind


def _text(recipe: BaseModel) -> bytes:
    return canonical_json({"recipe": _kind(recipe), **recipe.model_dump(mode="json")}).encode() + b"\n"


def recall(workspace: Workspace) -> Any:
    """The recipe of the workspace.

    Raises:
        InputError: there is none, or it is not a recipe.
    """
    path = workspace.path / FILE
    try:
        fields = json.loads(path.read_text())
        return RECIPES.get(fields.pop("recipe"))(**fields)
    except FileNotFoundError as error:
        raise InputError(
            f"workspace {str(workspace.path)!r} has no recipe yet; begin with `inpaintbench curation clips`"
        ) from error
    except (ValueError, KeyError, AttributeError, TypeError, ValidationError) as error:
        raise InputError(f"{str(path)!r} is not a recipe: {str(error).splitlines()[0]}") from error


def stages_of(recipe: BaseModel) -> Any:
    """The module with the recipe's stages: ``curate``, ``label``, ``corrupt``, ``export``."""
    return sys.modules[type(recipe).__module__]


def check(recipe: BaseModel, sources: Sequence[SourceSpec], **corrupting: Any) -> None:
    """Tell what cannot be used before any work, and before anything is written.

    Raises:
        InputError: a source, or what the recipe's ``corrupt`` wants besides, cannot be used.
    """
    check_sources(sources)
    if hasattr(stages_of(recipe), "check"):
        stages_of(recipe).check(recipe, **corrupting)


def label_again(recipe: BaseModel, executor: Executor, workspace: Workspace) -> None:
    """The stage ``label`` of a recipe, which the workspace then remembers; as before where the stage fails.

    Raises:
        Waiting: people have to answer first; it is remembered all the same.
    """
    try:
        stages_of(recipe).label(recipe, executor, workspace)
    except Waiting:
        remember(workspace, recipe)
        raise
    remember(workspace, recipe)


def corrupt(recipe: BaseModel, executor: Executor, workspace: Workspace, **corrupting: Any) -> None:
    """The stage ``corrupt`` of a recipe; the items then know which recipe made them.

    Raises:
        InputError: ``corrupting`` holds what this recipe has no use for, or what cannot be used; the items stay as they were.
    """
    takes = inspect.signature(stages_of(recipe).corrupt).parameters
    if foreign := [name for name in corrupting if name not in takes]:
        raise InputError(f"a {_kind(recipe)!r} benchmark takes no {foreign[0]}")
    check(recipe, (), **corrupting)
    (workspace.path / _OF_ITEMS).unlink(missing_ok=True)
    own_slices.measure(own_slices_of(workspace), executor, workspace)
    leakage.group(workspace, executor=executor)
    stages_of(recipe).corrupt(recipe, executor, workspace, **corrupting)
    write_atomically(workspace.path / _OF_ITEMS, _text(recipe))


def export(
    recipe: BaseModel,
    workspace: Workspace,
    *,
    target: Path | None = None,
    asked: Asked = NOTHING_ASKED,
) -> tuple[Path, Dataset]:
    """The stage ``export`` of a recipe.

    Args:
        recipe: that the items were made by.
        workspace: with the items.
        target: the dataset's folder; None = the recipe's own.
        asked: version, and what may be replaced.

    Raises:
        InputError: the items were made by other options, or not at all; something is in two splits; no such version; it would
            replace a published one that nobody said may go.
    """
    made_by = workspace.path / _OF_ITEMS
    if workspace.table("items", Item) and (not made_by.exists() or made_by.read_bytes() != _text(recipe)):
        raise InputError(
            f"the items of {str(workspace.path)!r} were made with other options; run `inpaintbench masks pair` first"
        )
    bring_exports(workspace.path)
    with exporting(workspace, asked) as made:
        exported: tuple[Path, Dataset] = stages_of(recipe).export(recipe, workspace, target=target)
        made.append(exported)
    growing.follow(workspace, exported[0])
    return exported


def begin(recipe: BaseModel, workspace: Workspace, append_to: Path | None) -> None:
    """Decide before any work whether what is built adds to a published dataset.

    Args:
        recipe: of the build.
        workspace: where it goes.
        append_to: folder of the published dataset; None = what is built depends on nothing that was published.

    Raises:
        InputError: no dataset is there, or one of another recipe.
    """
    if append_to is None:
        growing.begin_anew(workspace)
        return
    resolved = json.loads(_text(recipe))
    growing.append_to(workspace, append_to, resolved, usual=type(recipe)().model_dump(mode="json"))


def kept_by_growth(recipe: type[BaseModel], stated: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Choices of a published dataset that what adds to it keeps, where it states no others; stated axes come to those there are.

    Args:
        recipe: of both.
        stated: fields of what is added.
        folder: of the dataset; None = what is built adds to none.

    Raises:
        InputError: another design is stated, or axes for slices of other clips.
    """
    if folder is None or not (folder / MANIFEST).is_file():
        return {}
    dataset = load(folder)
    published, names = dataset.recipe, getattr(recipe, "kept_by_growth", ())
    if "design" in names:
        keeps, was = f"--append keeps the design of {dataset_id(dataset)}", str(published.get("design", "slices"))
        if (asked := str(stated.get("design", was))) != was:
            raise InputError(f"{keeps}, which is {was}, not {asked}; build the other with another --out")
        if was == "slices" and stated.get("axes"):
            raise InputError(
                f"{keeps}, which has slices of other clips and no axes; leave --axis out, or build pairs with another --out"
            )
    before = {name: published[name] for name in names if name in published}
    kept = {name: value for name, value in before.items() if name not in stated}
    if before.get("design") == "paired" and stated.get("axes"):
        kept["axes"] = (*recipe(**before).axes_of_pairs, *stated["axes"])  # type: ignore[attr-defined]
    return kept


def leave_out_published(workspace: Workspace) -> None:
    """Take clips out whose footage is published already, cut or scaled by another version of the program."""
    published = growing.appended(workspace)
    if published is None or workspace.shard:
        return
    for step in workspace.steps("clips"):
        clips = workspace.table("clips", Clip, step=step)
        if doubles := {clip.clip_id for clip in growing.cut_otherwise(published, clips)}:
            why = "is published already, as another version of the program cut it"
            told = [Rejection(name, "published.notes", name, why) for name in sorted(doubles)]
            workspace.write_table("rejected", "published.notes", told, Rejection)
            workspace.write_table("clips", step, [clip for clip in clips if clip.clip_id not in doubles], Clip)


def own_export(recipe: BaseModel, workspace: Workspace) -> Path:
    """The folder that a workspace's dataset is exported to, unless another is given."""
    return workspace.path / "exports" / _kind(recipe)


def build(
    recipe: BaseModel, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace, *,
    table: DatasetTable = SILENT, append_to: Path | None = None, asked: Asked = NOTHING_ASKED,
    before: Before = MappingProxyType({}), **corrupting: Any,
) -> tuple[Path, Dataset]:  # fmt: skip
    """All stages of a recipe; does only what is missing.

    Args:
        recipe: with every choice.
        sources: where footage comes from.
        executor: who does the work.
        workspace: where it is kept.
        table: what is said of the dataset.
        append_to: folder of a published dataset that everything is kept of; None = none.
        asked: version, and what may be replaced.
        before: stage, such as ``label`` -> what is done before it.
        corrupting: what the recipe's ``corrupt`` wants besides, such as the folder of saved masks.

    Returns:
        The dataset's folder and manifest.
    """
    check(recipe, sources, **corrupting)
    begin(recipe, workspace, append_to)
    remember(workspace, recipe)
    dataset_table.keep(workspace, table)

    def ahead_of(stage: str) -> None:
        if stage in before:
            before[stage](executor)

    stages = stages_of(recipe)
    ahead_of("curate")
    stages.curate(recipe, sources, executor, workspace)
    leave_out_published(workspace)
    ahead_of("label")
    stages.label(recipe, executor, workspace)
    ahead_of("corrupt")
    corrupt(recipe, executor, workspace, **corrupting)
    return export(recipe, workspace, asked=asked)


def export_apart(
    recipe: BaseModel, workspace: Workspace, *, splits: Sequence[str], target: Path | None = None,
    allow_exposed: str | None = None, asked: Asked = NOTHING_ASKED,
) -> tuple[tuple[Path, Dataset], tuple[Path, Dataset]]:  # fmt: skip
    """The stage ``export`` of a recipe, and then ``hold_back``; the whole is not left anywhere.

    Args:
        recipe: of the workspace.
        workspace: with items.
        splits: those whose truth is held back.
        target: folder of the public dataset, by default ``WORKSPACE/exports/RECIPE``; the truth goes beside it, ``-truth``
            after the name.
        allow_exposed: why inputs may show what lies under the holes of others; published where they do.
        asked: version, and what may be replaced.

    Returns:
        Folder and manifest of the public dataset, and of the one with the truth.

    Raises:
        InputError: items that are missing or out of date, or what ``hold_back`` refuses.
        UnknownNameError: no such split.
        WorkspaceError: not writable.
    """
    from inpaintbench.export.freeze import check_target
    from inpaintbench.export.holding_back import hold_back

    public = target or workspace.path / "exports" / str(recipe.kind)  # type: ignore[attr-defined]
    truth, whole = public.with_name(f"{public.name}-truth"), public.with_name(f".{public.name}.whole")
    for folder in (public, truth):
        check_target(folder)
    shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed
    try:
        export(recipe, workspace, target=whole, asked=replace(asked, besides=(public, truth)))
        shown, kept = hold_back(whole, splits=splits, public=public, truth=truth, allow_exposed=allow_exposed)
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return (public, shown), (truth, kept)


def published() -> list[Any]:
    """The recipes that follow a publication, each in the form ``AS_PUBLISHED`` of its module, in the order of ``RECIPES``."""
    modules = [sys.modules[RECIPES.get(name).__module__] for name in RECIPES]
    return [module.AS_PUBLISHED for module in modules if hasattr(module, "AS_PUBLISHED")]


def all_deviations(recipe: Any) -> list[tuple[str, Deviation]]:
    """Return where a recipe differs from what it follows, each with the leaf that states it, or "" for the recipe's own."""
    own = holding(recipe.deviations, recipe.model_dump())
    leaves = [leaf_class(kind, name) for kind, names in stages_of(recipe).leaves_of(recipe).items() for name in names]
    stated = [(leaf.name, deviation) for leaf in leaves for deviation in holding(leaf.deviations, recipe.model_dump())]
    return [("", deviation) for deviation in own] + stated
