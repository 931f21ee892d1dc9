"""Leakage between splits, which must not share a source, a clip, a truth, a group of the recipe's, and near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inpaintbench.curation import split
from inpaintbench.errors import InputError
from inpaintbench.files import display_name
from inpaintbench.recipes import look_alikes
from inpaintbench.recipes.look_alikes import METHOD, Pair
from inpaintbench.types import Attribute, Clip, Item, Plain, Source
from inpaintbench.workspace import Workspace

GROUP = "split_group"
# Source leaf -> why near-duplicates are not looked for among its clips.
EXEMPT: Mapping[str, str] = {
    "fingerprints": "every finger is grown from a number of its own, and prints look alike by a hash of 64 bits: 1 % of pairs do",
    "drawn_people": "every picture is drawn from a number of its own; 1 pair of 31,375 looks alike by chance",
}
_SHOWN = 20


def check(
    workspace: Workspace, items: Sequence[Item], *, attributes: Iterable[Attribute] = (), allowed: str | None = None
) -> Plain | None:
    """The dataset's statement on leakage between its splits; None of a dataset with one split.

    Args:
        workspace: where the clips are; their hashes are kept there.
        items: of the dataset.
        attributes: that are published; the groups of the recipe are among them.
        allowed: why near-duplicates may be in two splits all the same; published.

    Raises:
        InputError: something is in two splits. Nothing but hashes was written.
    """
    if len({item.split for item in items}) < 2:
        return None
    split_of = {item.clip_id: item.split for item in items}
    clips = {clip.clip_id: clip for clip in workspace.table("clips", Clip) if clip.clip_id in split_of}
    sources = {row.source_id: row for row in workspace.table("sources", Source)}
    if torn := _torn(items, clips, sources, attributes):
        raise InputError(
            f"{_listed(torn)}; take one of the two out with `inpaintbench export remove`, or give what belongs together one"
            f" {GROUP!r} and run `inpaintbench masks pair` again"
        )
    exempt = {clip.clip_id: sources[clip.source_id].origin for clip in clips.values()}
    looked_for = [clip for clip in clips.values() if exempt[clip.clip_id] not in EXEMPT]
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


def together(workspace: Workspace, groups: Mapping[str, str]) -> dict[str, str]:
    """The groups of clips, those with near-duplicates in common as one, for ``split.assign``: clip id -> group."""
    clips = [clip for clip in workspace.table("clips", Clip) if clip.clip_id in groups]
    origins = {row.source_id: row.origin for row in workspace.table("sources", Source)}
    hashed = look_alikes.hashes(workspace, [clip for clip in clips if origins.get(clip.source_id) not in EXEMPT])
    pairs = look_alikes.pairs(hashed, dict(groups), workspace.blobs)
    return split.together(groups, [(pair.clip_id, pair.other_id) for pair in pairs])


def _torn(
    items: Sequence[Item], clips: Mapping[str, Clip], sources: Mapping[str, Source], attributes: Iterable[Attribute]
) -> list[str]:
    """Things that are in more than one split, in words."""
    group = {row.subject_id: str(row.value) for row in attributes if row.name == GROUP and row.value is not None}
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
