"""Stages that recipes have in common: sources to clips, corruptions to items, items to a frozen dataset.

A recipe module has one pydantic class with every choice, and four stages with one signature each, so that commands can run any
stage of any recipe: ``curate(recipe, sources, executor, workspace)``, ``label(recipe, executor, workspace)``,
``corrupt(recipe, executor, workspace)`` and ``export(recipe, workspace, target=None)``. Each reads the tables of the one before.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from inpaintbench.catalogue import Catalogue
from inpaintbench.curation import bars, duplicates, footage, judging, measuring
from inpaintbench.curation.attributes.changes import TransitionFraction
from inpaintbench.curation.attributes.hashes import PerceptualHash
from inpaintbench.curation.footage import NORMALISED, normalised
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sources import SOURCES
from inpaintbench.curation.sources.base import Footage, SourceLeaf, located, parts_by_footage
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.errors import InputError, RunError
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export.growing import Published, appended
from inpaintbench.export.licences import STATED, is_unstated
from inpaintbench.files import display_name
from inpaintbench.lazily import lazily
from inpaintbench.manifest import ArrayIds
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.recipes import dataset_table, leakage, own_slices, versions
from inpaintbench.recipes.own_slices import OwnSlice
from inpaintbench.steps import ALIKE, AXIS_CLIPS, LEVELS, MEASURED_MASKS, NAMES, PAIR
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Plain, Selection, Slice, Source
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.export.gathering import Batches

pc = lazily("pyarrow.compute")

# Part of footage that says in JSON what the others are, and the attribute of items that share a clip.
_SCENE, ITEM_NAME = "scene", "item_name"


@dataclass(frozen=True)
class SourceSpec:
    """A source leaf with its constants."""

    leaf: str
    constants: Plain
    label: str = ""
    """Tells two specs of one leaf apart."""

    @cached_property
    def made(self) -> SourceLeaf:
        """The leaf: one for checks and for the work, so that what lies at an address is listed once.

        Raises:
            InputError: constants that it does not take, or that say where nothing is.
        """
        made = SOURCES.get(self.leaf)
        try:
            leaf: SourceLeaf = made(**self.constants)
        except TypeError as error:
            raise InputError(f"source {self.leaf!r} cannot be built with {dict(self.constants)}: {error}") from error
        return leaf


# Frames; longer than any clip.
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Cutting:
    """Leaves by which sources become clips, with their constants, ``{"name": ..., constant: value}``."""

    splitter: Plain
    normalizer: Plain
    fps: float | None = None
    form: str = "near-lossless"
    cut_bars: bool = False
    reader: str = "pyav"
    """Reader that looks for bars, one of ``video.READERS``."""
    rules: tuple[Rule, ...] = ()
    """Those on ``probe.*`` are applied before a source is cut."""
    shares: bool = False
    """Whether a clip may have several items by footage of the same bytes, each with parts of its own."""
    hdr: str = "exclude"
    """Treatment of films of high dynamic range: ``exclude`` or ``tone_map``."""

    @classmethod
    def without_loss(cls, normalizer: Plain, *, frames: int | None, shortest: int = 1, shares: bool = False) -> Cutting:
        """Films whole, or in windows of ``frames``, stored without loss."""
        splitter = {"name": "windows", "length": frames or _LONGEST, "shortest": shortest}
        return cls(splitter=splitter, normalizer=normalizer, form="lossless", shares=shares)


@dataclass(frozen=True)
class Curated:
    """Clips that sources gave."""

    sources: list[Source]
    """Each content once."""
    footage: list[Footage]
    clips: list[Clip]


def curate(cutting: Cutting, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> Curated:
    """Find, probe, cut. What the sources say of themselves becomes attributes.

    Raises:
        InputError: constants that a source does not take.
        RunError: not one clip; says why the sources gave none.
    """
    footages: list[Footage] = []
    by_step: dict[str, list[Source]] = {}
    refused: list[Rejection] = []
    check_sources(sources)
    by_index = SPLITTERS.get(cutting.splitter["name"]).by_index
    notes: list[Rejection] = []
    for spec in sources:
        leaf = spec.made
        pieces, outcome = footage.find(executor, leaf, constants=spec.constants, label=spec.label, by_index=by_index)
        notes += [Rejection(name, "notes", name, reason) for name, reason in leaf.notes()]
        by_step[footage.find_step(spec.leaf, spec.label)] = outcome.records
        footages, refused = [*footages, *pieces], [*refused, *outcome.rejected]
    for path in sorted((workspace.path / "tables").glob("*/find.*.parquet")):
        if path.stem not in by_step:  # what an earlier run found elsewhere is not part of this benchmark
            workspace.write_table(path.parent.name, path.stem, [], Source)
    distinct, doubles, shared = footage.distinct([row for rows in by_step.values() for row in rows], shares=cutting.shares)
    kept = {(row.source_id, row.uri, row.origin): row for row in distinct}
    for step, rows in by_step.items():
        # The table names each content once, so that name and licence of a clip are those of the source that was kept.
        chosen = [kept.pop(key) for row in rows if (key := (row.source_id, row.uri, row.origin)) in kept]
        workspace.write_table("sources", step, chosen, Source)
    first = {row.source_id: row.uri for row in distinct}
    notes += [
        Rejection(uri, "notes", uri, f"shares its clip with {display_name(first[name])}: both are items of one source")
        for name, uris in shared.items()
        for uri in uris
    ]
    workspace.write_table("rejected", "notes", notes, Rejection)
    where = located(distinct, footages)
    how: dict[str, Any] = {
        "splitter": cutting.splitter, "normalizer": cutting.normalizer, "fps": cutting.fps, "form": cutting.form,
        "hdr": cutting.hdr,
    }  # fmt: skip
    cut, asked = None, not by_index and any(rule.attribute == TransitionFraction.name for rule in cutting.rules)
    if cutting.cut_bars or judging.source_rules(cutting.rules):
        probed = footage.probe(executor, distinct, where, doubles, transitions=asked, by_index=by_index)
    else:
        probed, cut = footage.probe_and_cut(executor, distinct, where, doubles, transitions=asked, by_index=by_index, **how)
    footage.known_labels(workspace, distinct, footages, shared)
    early = judging.refused_sources(distinct, probed.records, cutting.rules)
    workspace.write_table("rejected", judging.SOURCE_RULES, early, Rejection)
    facts = probed.records
    if cut is None:
        wanted, found_bars = _with_bars(cutting, executor, distinct, where, facts, early)
        facts = facts + found_bars
        cut = footage.cut(executor, wanted, where, found_bars, **how)
    done = normalised(cut.records, facts, normalizer=cutting.normalizer, fps=cutting.fps, blobs=workspace.blobs)
    workspace.write_table("attributes", NORMALISED, done, Attribute)
    if not workspace.shard:
        _forget_other_clips(workspace, {clip.clip_id for clip in cut.records})
    if not cut.records and not workspace.shard:
        raise RunError(_no_clips(len(footages), [*refused, *probed.rejected, *early, *cut.rejected], sources[0]))
    return Curated(distinct, footages, cut.records)


def _with_bars(
    cutting: Cutting,
    executor: Executor,
    distinct: Sequence[Source],
    where: Mapping[str, Mapping[str, Any]],
    facts: Sequence[Attribute],
    early: Sequence[Rejection],
) -> tuple[list[Source], list[Attribute]]:
    """Sources that are to be cut, and the black bars of their films where those are cut away.

    Args:
        cutting: how films are cut.
        executor: who looks for bars.
        distinct: the sources, each content once.
        where: places of their files.
        facts: of the sources, as probing found them.
        early: sources that rules refuse by these.
    """
    dropped = {row.uri for row in distinct} & {row.subject_id for row in early}
    present = {row.subject_id for row in facts}
    wanted = [row for row in distinct if row.source_id in present and row.uri not in dropped]
    if not cutting.cut_bars:
        return wanted, []
    probes: dict[str, dict[str, Any]] = {}
    for row in facts:
        probes.setdefault(row.subject_id, {})[row.name.removeprefix("probe.")] = row.value
    found = bars.find(executor, wanted, where, probes, reader=cutting.reader).records
    # A film whose bars could not be looked for is not cut with them still there.
    looked_at = {row.subject_id for row in found}
    return [row for row in wanted if row.source_id in looked_at], found


def mark_duplicates(executor: Executor, workspace: Workspace, *, same_source: bool = False) -> list[Attribute]:
    """Hash all clips and write which are near-duplicates of others to ``attributes``: two rows a clip."""
    clips = workspace.table("clips", Clip)
    require(clips, "clips", "curation clips")
    hashes = measuring.measure(executor, clips, leaf=PerceptualHash.name).records
    names = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    rows = duplicates.find(clips, hashes, names=names, same_source=same_source)
    workspace.write_table("attributes", "duplicates", rows, Attribute)
    return rows


def check_sources(sources: Sequence[SourceSpec]) -> None:
    """Raise ``InputError`` unless all sources can be opened, have names of their own, and hold anything."""
    names = [spec.label or spec.leaf for spec in sources]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{names.count(name)} sources are called {name!r}; give them different names")
    for spec in sources:
        if nothing := spec.made.nothing():
            raise InputError(f"no clips: {nothing}")


def _forget_other_clips(workspace: Workspace, present: set[str]) -> None:
    """Take rows of clips that are no longer there out of what was measured, decided and refused; ledgers keep them."""
    kinds: tuple[tuple[str, type[Any], str], ...] = (
        ("attributes", Attribute, "measure.*"), ("attributes", Attribute, LEVELS), ("attributes", Attribute, "duplicates"),
        ("rejected", Rejection, "measure.*"), ("selection", Selection, "*"),
    )  # fmt: skip
    for table, kind, steps in kinds:
        for path in sorted((workspace.path / "tables" / table).glob(f"{steps}.parquet")):
            if path.stem == MEASURED_MASKS:
                continue
            rows = workspace.table(table, kind, step=path.stem)
            left = [row for row in rows if (row.clip_id if kind is Selection else row.subject_id) in present]
            if len(left) < len(rows):
                workspace.write_table(table, path.stem, left, kind)


def _no_clips(count: int, rejected: Sequence[Rejection], first: SourceSpec) -> str:
    if not count:
        if first.leaf == "people":
            return "no clips: the annotations hold no people"
        return "no clips: the sources hold no footage of the kind that is asked for"
    reasons = [f"{display_name(row.name)}: {row.reason}" for row in rejected]
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"no clips from {count} {'file' if count == 1 else 'files'}: {'; '.join(reasons[:3])}{more}"


def by_name(workspace: Workspace, clips: Sequence[Clip]) -> list[Clip]:
    """Clips in the order of their sources' names, then of time: an order that no content id decides."""
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    return sorted(clips, key=lambda clip: (uri[clip.source_id], clip.start_frame))


def first_clips(workspace: Workspace) -> list[Clip]:
    """The first clip of every source, ``by_name``."""
    return [clip for clip in by_name(workspace, workspace.table("clips", Clip)) if clip.start_frame == 0]


def drawn_from(workspace: Workspace, clips: Sequence[Clip]) -> list[Clip]:
    """Clips ``by_name``, of those that show the same the first alone: what a recipe draws from that was given no items."""
    ordered = by_name(workspace, clips)
    left = set(leakage.once(workspace, [clip.clip_id for clip in ordered]))
    return [clip for clip in ordered if clip.clip_id in left]


def clip_names(workspace: Workspace, clips: Sequence[Clip]) -> dict[str, str]:
    """Clip id -> what people call it: its source, and its first frame where it is not the whole of it."""
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    parts = Counter(clip.source_id for clip in clips)
    return {
        clip.clip_id: uri[clip.source_id] + (f" from frame {clip.start_frame}" if parts[clip.source_id] > 1 else "")
        for clip in clips
    }


class Piece(NamedTuple):
    """A piece of footage of a clip, with the parts that it brought."""

    clip: Clip
    parts: Plain
    """Name -> blob."""
    scene: Plain
    """What its part ``scene`` says; nothing where it has none."""
    name: str
    """Percent-encoded; that of its source, of further footage of the same bytes its own."""
    end: str
    """Tells the parts of further footage apart, where names of attributes would else be equal; empty of the first."""


def pieces_of(workspace: Workspace, clips: Sequence[Clip]) -> list[Piece]:
    """The footage of ``clips``: one piece each, or several that share its bytes."""
    names, sources = clip_names(workspace, clips), {row.source_id: row for row in workspace.table("sources", Source)}
    made = []
    for clip in clips:
        own = names[clip.clip_id]
        for number, parts in enumerate(parts_by_footage(sources[clip.source_id].parts), start=1):
            scene: Plain = json.loads(workspace.blobs.proved(parts[_SCENE]).read_bytes()) if _SCENE in parts else {}
            end = f"_{number}" if number > 1 else ""
            made.append(Piece(clip, parts, scene, str(scene.get("name", own + end)) if end else own, end))
    return made


def name_items(workspace: Workspace, called: Sequence[tuple[str, str]], rows: Sequence[Corruption]) -> None:
    """Write what items of clips with several names are called to ``attributes``, step ``NAMES``, and tell those made twice.

    Args:
        workspace: gets the attributes.
        called: corruption id and percent-encoded name of all that was asked for; one id may have several names.
        rows: all corruptions; those of a ``parent`` are called as it is.
    """
    names: dict[str, str] = {}
    twice = [(key, name) for key, name in called if names.setdefault(key, name) != name]
    told = [
        Rejection(name, "names.notes", name, f"gives the same item as {display_name(names[key])}: they look alike once scaled")
        for key, name in twice
    ]
    workspace.write_table("rejected", "names.notes", told, Rejection)
    name_of = [names.get(str(row.parameters.get("parent", row.corruption_id)), "") for row in rows]
    of_clip: dict[str, set[str]] = {}
    for row, name in zip(rows, name_of, strict=True):
        of_clip.setdefault(row.clip_id, set()).add(name)
    made = [
        Attribute(row.corruption_id, ITEM_NAME, display_name(name), None, NAMES, "1")
        for row, name in zip(rows, name_of, strict=True)
        if len(of_clip[row.clip_id]) > 1
    ]
    workspace.write_table("attributes", NAMES, made, Attribute)


def facts_of(workspace: Workspace, steps: Sequence[str]) -> dict[tuple[str, str], Attribute]:
    """(subject, name) -> attribute, of the given steps."""
    return {(row.subject_id, row.name): row for step in steps for row in workspace.table("attributes", Attribute, step=step)}


def split_of(recipe: Any, workspace: Workspace, groups: Mapping[str, str]) -> dict[str, str]:
    """Clip id -> its split by the shares of the recipe; clips of one group and near-duplicates share it, published ones keep it.

    Args:
        recipe: with ``splits`` and ``seed``.
        workspace: with the clips.
        groups: clip id -> group.
    """
    return leakage.assign(workspace, groups, recipe.splits, seed=recipe.seed)


def note_empty_frames(
    workspace: Workspace, holes: Sequence[Corruption], measured: Sequence[Attribute], *, names: Mapping[str, str]
) -> None:
    """Tell in ``rejected``, as notes, of which masks of the builder's own some frames are empty.

    Args:
        workspace: gets the notes.
        holes: of these masks.
        measured: what was measured of them.
        names: corruption id -> what people call it.
    """
    empty = {row.subject_id: int(row.value) for row in measured if row.name == "hole.empty_frames" and row.value}
    told = []
    for row in holes:
        if count := empty.get(row.corruption_id):
            frames = "1 frame, which counts" if count == 1 else f"{count} frames, which count"
            why = f"its mask is empty in {frames} in no score of a hole"
            told.append(Rejection(row.corruption_id, "masks.notes", names[row.corruption_id], why))
    workspace.write_table("rejected", "masks.notes", told, Rejection)


def write_items(
    workspace: Workspace, items: Sequence[Item], slices: Sequence[Slice], left_out: Mapping[str, str], *, empty: str
) -> None:
    """Write the tables ``items`` and ``slices``, and slices without items to ``rejected``.

    Raises:
        RunError: no items at all, with ``empty`` as the reason; a benchmark that is added to may get none.
    """
    if not items and appended(workspace) is None:
        raise RunError(empty)
    workspace.write_table("items", PAIR, sorted(items, key=lambda item: item.item_id), Item)
    workspace.write_table("slices", PAIR, slices, Slice)
    refused = [Rejection(name, PAIR, name, reason) for name, reason in left_out.items()]
    workspace.write_table("rejected", PAIR, refused, Rejection)


@dataclass(frozen=True)
class Publication:
    """Facts that a recipe's export adds to its tables."""

    recipe: Any
    """The recipe, a pydantic model with a class attribute ``kind``."""
    attribute_steps: tuple[str, ...]
    """Steps whose attributes are published. What another recipe left in the workspace is not part of this dataset."""
    leaves: Mapping[str, Sequence[str]]
    """Kind of leaf -> names of those that were used."""
    about: str = ""
    fill: int = 0
    hole_is_given: bool = True
    extra: Callable[[Sequence[Plain]], Iterable[tuple[str, bytes]]] | None = None
    """Further files of the dataset, made from its rows: path and bytes."""
    facts: Plain = field(default_factory=dict)
    """What the card tells besides the rows, of this recipe alone."""


def export(publication: Publication, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices, less what was removed, to a frozen dataset folder, by default ``WORKSPACE/exports/<recipe>``.

    Raises:
        InputError: the items are not there, out of date or all removed; something is in two splits.
    """
    from inpaintbench.export import freeze, gathering, removed
    from inpaintbench.recipes import evidence  # which asks for what raters said, and thus for all of their part

    recipe, published = publication.recipe, appended(workspace)
    folder = target or workspace.path / "exports" / recipe.kind
    items, given = workspace.columns("items", Item), _batches(workspace, "items", Item)
    if published is None:
        require(items, "items", "masks pair")
    _check_up_to_date(workspace, items)
    left_out = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=PAIR)}
    slices, tombstones = _slices(workspace), list[Plain]()
    if removed.orders(workspace):
        left = removed.kept(workspace, to_records(items, Item), slices)
        items, slices, tombstones = to_columns(left.items, Item), left.slices, left.tombstones
        given = gathering.of_table(items)
        left_out |= left.left_out
    gone = {str(row["item_id"]) for row in tombstones}
    if published:
        items = items.filter(pc.invert(pc.is_in(items["item_id"], value_set=pa.array(published.ids, pa.string()))))
        given = gathering.of_table(items)
        by_id = {str(row["item_id"]): row for row in (*published.dataset.removed, *tombstones)}
        tombstones = [by_id[name] for name in sorted(by_id)]
    if not items.num_rows and gone.issuperset(published.ids if published else ()):
        raise InputError("every item was removed, so nothing is left to export; `inpaintbench export remove --undo` brings back")
    own = own_slices_of(workspace)
    measured = (measuring.step_of(name) for name in own_slices.leaves(own))
    steps = tuple(dict.fromkeys((*measured, *publication.attribute_steps, NORMALISED, ALIKE)))
    allowed, told = versions.asked().allow_near_duplicates, dataset_table.kept(workspace)
    sources, stated = _licensed(workspace, told.licence, items=items)
    leaked = None
    if len({*items["split"].unique().to_pylist(), *(published.splits.values() if published else ())}) > 1:
        leaked = _leakage(workspace, items, steps=steps, allowed=allowed, gone=gone)
    facts = evidence.evidence(workspace, recipe) | dict(publication.facts) | ({} if leaked is None else {"leakage": leaked})
    further = {"dataset": told.facts, "rai": dict(told.rai), own_slices.FACT: [part.model_dump() for part in own]}
    facts |= stated | {name: fact for name, fact in further.items() if fact}
    del items  # of millions it would stand in memory beside all that is made from it
    leaves = _versions(publication.leaves, workspace, published)
    stated_recipe = {"recipe": recipe.kind, **recipe.model_dump(mode="json"), "leaves": leaves}
    dataset = freeze.freeze(
        folder,
        name=told.title or recipe.name,
        blobs=workspace.blobs,
        items=given,
        slices=slices,
        left_out=left_out,
        sources=sources,
        clips=_with(_batches(workspace, "clips", Clip), _batches(workspace, AXIS_CLIPS, Clip)),
        corruptions=_batches(workspace, "corruptions", Corruption),
        attributes=_batches(workspace, "attributes", Attribute, steps=steps),
        recipe=stated_recipe,
        fill=publication.fill,
        hole_is_given=publication.hole_is_given,
        about=publication.about,
        removed=tombstones,
        facts=facts,
        extra=publication.extra,
        published=published,
        own=own_slices.Members(own),
        settle=lambda dataset: versions.versioned(workspace, dataset, folder, published=published),
    )
    return folder, dataset


def _leakage(
    workspace: Workspace, items: pa.Table, *, steps: Sequence[str], allowed: str | None, gone: Collection[str]
) -> Plain | None:
    """What ``leakage.check`` says of items in several splits; a version of a clip is of the clip's source, which is in one."""
    attributes = [row for step in steps for row in workspace.table("attributes", Attribute, step=step)]
    derived = pc.is_in(items["clip_id"], value_set=derived_clips(workspace)["clip_id"].combine_chunks())
    own = to_records(items.filter(pc.invert(derived)), Item)
    return leakage.check(workspace, own, attributes=attributes, allowed=allowed, gone=gone)


def _with(given: Batches, more: Batches) -> Batches:
    return lambda columns=None: chain(given(columns), more(columns))


def _batches(workspace: Workspace, table: str, record: type, *, steps: Sequence[str] | None = None) -> Batches:
    return lambda columns=None: workspace.batches(table, record, steps=steps, columns=columns)


def own_slices_of(workspace: Workspace) -> list[OwnSlice]:
    """Slices of the builder's own: those of the dataset that is added to, then those of the file.

    Raises:
        InputError: a published slice with another rule.
    """
    published = appended(workspace)
    before = [OwnSlice(**fields) for fields in published.dataset.facts.get(own_slices.FACT, ())] if published else []
    slices = {part.slice_name: part for part in before}
    for part in dataset_table.kept(workspace).slices:
        if slices.setdefault(part.slice_name, part) != part:
            rule = slices[part.slice_name].rule
            raise InputError(f"the slice {part.slice_name!r} is published with the rule {rule!r}; give yours another name")
    return list(slices.values())


def _slices(workspace: Workspace) -> list[Slice]:
    """The slices, with ids in Arrow: there may be millions."""
    rows = workspace.columns("slices", Slice)
    columns = (rows[name].to_pylist() for name in ("name", "rule", "item_ids"))
    return [Slice(name, rule, ArrayIds(pa.array(json.loads(ids), pa.string()))) for name, rule, ids in zip(*columns, strict=True)]


def _licensed(workspace: Workspace, licence: str | None, *, items: pa.Table) -> tuple[Sequence[Source] | Batches, dict[str, Any]]:
    """The sources, those without a licence under the stated one, and the fact that it was stated."""
    if licence is None:
        return _batches(workspace, "sources", Source), {}
    sources = workspace.table("sources", Source)
    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"])
    used = set(clips.filter(pc.is_in(clips["clip_id"], value_set=items["clip_id"].combine_chunks()))["source_id"].to_pylist())
    named = [replace(row, licence=licence) if is_unstated(row.licence) else row for row in sources]
    count = sum(row.source_id in used and is_unstated(row.licence) for row in sources)
    return named, {STATED: {licence: count}} if count else {}


def derived_clips(workspace: Workspace) -> pa.Table:
    """Clips that versions of others are, of a paired design: their ``clip_id``."""
    return workspace.columns(AXIS_CLIPS, Clip, columns=["clip_id"])


def _check_up_to_date(workspace: Workspace, items: pa.Table) -> None:
    clips = workspace.columns("clips", Clip, columns=["clip_id"])["clip_id"]
    holes = workspace.columns("corruptions", Corruption, columns=["corruption_id", "clip_id"])
    judged = workspace.columns("selection", Selection, columns=["clip_id", "keep"])
    dropped = judged.filter(pc.invert(judged["keep"]))["clip_id"]
    of_clips = items["clip_id"].combine_chunks()
    if derived := set(derived_clips(workspace)["clip_id"].to_pylist()).intersection(of_clips.to_pylist()):
        # A version stands and falls with the clip that it was made of.
        versions = to_records(workspace.columns("corruptions", Corruption, where=("clip_id", derived)), Corruption)
        made_of = {row.clip_id: row.parameters["of_clip"] for row in versions}
        of_clips = pa.array([made_of.get(clip, clip) for clip in of_clips.to_pylist()], pa.string())
    there = pc.and_(
        pc.is_in(items["corruption_id"], value_set=holes["corruption_id"].combine_chunks()),
        pc.and_not(
            pc.is_in(of_clips, value_set=clips.combine_chunks()),
            pc.is_in(of_clips, value_set=dropped.combine_chunks()),
        ),
    )
    if not pc.all(there, min_count=0).as_py():
        raise InputError(
            "the items are out of date: their clips or holes are no longer in the workspace, or no longer kept; "
            "run `inpaintbench masks pair`"
        )


_KINDS: Mapping[str, Catalogue[Any]] = {
    "splitter": SPLITTERS, "normalizer": NORMALIZERS, "mask generator": GENERATORS, "axis": AXES,
}  # fmt: skip


def leaf_class(kind: str, name: str) -> Any:
    """The class of a leaf that makes datasets.

    Args:
        kind: ``splitter``, ``normalizer``, ``attribute``, ``mask generator`` or ``axis``.
        name: in its catalogue.
    """
    from inpaintbench.curation.attributes import ATTRIBUTES

    return {**_KINDS, "attribute": ATTRIBUTES}[kind].get(name)


def _versions(
    leaves: Mapping[str, Sequence[str]], workspace: Workspace, published: Published | None
) -> dict[str, dict[str, str]]:
    """The leaves that made the dataset, with their versions; the newest where a published part was made by an earlier one."""
    origins = sorted(workspace.columns("sources", Source, columns=["origin"])["origin"].unique().to_pylist())
    versions = {kind: {name: leaf_class(kind, name).version for name in names} for kind, names in leaves.items()}
    versions = {"source": {name: SOURCES.get(name).version for name in origins}, **versions}
    before = published.dataset.recipe["leaves"] if published else {}
    return {kind: {**before.get(kind, {}), **versions.get(kind, {})} for kind in (*versions, *(before.keys() - versions.keys()))}


def require(rows: Sized, what: str, command: str) -> None:
    """Raise ``InputError`` unless there are rows, naming the command that makes them."""
    if not len(rows):
        raise InputError(f"the workspace has no {what} yet; run `inpaintbench {command}` first")
