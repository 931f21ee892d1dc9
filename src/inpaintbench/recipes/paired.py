"""Paired designs: items of one clip that differ in one stated property, so that what differs between levels is that property.

Slices of other clips differ mostly in which clips they hold. Here every clip that takes part in an axis is in each of its levels:
as it is, under one blob of one preset, and in versions with one thing changed and all other draws held. Slices of what films show
by themselves, such as the motion of their camera, stand beside them and hold each clip once, unchanged.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from inpaintbench.executors.base import Executor, Outcome, Rejection
from inpaintbench.export.growing import appended
from inpaintbench.export.slices import by_turns
from inpaintbench.masks import render
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.axis_versions import GENERATOR, vary
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.pages.words import count
from inpaintbench.recipes import leakage, stages
from inpaintbench.recipes.own_masks import promised_levels
from inpaintbench.steps import AXES_OF_ITEMS, AXIS_CLIPS, KNOWN, LEVEL_OF, MASK_LEVELS, PAIR_OF
from inpaintbench.tables import to_records
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Plain, Slice, content_id, hash_of
from inpaintbench.workspace import Workspace

# Those of blobs, and the one that needs clips whose camera is still.
USUAL_AXES = ("size", "pose", "displacement", "camera_path")
# Name of the fact of a dataset that lists its axes.
FACT = "axes"
# How often the blobs of a clip are drawn until measurement confirms the levels of its axes.
_DRAWS = 8


@dataclass(frozen=True)
class Drawn:
    """Clips of a paired benchmark."""

    labelled: dict[str, list[str]] = field(default_factory=dict)
    """Slice of what films show by themselves -> its clips."""
    axes: dict[str, list[str]] = field(default_factory=dict)
    """Axis -> the clips that are in each of its levels."""
    spare: dict[str, list[str]] = field(default_factory=dict)
    """Axis -> further clips, by turns, for those that it refuses."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Slice without clips -> the reason."""
    films: Mapping[str, str] = field(default_factory=dict)
    """Clip id -> its film."""
    published: Set[str] = frozenset()
    """Slices that hold published items already."""
    known: Set[str] = frozenset()
    """Clips with published items. On an axis that the published dataset does not have they are under a blob of their own, since
    the rows of published items stay as they are."""

    @property
    def unchanged(self) -> list[str]:
        """Clips with an item of which nothing is changed."""
        axes = {name: AXES.get(name) for name in self.axes}
        unchanged = [name for name, axis in axes.items() if axis.base_level is not None or issubclass(axis, PresetAxis)]
        new = (clip for name in unchanged for clip in self.axes[name] if clip not in self.known)
        return list(dict.fromkeys(itertools.chain(*self.labelled.values(), new)))


def draw(
    of_clips: Mapping[str, Mapping[str, Sequence[str]]], *, every: Sequence[str], still: Collection[str],
    sources: Mapping[str, str], axes: Sequence[str], per_slice: int, seed: int, members: Mapping[str, Collection[str]],
) -> Drawn:  # fmt: skip
    """Choose the clips of every slice and axis, by turns from all films; those of slices first, so that axes vary the same.

    Args:
        of_clips: clip attribute -> level -> clips that are labelled so.
        every: ids of all kept clips.
        still: those whose camera is still.
        sources: clip id -> its film.
        axes: names in ``AXES``.
        per_slice: clips wanted in each.
        seed: of the order in which films and their clips take turns.
        members: published slice -> clips in it: it is filled up to ``per_slice`` with others.
    """
    published = {clip for clips in members.values() for clip in clips}
    drawn = Drawn(films=sources, published={name for name, there in members.items() if there}, known=published)
    for attribute, levels in of_clips.items():
        for level, labelled in levels.items():
            name, there = f"{attribute}-{level}", members.get(f"{attribute}-{level}", ())
            left = [clip for clip in labelled if clip not in there]
            drawn.labelled[name] = in_turn(left, sources, per_slice, key=(seed, name), there=there)
            if not drawn.labelled[name] and not there:
                drawn.left_out[name] = f"no clip is labelled {attribute}_level '{level}'"
    chosen = set(itertools.chain(*drawn.labelled.values()))
    for axis in axes:
        leaf = AXES.get(axis)
        there, usable = members.get(f"{axis}-{leaf.levels[0]}", ()), still if leaf.needs_still_camera else every
        # A published clip that is not on a published axis had its turn.
        left = [clip for clip in usable if not there or clip not in published]
        turns = in_turn(left, sources, len(left) + len(there), key=(seed, "axis"), first=chosen, there=there)
        most = max(per_slice - len(there), 0)
        drawn.axes[axis], drawn.spare[axis] = turns[:most], turns[most:]
        chosen.update(drawn.axes[axis])
        if not drawn.axes[axis] and not there:
            why = "no clip is left" if usable else "no clip has a still camera"
            drawn.left_out.update((f"{axis}-{level}", why) for level in leaf.levels)
    return drawn


def in_turn(
    clips: Sequence[str],
    sources: Mapping[str, str],
    most: int,
    *,
    key: Sequence[Any],
    first: Set[str] = frozenset(),
    there: Collection[str] = (),
) -> list[str]:
    """Fill up to ``most`` clips, by turns from every film, so that none has more than an even share and one more.

    Args:
        clips: to choose from.
        sources: clip id -> its film.
        most: how many, with those that are ``there``.
        key: of the hashes by which clips of a film, and films, come one before the other.
        first: clips that come before others of their film, as their films do before others.
        there: clips that have been taken already; they are not given once more, but had the first turns of their films.
    """
    of_film: dict[str, list[str]] = {}
    for clip in sorted(there):
        of_film.setdefault(sources[clip], []).append(clip)
    for clip in sorted(clips, key=lambda clip: (clip not in first, hash_of(*key, clip))):
        of_film.setdefault(sources[clip], []).append(clip)
    films = sorted(of_film, key=lambda film: (first.isdisjoint(of_film[film]), hash_of(*key, film)))
    taken = by_turns([of_film[film] for film in films], there=there)
    return list(itertools.islice(taken, max(most - len(there), 0)))


def corrupt(recipe: Any, executor: Executor, workspace: Workspace, drawn: Drawn) -> None:
    """Make the items: of each clip one unchanged, and versions of it for each axis that it is in, under every one of its blobs
    there.

    A clip of which a level cannot be made is not in that axis; the reason stands in ``rejected``, and the next clip by turns is
    tried in its place.

    Args:
        recipe: of DEVIL.
        executor: who renders and measures.
        workspace: with the clips.
        drawn: which clips.

    Raises:
        RunError: not one item could be made.
    """
    published = appended(workspace)
    there = {part.name: len(part.item_ids) for part in published.dataset.slices} if published else {}
    turns: dict[str, list[tuple[str, int]]] = {}
    for name, clip_ids in drawn.axes.items():
        wanted = recipe.per_slice - there.get(f"{name}-{AXES.get(name).levels[0]}", 0)
        turns[name] = under_masks(clip_ids, most=recipe.masks_per_clip, wanted=wanted)
    aimed = {name: len(own) for name, own in turns.items()}
    spare = {name: iter(drawn.spare.get(name, ())) for name in turns}
    while True:
        of_axes = {
            name: [_Place(clip, number, name if clip in drawn.known else "") for clip, number in own]
            for name, own in turns.items()
        }
        made = _made(recipe, executor, workspace, drawn, of_axes)
        pairs = Counter(axis for axis, _ in {(one.axis, one.base.corruption_id) for one in made.versions})
        # What is made already is not made again.
        more = {name: [(clip, 0) for clip in itertools.islice(left, aimed[name] - pairs[name])] for name, left in spare.items()}
        if not any(more.values()):
            break
        turns = {name: [*own, *more[name]] for name, own in turns.items()}
    workspace.write_table("rejected", AXES_OF_ITEMS, made.doubted, Rejection)
    why_not = {f"{name}-{level}": reason for name, reason in made.refused.items() for level in AXES.get(name).levels}
    _write(recipe, workspace, replace(drawn, left_out={**why_not, **drawn.left_out}), made.versions, made.unchanged)


def _made(recipe: Any, executor: Executor, workspace: Workspace, drawn: Drawn, of_axes: Mapping[str, Sequence[_Place]]) -> _Made:
    """Render, confirm and vary what is asked of each axis."""
    published = appended(workspace)
    first = {clip: _Place(clip, 0) for clip in drawn.unchanged}
    places = list(dict.fromkeys([*first.values(), *itertools.chain(*of_axes.values())]))
    rows = workspace.columns("clips", Clip, where=("clip_id", {place.clip_id for place in places}))
    clips = {clip.clip_id: clip for clip in to_records(rows, Clip)}
    names = stages.clip_names(workspace, list(clips.values()))
    axes = {name: AXES.get(name)() for name in of_axes}
    presets = {name: axis for name, axis in axes.items() if isinstance(axis, PresetAxis)}
    blobs = _Blobs(clips, drawn.films, recipe.seed, recipe.masks_per_preset)
    own_axes: dict[_Place, list[PresetAxis]] = {place: [] for place in places}
    for name, preset in presets.items():
        for place in of_axes[name]:
            own_axes[place].append(preset)
    if published:
        blobs.recall([place for place in first.values() if place.clip_id in drawn.known], published.rows)
    rendered, measured, unconfirmed = _drawn_blobs(executor, blobs, own_axes)
    workspace.write_rows("attributes", MASK_LEVELS, promised_levels(rendered, measured))
    made = {row.corruption_id: row for row in rendered.records}
    bases = {place: made[one] for place in places if (one := blobs.base(place).corruption_id) in made}
    result = _Made([], {}, [], {clip: bases[place] for clip, place in first.items() if place in bases})
    for name, axis in axes.items():
        chosen = {place: bases[place] for place in of_axes[name] if place in bases}
        if name in presets:
            why = _unconfirmed_words(axis)
            for place in [place for place in chosen if name in unconfirmed[place]]:
                result.refused[name] = why
                result.doubted.append(Rejection(chosen.pop(place).corruption_id, AXES_OF_ITEMS, names[place.clip_id], why))
            found = _of_presets(presets[name], chosen, blobs, made)
        else:
            given = [(clips[place.clip_id], base) for place, base in chosen.items()]
            varied = vary(executor, name, given, seed=recipe.seed, names=names)
            render.measure_all(executor, varied.outcome, name=measure_step(name))
            found = _of_varied(axis, list(chosen.values()), varied.corruptions)
            if varied.refused:
                result.refused[name] = varied.refused[0]
        # Versions of which every level could be made, by level.
        versions = list(found)
        levels = Counter(one.base.corruption_id for one in versions)
        complete = [one for one in versions if levels[one.base.corruption_id] == len(axis.levels)]
        result.versions.extend(sorted(complete, key=lambda one: axis.levels.index(one.level)))
    return result


def _unconfirmed_words(axis: Axis | type[Axis]) -> str:
    return f"in {_DRAWS} draws the {axis.property} is not measured as {' and '.join(axis.levels)}"


def refusals(workspace: Workspace, axis: str) -> list[str]:
    """Why an axis has not the pairs of some clips that were drawn for it, a reason for each."""
    steps, doubt = (f"{GENERATOR}.{axis}", f"{AXIS_CLIPS}.{axis}"), _unconfirmed_words(AXES.get(axis))
    return [
        row.reason
        for row in workspace.table("rejected", Rejection)
        if row.step in steps or (row.step == AXES_OF_ITEMS and row.reason == doubt)
    ]


def remarks(workspace: Workspace, dataset: Dataset, per_slice: int | None) -> dict[str, str]:
    """Slice -> how many pairs it lacks of those that were wanted, and how many clips that were drawn for its axis gave none."""
    words: dict[str, list[str]] = {}
    for part in dataset.slices:
        lacks = per_slice is not None and len(part.item_ids) < per_slice
        words[part.name] = [f"{len(part.item_ids)} of {per_slice} pairs wanted"] if lacks else []
    for axis in (axis for axis in dataset.facts.get(FACT, ()) if axis["name"] in AXES):
        if reasons := refusals(workspace, axis["name"]):
            for level in axis["levels"]:
                refused = words.get(f"{axis['name']}-{level}", [])
                refused.append(f"{count(len(reasons), 'clip')} refused, such as: {reasons[0]}")
    return {name: "; ".join(told) for name, told in words.items()}


class _Made(NamedTuple):
    """What is made of clips that were drawn."""

    versions: list[_Version]
    refused: dict[str, str]
    """Axis -> why a clip is not in it."""
    doubted: list[Rejection]
    """Blobs that measurement does not confirm."""
    unchanged: dict[str, Corruption]
    """Clip -> its hole where nothing is changed."""


class _Version(NamedTuple):
    """An item at one level of an axis."""

    axis: str
    level: str
    base: Corruption
    """Of the unchanged item, which versions that differ in the level alone have in common."""
    clip_id: str
    corruption_id: str


class _Place(NamedTuple):
    """A clip and the number of its blob."""

    clip_id: str
    number: int
    axis: str = ""
    """The only one that the blob is for; none where it is for all axes of the clip."""


def under_masks(clip_ids: Sequence[str], *, most: int, wanted: int) -> list[tuple[str, int]]:
    """Clips, each with the number of a blob: all of them once, then by turns under further ones until there are as many as
    ``wanted``, or ``most`` of every clip."""
    return [(clip, number) for number in range(most) for clip in clip_ids][: max(wanted, len(clip_ids))]


class _Blobs:
    """Which blobs hide what of a clip: they follow from clip and film alone, so that further clips change nothing."""

    def __init__(self, clips: Mapping[str, Clip], films: Mapping[str, str], seed: int, masks_per_preset: int) -> None:
        self._clips, self._films, self._seed, self._most = clips, films, seed, masks_per_preset
        self.draws: dict[_Place, int] = {}
        """Place -> how often its blobs have been drawn again."""

    def recall(self, places: Iterable[_Place], item_ids: Container[str]) -> None:
        """Draw for ``places`` what published items show."""
        for place in places:
            for draw in reversed(range(_DRAWS)):
                self.draws[place] = draw
                if content_id(place.clip_id, self.base(place).corruption_id) in item_ids:
                    break

    def base(self, place: _Place) -> render.MaskRequest:
        """The blob of an unchanged item."""
        return self._request(place, self._preset(place))

    def flipped(self, place: _Place, axis: PresetAxis, level: str) -> render.MaskRequest:
        """The same at a level of an axis, which for one of them it is: blobs of all presets have the same random numbers."""
        return self._request(place, axis.flipped(self._preset(place), level))

    def _preset(self, place: _Place) -> str:
        # By film, so that clips of one film differ in what they show. Eight blobs have eight presets: 3 and 8 share no factor.
        return sorted(PRESETS)[(hash_of(self._seed, "preset", self._films[place.clip_id]) + 3 * place.number) % len(PRESETS)]

    def _request(self, place: _Place, preset: str) -> render.MaskRequest:
        again = [f"again {draw}"] if (draw := self.draws.get(place, 0)) else []
        further = [part for part in (place.number, place.axis) if part]
        drawn = hash_of(self._seed, "blob", place.clip_id, *further, *again)
        parameters = paired_blob(preset, index=drawn // 2 % self._most, reverse=bool(drawn % 2))
        return render.MaskRequest(self._clips[place.clip_id], "devil_blobs", parameters, self._seed)


def _drawn_blobs(
    executor: Executor, blobs: _Blobs, own_axes: Mapping[_Place, Sequence[PresetAxis]]
) -> tuple[Outcome, Outcome, dict[_Place, list[str]]]:
    """Render the blobs of clips, and draw those again that are not measured as axes have them.

    A blob is drawn so that it is as its preset promises at 832x480 over 90 frames; in other clips it may be otherwise.

    Returns:
        The corruptions, what is measured of them, and of each place the axes whose levels measurement does not confirm; of all
        draws, those with the fewest such axes.
    """
    fewest: dict[_Place, tuple[int, int]] = {}
    for number in range(_DRAWS + 1):
        asked = [blobs.base(place) for place in own_axes]
        asked += [blobs.flipped(place, axis, level) for place, own in own_axes.items() for axis in own for level in axis.levels]
        rendered = render.render(executor, asked)
        measured = render.measure_all(executor, rendered)
        unconfirmed = _unconfirmed(measured, blobs, own_axes)
        tried = {place: blobs.draws.get(place, 0) for place in own_axes}
        for place, doubts in unconfirmed.items():
            fewest[place] = min(fewest.get(place, (len(PRESETS), 0)), (len(doubts), tried[place]))
        blobs.draws = {place: number + 1 if doubts and number + 1 < _DRAWS else draw for place, (doubts, draw) in fewest.items()}
        if blobs.draws == tried:
            break
    return rendered, measured, unconfirmed


def _unconfirmed(measured: Outcome, blobs: _Blobs, own_axes: Mapping[_Place, Sequence[PresetAxis]]) -> dict[_Place, list[str]]:
    """Of each place the axes of which a level is not measured as it is."""
    levels: dict[str, dict[str, str | None]] = {}
    for name in {axis.name for own in own_axes.values() for axis in own}:
        rows = measured.columns("subject_id", "value_text", where=("name", [f"{name}_level_measured"]))
        levels[name] = dict(zip(rows["subject_id"].to_pylist(), rows["value_text"].to_pylist(), strict=True))
    return {
        place: [
            axis.name
            for axis in own
            if any(levels[axis.name].get(blobs.flipped(place, axis, level).corruption_id) != level for level in axis.levels)
        ]
        for place, own in own_axes.items()
    }


def _of_presets(
    axis: PresetAxis, bases: Mapping[_Place, Corruption], blobs: _Blobs, made: Mapping[str, Corruption]
) -> Iterator[_Version]:
    for place, base in bases.items():
        for level in axis.levels:
            one = blobs.flipped(place, axis, level).corruption_id
            if one in made:
                yield _Version(axis.name, level, base, base.clip_id, one)


def _of_varied(axis: Axis, bases: Sequence[Corruption], varied: Sequence[Corruption]) -> Iterator[_Version]:
    known = {base.corruption_id: base for base in bases}
    if axis.base_level is not None:
        for base in bases:
            yield _Version(axis.name, axis.base_level, base, base.clip_id, base.corruption_id)
    for row in varied:
        yield _Version(axis.name, row.parameters["level"], known[row.parameters["parent"]], row.clip_id, row.corruption_id)


def _write(
    recipe: Any, workspace: Workspace, drawn: Drawn, versions: Sequence[_Version], unchanged: Mapping[str, Corruption]
) -> None:
    """Write items, their places on axes, and slices."""
    pieces = [(one.clip_id, one.corruption_id, one.base.clip_id) for one in versions]
    pieces += [(clip, base.corruption_id, clip) for clip, base in unchanged.items()]
    rows = workspace.columns("clips", Clip, columns=["clip_id", "source_id"], where=("clip_id", {piece[2] for piece in pieces}))
    groups = leakage.sources_of(workspace, rows.combine_chunks(), step=KNOWN).to_pylist()
    split_of = stages.split_of(recipe, workspace, dict(zip(rows["clip_id"].to_pylist(), groups, strict=True)))
    items = {
        corruption: Item(content_id(clip, corruption), clip, corruption, split_of[cut_clip])
        for clip, corruption, cut_clip in pieces
    }
    members: dict[str, list[str]] = {}
    for one in versions:
        members.setdefault(f"{one.axis}-{one.level}", []).append(items[one.corruption_id].item_id)
    for name, clip_ids in drawn.labelled.items():
        members[name] = [items[unchanged[clip].corruption_id].item_id for clip in clip_ids if clip in unchanged]
    rules = dict(_rules(drawn))
    slices = [Slice(name, rule, tuple(members[name])) for name, rule in rules.items() if members.get(name)]
    empty = [name for name in rules if not members.get(name) and name not in drawn.published]
    left_out = {name: drawn.left_out.get(name, "no mask could be rendered") for name in empty}
    workspace.write_table("attributes", AXES_OF_ITEMS, list(_places(versions)), Attribute)
    stages.write_items(workspace, list(items.values()), slices, left_out, empty="not one mask could be rendered")


def _rules(drawn: Drawn) -> Iterator[tuple[str, str]]:
    """Slices and what their items have in common, in words."""
    for name in drawn.labelled:
        attribute, level = name.rsplit("-", 1)
        yield name, f"{attribute}_level == '{level}', each clip once and unchanged"
    for name in drawn.axes:
        for level in AXES.get(name).levels:
            yield f"{name}-{level}", f"{LEVEL_OF}{name} == '{level}'"


def _places(versions: Sequence[_Version]) -> Iterator[Attribute]:
    """On every axis of an item its level, and the group that shares all else."""
    for one in versions:
        group, version = content_id(one.base.clip_id, one.base.corruption_id), AXES.get(one.axis).version
        yield Attribute(one.corruption_id, f"{LEVEL_OF}{one.axis}", one.level, None, "axis", version)
        yield Attribute(one.corruption_id, f"{PAIR_OF}{one.axis}", group, None, "axis", version)


def measure_step(axis: str) -> str:
    """The step that measures holes of versions along an axis."""
    return f"measure.axis.{axis}"


def about(axes: Sequence[str]) -> str:
    """What the card says of axes, in Markdown."""
    rows = [(fact["name"], ", ".join(fact["levels"]), fact["property"], fact["truth"]) for fact in facts(axes)]
    return "\n".join([
        "Items of one clip differ in one property alone.",
        "",
        f"Those with the same `{PAIR_OF}AXIS` among their attributes differ on that axis alone, `{LEVEL_OF}AXIS` is their level,"
        " and the slices `AXIS-LEVEL` hold the same clips.",
        "",
        "| axis | levels | what differs | scored against |",
        "|---|---|---|---|",
        *(f"| `{name}` | {levels} | {differs} | {truth} |" for name, levels, differs, truth in rows),
    ])  # fmt: skip


def facts(axes: Iterable[str]) -> list[Plain]:
    """What a dataset says of its axes."""
    leaves = ((name, AXES.get(name)) for name in axes)
    return [
        {"name": name, "levels": list(axis.levels), "property": axis.property, "truth": axis.truth}
        | ({} if axis.exact else {"exact": False})
        for name, axis in leaves
    ]
