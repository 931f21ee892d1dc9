"""Leakage between splits, which must not share a source, a clip, a truth, a group of the recipe's, and near-duplicates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from inpaintbench import frozen
from inpaintbench.curation import split
from inpaintbench.errors import InputError
from inpaintbench.export.growing import appended
from inpaintbench.files import display_name
from inpaintbench.recipes import look_alikes
from inpaintbench.recipes.look_alikes import METHOD, Pair
from inpaintbench.types import Attribute, Clip, Item, Plain, Source
from inpaintbench.workspace import Workspace

# Source leaf -> why near-duplicates are not looked for among its clips.
EXEMPT: Mapping[str, str] = {
    "fingerprints": "every finger is grown from a number of its own, and prints look alike by a hash of 64 bits: 1 % of pairs do",
    "drawn_people": "every picture is drawn from a number of its own; 1 pair of 31,375 looks alike by chance",
}
_SHOWN = 20


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
    known, origins = _clips(workspace, set(split_of))
    clips = {clip.clip_id: clip for clip in known}
    sources = {row.source_id: row for row in workspace.table("sources", Source)}
    if torn := _torn(items, clips, sources, attributes):
        raise InputError(
            f"{_listed(torn)}; take one of the two out with `inpaintbench export remove`, or give what belongs together one"
            f" {frozen.GROUP!r} and run `inpaintbench masks pair` again"
        )
    exempt = {clip.clip_id: origins.get(clip.source_id, "") for clip in clips.values()}
    looked_for = [clip for clip in clips.values() if clip.blob and exempt[clip.clip_id] not in EXEMPT]
    hashed = look_alikes.hashes(workspace, looked_for)
    pairs = look_alikes.pairs(hashed, {clip.clip_id: split_of[clip.clip_id] for clip in looked_for}, workspace.blobs)
    if pairs and allowed is None:
        names = {clip.clip_id: f"{_name(clip, sources)} ({split_of[clip.clip_id]})" for clip in looked_for}
        raise InputError(
            f"near-duplicates are in different splits: {_listed([_told(pair, names) for pair in pairs])}; take one of each pair"
            ' out with `inpaintbench export remove --clip ID --reason "..."`, or say why they may stay:'
            ' `inpaintbench export freeze --allow-near-duplicates "..."`'
        )
    left = {origin for origin in exempt.values() if origin in EXEMPT}
    facts: dict[str, Any] = {"checked": len(looked_for), "pairs": len(pairs), "method": METHOD}
    facts |= {"without_hash": len(looked_for) - len(hashed.clips)}
    facts |= {"exempt": {origin: EXEMPT[origin] for origin in sorted(left)}} if left else {}
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
    known = {row["clip_id"]: _group_of(row) for row in published.dataset.items} if published else {}
    return split.assign(together(workspace, {**known, **groups}), shares, seed=seed, given=published.splits if published else {})


def together(workspace: Workspace, groups: Mapping[str, str]) -> dict[str, str]:
    """The groups of clips, those with near-duplicates or a source in common as one, for ``split.assign``: clip id -> group.

    What was published in two splits stays apart.
    """
    clips, origins = _clips(workspace, set(groups))
    hashed = look_alikes.hashes(workspace, [clip for clip in clips if clip.blob and origins.get(clip.source_id) not in EXEMPT])
    alike = [(pair.clip_id, pair.other_id) for pair in look_alikes.pairs(hashed, dict(groups), workspace.blobs)]
    first: dict[str, str] = {}
    same = [(first.setdefault(clip.source_id, clip.clip_id), clip.clip_id) for clip in clips]
    published = appended(workspace)
    splits = published.splits if published else {}
    pairs = [
        (one, other)
        for one, other in alike + same
        if splits.get(one, "") == splits.get(other, "") or not {one, other} <= splits.keys()
    ]
    return split.together(groups, pairs)


def _group_of(row: Plain) -> str:
    """The group of a published row: that of its recipe, else its source."""
    return frozen.source_of(row)


def _clips(workspace: Workspace, wanted: set[str]) -> tuple[list[Clip], dict[str, str]]:
    """The clips that are wanted, those of a published dataset with them, and source id -> leaf that they are from."""
    clips = [clip for clip in workspace.table("clips", Clip) if clip.clip_id in wanted]
    origins = {row.source_id: row.origin for row in workspace.table("sources", Source)}
    if published := appended(workspace):
        absent = (published.clips.keys() & wanted) - {clip.clip_id for clip in clips}
        published.keep_truths(workspace.blobs, absent)
        clips += [published.clips[name] for name in sorted(absent)]
        leaves = list(published.dataset.recipe["leaves"]["source"])
        origins = {clip.source_id: leaves[0] for clip in clips if len(leaves) == 1} | origins
    return clips, origins


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
