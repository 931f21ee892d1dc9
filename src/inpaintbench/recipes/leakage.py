"""What belongs together, before anything is labelled, drawn or split, and leakage between splits.

Near-duplicates are one source (``frozen.source_of``): re-encodings, crops and mirror images of a film. Splits must not share a
source, a clip, a truth, a group of the recipe's, and near-duplicates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from inpaintbench import frozen
from inpaintbench.benchmarks import drawn_footage
from inpaintbench.curation import measuring, split
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Executor
from inpaintbench.export.growing import appended
from inpaintbench.files import display_name, measured_sha256, write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.manifest import content_of
from inpaintbench.recipes import look_alikes
from inpaintbench.recipes.look_alikes import METHOD, Pair
from inpaintbench.steps import ALIKE, KNOWN
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Item, Plain, Source, canonical_json
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

# Attribute of a clip that shows what an earlier one of another source shows: the id of the first of them.
SAME_AS = "same_view_as"
VERSION = "1"
_SHOWN = 20


def group(workspace: Workspace, *, executor: Executor | None = None) -> None:
    """Find near-duplicates among the clips of different sources, and write them to ``attributes``, step ``alike``.

    A clip whose source has near-duplicates in others gets the group of all of them, ``frozen.GROUP``: the source of the first
    by name, or the group that a published dataset has for it. A clip that shows what one before it shows gets that one's id.

    Where the tables that this depends on are as they were, what was found stays.

    Args:
        workspace: with the clips.
        executor: measures the hashes of clips that have none yet; None = this process.
    """
    if grouped(workspace):
        return
    clips, origins = _clips(workspace, None, columns=look_alikes.SHOWN)
    looked_for = _looked_for(clips, origins)
    if executor is not None and (ids := clips["clip_id"].filter(looked_for).to_pylist()):
        own = workspace.columns("clips", Clip, where=("clip_id", set(ids)))
        measuring.measure_together(executor, own, leaves={leaf: {} for leaf in look_alikes.leaves(own.num_rows)})
        del own
    if workspace.shard:
        return
    clips = clips.append_column("group", sources_of(workspace, clips, step=KNOWN))
    hashed = look_alikes.hashes(workspace, clips.filter(looked_for))
    clips = clips.select(["clip_id", "source_id", "start_frame", "group"])  # of a million clips the others are 180 MB
    del looked_for, origins
    pairs = look_alikes.pairs(hashed, hashed.clips["group"].combine_chunks(), workspace.blobs)
    workspace.write_table("attributes", ALIKE, _rows(workspace, clips, pairs), Attribute)
    write_atomically(_state_file(workspace), _state(workspace))


def _rows(workspace: Workspace, clips: pa.Table, pairs: Sequence[Pair]) -> list[Attribute]:
    """What ``group`` writes of clips with a ``group`` each."""
    alike = [(pair.clip_id, pair.other_id) for pair in pairs]
    published = appended(workspace)
    before = published.clips if published else {}
    if not published:  # the others are in groups of their own
        paired = pc.is_in(clips["clip_id"], value_set=pa.array({clip for pair in alike for clip in pair}, pa.string()))
        clips = clips.filter(pc.is_in(clips["group"], value_set=pc.unique(clips["group"].filter(paired))))
    known = clips.to_pylist()
    given = {clip["clip_id"]: clip["group"] for clip in known}
    joined = _joined(workspace, given, {clip["clip_id"]: clip["source_id"] for clip in known}, alike)
    views = split.together({clip: clip for clip in given}, alike)
    sources = workspace.columns("sources", Source, where=("source_id", {clip["source_id"] for clip in known}))
    uris = dict(zip(sources["source_id"].to_pylist(), sources["uri"].to_pylist(), strict=True))
    # The first of a group names it: what is published, then by name and time.
    order = [
        clip["clip_id"]
        for clip in sorted(
            known,
            key=lambda clip: (
                clip["clip_id"] not in before, uris.get(clip["source_id"], ""), clip["start_frame"], clip["clip_id"]
            ),
        )
    ]  # fmt: skip
    name_of, first_of = dict[str, str](), dict[str, str]()
    for clip in order:
        name_of.setdefault(joined[clip], given[clip])
        first_of.setdefault(views[clip], clip)
    rows = []
    for clip in order:
        of, first = name_of[joined[clip]], first_of[views[clip]]
        told = [(frozen.GROUP, of)] if of != given[clip] else []
        told += [(SAME_AS, first)] if first != clip else []
        rows += [Attribute(clip, name, value, None, ALIKE, VERSION) for name, value in told if clip not in before]
    return rows


def grouped(workspace: Workspace) -> bool:
    """Return whether ``group`` has been done and all tables that it read, and what it wrote, are as they were."""
    path = _state_file(workspace)
    return path.exists() and path.read_bytes() == _state(workspace)


def not_looked_for(workspace: Workspace) -> str | None:
    """``look_alikes.without_copies`` of the clips that ``group`` looks at."""
    clips, origins = _clips(workspace, None, columns=["clip_id", "source_id", "blob"])
    return look_alikes.without_copies(clips.filter(_looked_for(clips, origins)).num_rows)


def _state_file(workspace: Workspace) -> Path:
    return workspace.path / "tables" / "attributes" / f"{ALIKE}.json"


def _state(workspace: Workspace) -> bytes:
    """What the groups depend on: how they are found, and the SHA-256 of the tables with clips, sources, groups and hashes.

    So nothing is read into memory for it; a million clips and their hashes are hashed in two seconds.
    """
    steps = (KNOWN, ALIKE, look_alikes.STEP, *map(measuring.step_of, look_alikes.LEAVES))
    tables = workspace.path / "tables"
    paths = [*tables.glob("clips/*.parquet"), *tables.glob("sources/*.parquet")]
    paths += [path for step in steps if (path := tables / "attributes" / f"{step}.parquet").exists()]
    published = appended(workspace)
    state = {
        "method": [METHOD, VERSION, look_alikes.MOST_FOR_COPIES, sorted(drawn_footage())],
        "published": content_of(published.dataset) if published else None,
        "tables": {path.relative_to(tables).as_posix(): measured_sha256(path) for path in sorted(paths)},
    }
    return canonical_json(state).encode() + b"\n"


def sources_of(workspace: Workspace, clips: pa.Table, *, step: str | None = None) -> pa.Array:
    """``frozen.sources_of_clips``; published clips keep the source that their items have.

    Args:
        workspace: with attributes.
        clips: their ``clip_id`` and ``source_id``.
        step: ``KNOWN`` = what sources say of themselves, without the near-duplicates that ``group`` found; None = all.
    """
    sources = frozen.sources_of_clips(workspace, clips, step=step)
    published = appended(workspace)
    if published is None:
        return sources
    known = {row["clip_id"]: frozen.source_of(row) for row in published.dataset.items}
    return pc.coalesce(pa.array([known.get(clip) or None for clip in clips["clip_id"].to_pylist()], pa.string()), sources)


def groups_of(workspace: Workspace) -> dict[str, str]:
    """Clip id -> group of near-duplicates that ``group`` found; clips without any are not there."""
    return {
        row.subject_id: str(row.value) for row in workspace.table("attributes", Attribute, step=ALIKE) if row.name == frozen.GROUP
    }


def alike(workspace: Workspace) -> dict[str, str]:
    """Clip id -> the first clip that shows the same; those that show what no clip before them shows are not there."""
    rows = workspace.table("attributes", Attribute, step=ALIKE)
    return {row.subject_id: str(row.value) for row in rows if row.name == SAME_AS}


def once(workspace: Workspace, clip_ids: Sequence[str]) -> list[str]:
    """The clips that are drawn from: of those that show the same the first given, and none of what is published but itself."""
    first_of, published = alike(workspace), appended(workspace)
    there = published.clips if published else {}
    taken = {first_of.get(clip, clip) for clip in there}
    left = []
    for clip in clip_ids:
        view = first_of.get(clip, clip)
        if view not in taken or clip in there:
            taken.add(view)
            left.append(clip)
    return left


def check(
    workspace: Workspace,
    items: Sequence[Item],
    *,
    attributes: Iterable[Attribute] = (),
    allowed: str | None = None,
    gone: Collection[str] = (),
) -> Plain | None:
    """The dataset's statement on leakage between its splits; None of a dataset with one split.

    Args:
        workspace: where the clips are; their hashes are kept there.
        items: of the dataset; those of a published one that it adds to come along.
        attributes: that are published; the groups of the recipe are among them.
        allowed: why near-duplicates may be in two splits all the same; published.
        gone: ids of published items that were removed.

    Raises:
        InputError: something is in two splits. Nothing but hashes was written.
    """
    published = appended(workspace)
    if published:
        rows = [row for row in published.dataset.items if row["item_id"] not in gone]
        items = [*items, *(Item(row["item_id"], row["clip_id"], "", row["split"]) for row in rows)]
        allowed = allowed or published.dataset.facts.get("leakage", {}).get("allowed")
    if len({item.split for item in items}) < 2:
        return None
    split_of = {item.clip_id: item.split for item in items}
    table, origins = _clips(workspace, set(split_of))
    clips = {clip.clip_id: clip for clip in to_records(table, Clip)}
    sources = {row.source_id: row for row in workspace.table("sources", Source)}
    if torn := _torn(items, clips, sources, attributes):
        raise InputError(
            f"{_listed(torn)}; take one of the two out with `inpaintbench export remove`, or give what belongs together one"
            f" {frozen.GROUP!r} and run `inpaintbench masks pair` again"
        )
    looked_for = table.filter(_looked_for(table, origins))
    hashed = look_alikes.hashes(workspace, looked_for)
    splits = [split_of[clip] for clip in hashed.clips["clip_id"].to_pylist()]
    pairs = look_alikes.pairs(hashed, splits, workspace.blobs)
    if pairs and allowed is None:
        names = {clip.clip_id: f"{_name(clip, sources)} ({split_of[clip.clip_id]})" for clip in clips.values()}
        raise InputError(
            f"near-duplicates are in different splits: {_listed([_told(pair, names) for pair in pairs])}; take one of each pair"
            ' out with `inpaintbench export remove --clip ID --reason "..."`, or say why they may stay:'
            ' `inpaintbench export freeze --allow-near-duplicates "..."`'
        )
    left = {origins.get(clip.source_id, "") for clip in clips.values()} & drawn_footage().keys()
    facts: dict[str, Any] = {"checked": looked_for.num_rows, "pairs": len(pairs), "method": METHOD}
    facts |= {"without_hash": looked_for.num_rows - hashed.clips.num_rows}
    facts |= {"exempt": {origin: drawn_footage()[origin].apart for origin in sorted(left)}} if left else {}
    lacking = look_alikes.without_copies(looked_for.num_rows)
    facts |= {"not_looked_for": lacking} if lacking else {}
    return facts | ({"allowed": allowed, "alike": [[pair.clip_id, pair.other_id] for pair in pairs]} if pairs else {})


def assign(workspace: Workspace, groups: Mapping[str, str], shares: Mapping[str, float], *, seed: int) -> dict[str, str]:
    """Splits of clips: clip id -> split. Groups with near-duplicates in common stay together, and published splits as they are.

    Args:
        workspace: where the clips are.
        groups: clip id -> group.
        shares: split -> share of the clips.
        seed: of ``split.assign``.
    """
    if len(shares) < 2 or not groups:
        return dict.fromkeys(groups, next(iter(shares), Item.split))
    published = appended(workspace)
    known = {row["clip_id"]: frozen.source_of(row) for row in published.dataset.items} if published else {}
    return split.assign(together(workspace, {**known, **groups}), shares, seed=seed, given=published.splits if published else {})


def together(workspace: Workspace, groups: Mapping[str, str]) -> dict[str, str]:
    """The groups of clips, those with near-duplicates or a source in common as one, for ``split.assign``: clip id -> group.

    What was published in two splits stays apart.
    """
    clips, origins = _clips(workspace, set(groups))
    source_of = dict(zip(clips["clip_id"].to_pylist(), clips["source_id"].to_pylist(), strict=True))
    alike, found = list[tuple[str, str]](), groups_of(workspace)
    if grouped(workspace) and not appended(workspace):
        given = dict(zip(source_of, sources_of(workspace, clips, step=KNOWN).to_pylist(), strict=True))
        named = set(found.values())
        found = {clip: of for clip in source_of if (of := found.get(clip, given[clip])) in named}
    else:
        hashed = look_alikes.hashes(workspace, clips.filter(_looked_for(clips, origins)))
        own = [groups[clip] for clip in hashed.clips["clip_id"].to_pylist()]
        alike += [(pair.clip_id, pair.other_id) for pair in look_alikes.pairs(hashed, own, workspace.blobs)]
    first: dict[str, str] = {}
    alike += [(first.setdefault(of, clip), clip) for clip, of in found.items() if clip in groups]
    return _joined(workspace, groups, source_of, alike)


def _joined(
    workspace: Workspace, groups: Mapping[str, str], source_of: Mapping[str, str], alike: Sequence[tuple[str, str]]
) -> dict[str, str]:
    first: dict[str, str] = {}
    same = [(first.setdefault(source, clip), clip) for clip, source in source_of.items()]
    published = appended(workspace)
    splits = published.splits if published else {}
    pairs = [
        (one, other)
        for one, other in [*alike, *same]
        if splits.get(one, "") == splits.get(other, "") or not {one, other} <= splits.keys()
    ]
    return split.together(groups, pairs)


def _clips(
    workspace: Workspace, wanted: set[str] | None, *, columns: Sequence[str] | None = None
) -> tuple[pa.Table, dict[str, str]]:
    """The clips that are wanted (None = all), with those of a published dataset, and source id -> leaf that they are from."""
    clips = workspace.columns("clips", Clip, columns=columns, where=None if wanted is None else ("clip_id", wanted))
    sources = workspace.columns("sources", Source, columns=["source_id", "origin"])
    origins = dict(zip(sources["source_id"].to_pylist(), sources["origin"].to_pylist(), strict=True))
    if published := appended(workspace):
        asked = published.clips.keys() & (published.clips.keys() if wanted is None else wanted)
        absent = asked - set(clips["clip_id"].to_pylist())
        published.keep_truths(workspace.blobs, absent)
        theirs = to_columns([published.clips[name] for name in sorted(absent)], Clip).select(clips.column_names)
        clips = pa.concat_tables([clips, theirs])
        leaves = list(published.dataset.recipe["leaves"]["source"])
        origins = (dict.fromkeys(clips["source_id"].to_pylist(), leaves[0]) if len(leaves) == 1 else {}) | origins
    return clips, origins


def _looked_for(clips: pa.Table, origins: Mapping[str, str]) -> pa.Array:
    """Which of the clips are compared: those that are there, of sources that are not exempt."""
    exempt = pa.array([source for source, leaf in origins.items() if leaf in drawn_footage()], pa.string())
    return pc.and_(pc.not_equal(clips["blob"], ""), pc.invert(pc.is_in(clips["source_id"], value_set=exempt)))


def _torn(
    items: Sequence[Item], clips: Mapping[str, Clip], sources: Mapping[str, Source], attributes: Iterable[Attribute]
) -> list[str]:
    """Things that are in more than one split, in words."""
    group = {row.subject_id: str(row.value) for row in attributes if row.name == frozen.GROUP and row.value is not None}
    splits_of: dict[tuple[str, str], set[str]] = {}
    names = {clip.source_id: _name(clip, sources) for clip in clips.values()}
    for item in items:
        clip = clips[item.clip_id]
        things = [("source", clip.source_id), ("clip", clip.clip_id), ("truth", clip.rgb_sha256)]
        of = group.get(clip.clip_id) or group.get(clip.source_id)
        for thing in [*things, *([("group", of)] if of else [])]:
            splits_of.setdefault(thing, set()).add(item.split)
    torn = [(what, names.get(name, name), sorted(splits)) for (what, name), splits in splits_of.items() if len(splits) > 1]
    return [f"the {what} {name!r} is in the splits {' and '.join(splits)}" for what, name, splits in torn]


def _name(clip: Clip, sources: Mapping[str, Source]) -> str:
    row = sources.get(clip.source_id)
    return display_name(row.uri) if row else clip.source_id


def _told(pair: Pair, names: Mapping[str, str]) -> str:
    how = "is the mirror image of" if pair.mirrored else "looks like"
    return f"{names[pair.clip_id]} clip {pair.clip_id} {how} {names[pair.other_id]} clip {pair.other_id} ({pair.bits:.1f} bits)"


def _listed(sentences: Sequence[str]) -> str:
    more = f"; and {len(sentences) - _SHOWN} more" if len(sentences) > _SHOWN else ""
    return "; ".join(sentences[:_SHOWN]) + more
