"""ChaLearn 2018, track 1: people with blocks of pixels missing around their joints.

Photographs keep their size. Missing pixels are white. All crops of one photograph or film stay in one split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inpaintbench.catalogue import Deviation
from inpaintbench.curation.split import PEOPLE_SHARES
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Executor
from inpaintbench.export import slices
from inpaintbench.files import display_name
from inpaintbench.masks import render
from inpaintbench.masks.generators.given import Block, read_blocks
from inpaintbench.recipes import levels, stages
from inpaintbench.recipes.options import MASKS, Option, Seed, splits_option
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, MEASURED_MASKS
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Plain, Source, canonical_json
from inpaintbench.wings.chalearn.items import Sliced, write_items
from inpaintbench.workspace import Workspace

WHITE = 255
BLOCKS_FILE = "maskdata.json"
# Of the blocks of a picture, the share that stays at each level of a paired design; of the least one stays.
SHARES: Mapping[str, float] = {"one": 0.0, "half": 0.5, "all": 1.0}
AXIS = levels.LevelsOf("blocks_kept", tuple(SHARES), "number of blocks", "the photograph")
# Fewest blocks of a picture in it, so that no two levels are alike.
FEWEST_BLOCKS = 3
# Of the slices by number of blocks, both ends included; more than the last is `more`.
BLOCK_RANGES = ((1, 3), (4, 6), (7, 10))


class HumansRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "humans"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("paired",)
    follows: ClassVar[str] = "the paper of ChaLearn LAP 2018, track 1; its kit was not published"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "cut-outs of people",
            "not stated",
            "the box of the joints grown by half, at least 224 pixels and three joints, without another person over half of it",
            "pictures look like those that participants showed; none is the same",
        ),
        Deviation(
            "splits",
            "70/15/15 % of pictures at random",
            "70/15/15 % of photographs or films, whose cut-outs stay together",
            "no person is in two splits",
        ),
    )

    name: str = "People with missing blocks"
    seed: Seed = 0
    margin: Annotated[int, Option(MASKS)] = Field(100, ge=0)
    """Pixels between blocks and the edges of a photograph."""
    most_blocks: Annotated[int, Option(MASKS)] = Field(10, ge=1)
    """Most blocks in a photograph."""
    paired: Annotated[bool, Option(MASKS, "--paired/--no-paired")] = Field(
        False,
        exclude_if=lambda paired: not paired,
        description=f"Show photographs of {FEWEST_BLOCKS} blocks or more under one, half and all of their blocks.",
    )
    given_blocks: bool = False
    """The blocks come from a mask file, and the photographs need no joints."""
    shortest_side: int = Field(16, ge=1)
    """Smaller photographs are refused."""
    splits: Annotated[Mapping[str, float], splits_option("70,15,15")] = PEOPLE_SHARES
    """Shares of the pictures; those of one photograph stay together."""
    area_edges: tuple[float, ...] = (0.0, 0.1, 0.2, 0.4, 0.7)
    """Edges of the slices by hidden area."""

    @model_validator(mode="after")
    def _blocks_are_drawn(self) -> HumansRecipe:
        if self.paired and self.given_blocks:
            raise ValueError("paired: blocks that are given are taken as they are; give one of the two")
        return self


def check(recipe: HumansRecipe, *, blocks: Path | None = None) -> None:
    """Raise ``InputError`` when a mask file is wanted and not there, or is none."""
    if recipe.given_blocks:
        _read(blocks)


def curate(recipe: HumansRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Crops of people, at their size."""
    cutting = stages.Cutting(
        splitter={"name": "windows", "length": 1, "shortest": 1},
        normalizer={"name": "as_is", "shortest_side": recipe.shortest_side},
    )
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: HumansRecipe, executor: Executor, workspace: Workspace) -> None:
    """Nothing to measure: the joints came with the photographs."""


def corrupt(recipe: HumansRecipe, executor: Executor, workspace: Workspace, *, blocks: Path | None = None) -> None:
    """Blocks around the joints of every photograph that has room for them, or those of the mask file ``blocks``."""
    clips = stages.by_name(workspace, workspace.table("clips", Clip))
    require(clips, "clips", "build humans")
    known = stages.facts_of(workspace, [KNOWN])
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    source_of = {clip.clip_id: clip.source_id for clip in clips}
    given = _given(recipe, clips, uri, _read(blocks)) if recipe.given_blocks else None
    rendered = render.render(executor, _around_joints(recipe, clips, uri, known) if given is None else given)
    render.measure_all(executor, rendered)
    by_clip: dict[str, dict[str, Corruption]] = {}
    for hole in rendered.records:
        share = hole.parameters.get("kept_share", 1.0)
        by_clip.setdefault(hole.clip_id, {})[next(level for level, kept in SHARES.items() if kept == share)] = hole
    pairs = {
        clip: {level: of[level] for level in SHARES}
        for clip, of in by_clip.items()
        if len(of) == len(SHARES) and of["all"].facts["blocks"] >= FEWEST_BLOCKS
    }
    # Few blocks are shown all together alone.
    holes = [hole for hole in rendered.records if hole.clip_id in pairs or "kept_share" not in hole.parameters]

    def stated(hole: Corruption, name: str) -> str | None:
        row = known.get((source_of[hole.clip_id], name))
        return str(row.value) if row else None

    def sliced(hole_of: Mapping[str, Corruption]) -> list[Sliced]:
        areas = {item: float(hole.facts["area_fraction"]) for item, hole in hole_of.items()}
        names = [f"{low}-{high}" for low, high in BLOCK_RANGES]
        counts = {}
        for item, hole in hole_of.items():
            inside = [low <= hole.facts["blocks"] <= high for low, high in BLOCK_RANGES]
            counts[item] = (names[inside.index(True)] if any(inside) else "more",)
        hidden = {item: tuple(hole.facts["hidden_joint_names"]) for item, hole in hole_of.items()}
        sets = {item: (stated(hole, "set") or "own",) for item, hole in hole_of.items()}
        return [
            slices.by_bin(areas, "hidden area", name="area", edges=recipe.area_edges, percent=True),
            slices.by_value(counts, "number of blocks", name="blocks", wanted=names),
            slices.by_value(hidden, "hidden joint", name="joint"),
            slices.by_value(sets, "source set", name="set"),
        ]

    write_items(
        recipe,
        workspace,
        holes,
        groups={hole.clip_id: stated(hole, "split_group") or uri[source_of[hole.clip_id]] for hole in holes},
        sliced=sliced,
        axis=AXIS,
        pairs=pairs,
        empty="no photograph has room for a block; `inpaintbench curation rejected` says why",
    )


def _around_joints(
    recipe: HumansRecipe, clips: Sequence[Clip], uri: Mapping[str, str], known: Mapping[tuple[str, str], Attribute]
) -> list[render.MaskRequest]:
    requests = []
    for clip in clips:
        name, row = uri[clip.source_id], known.get((clip.source_id, "joints"))
        if row is None or row.blob is None:
            raise InputError(f"{name} comes without joints; blocks around joints need annotated people")
        for share in SHARES.values() if recipe.paired else (1.0,):
            constants: dict[str, Any] = {"margin": recipe.margin, "most_blocks": recipe.most_blocks}
            constants |= {"kept_share": share} if share < 1 else {}
            data, draw = {"joints": row.blob}, clip.clip_id
            requests.append(render.MaskRequest(clip, "joint_blocks", constants, recipe.seed, draw=draw, data=data, name=name))
    return requests


def _read(path: Path | None) -> dict[str, list[Block]]:
    if path is None:
        raise InputError("this recipe takes its blocks from a mask file; say where it lies: --blocks FILE")
    return read_blocks(path)


def _given(
    recipe: HumansRecipe, clips: Sequence[Clip], uri: Mapping[str, str], blocks: Mapping[str, Sequence[Block]]
) -> list[render.MaskRequest]:
    """Blocks of a mask file, found by a photograph's path in the folder of photographs, else by its name alone.

    Raises:
        InputError: a name without folders is that of several photographs.
    """
    taken: dict[str, str] = {}
    requests = []
    for clip in clips:
        name = display_name(uri[clip.source_id])
        key = name if name in blocks else Path(name).name
        if key in blocks and taken.setdefault(key, name) != name:
            raise InputError(f"the blocks of {key!r} may be of {taken[key]!r} or {name!r}: write them with their folders")
        chosen = {"blocks": [list(block) for block in blocks.get(key, ())]}
        requests.append(render.MaskRequest(clip, "given_blocks", chosen, recipe.seed, name=uri[clip.source_id]))
    return requests


def leaves_of(recipe: HumansRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    generator = "given_blocks" if recipe.given_blocks else "joint_blocks"
    return {"splitter": ["windows"], "normalizer": ["as_is"], "mask generator": [generator]}


def export(recipe: HumansRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/humans``."""
    publication = stages.Publication(
        recipe,
        attribute_steps=(KNOWN, MEASURED_MASKS, AXES_OF_ITEMS),
        leaves=leaves_of(recipe),
        about=f"Square blocks hide parts of people. `{BLOCKS_FILE}` holds them as the challenge does:"
        " item -> [row, column, size] triples.",
        fill=WHITE,
        extra=_block_file,
        facts=levels.facts(workspace, AXIS),
    )
    return stages.export(publication, workspace, target=target)


def _block_file(rows: Sequence[Plain]) -> Iterator[tuple[str, bytes]]:
    blocks = {f"{row['item_id']}.png": row["attributes"]["mask.block_triples"] for row in rows}
    yield BLOCKS_FILE, canonical_json(blocks).encode() + b"\n"


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = HumansRecipe()
