"""What a benchmark of one's own footage will be able to tell, before it is built, and what it can tell once it is.

A pilot measures how far differences between items of one clip scatter on a few of the user's own films. Nothing is written: the
first seconds of some films are decoded, made small, and inpainted by two methods that come with the program.
`bench/diagnosis.py` measures the same of the films that the defaults of `planning` rest on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.claims import too_few
from inpaintbench.curation.footage import clips_foreseen
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.curation.sources.base import unquoted_path
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.comparing.simultaneous import POWER, Design, Deviations, effects_of, least_effect, needed
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics.psnr import decibels, masked_errors
from inpaintbench.eval.protocols.base import CEILING_DECIBELS
from inpaintbench.export.growing import cut_clip
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.generators.devil_blobs import DevilBlobs
from inpaintbench.pages.words import count
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.paired import FACT, in_turn, under_masks
from inpaintbench.steps import PAIR_OF
from inpaintbench.types import Dataset, Frames, Hole, item_rng
from inpaintbench.view import ItemView, composite

# PSNR in the hole, dB, of two methods that come with the program on 18 real films (`bench/diagnosis.py`): of the difference of a
# pair, by axis, and of the score of an item.
MEASURED = {
    "size": Deviations(1.2, 1.0, 3.3),
    "pose": Deviations(0.5, 0.7, 3.3),
    "displacement": Deviations(0.7, 2.7, 3.3),
    "camera_path": Deviations(2.0, 0.3, 3.8),
    "hole_duration": Deviations(0.9, 0.9, 3.0),
    "known_noise": Deviations(0.1, 0.1, 0.4),
}
# Over all of these, for other axes.
OTHER_AXES = Deviations(1.1, 1.3, 3.0)
ITEMS = Deviations(3.0, 1.9, 4.1)
# Methods that a benchmark is taken to compare; effects wanted, dB; clips of a film and masks of a clip that are tried.
COMPARED, WANTED, CLIPS_TRIED, MASKS_TRIED = 3, (1.0, 0.5), (2, 4, 8), (1, 2, 4)
# Pairs of slices of what films show by themselves: camera motion, background scene motion.
_NATURAL = 2


class Axes(NamedTuple):
    """What is made of each clip."""

    names: tuple[str, ...]
    effects: int
    """Steps of the axes, each from the first level, and pairs of natural slices."""
    items_of_clip: int
    """The clip as it is, and every version of it, under one mask."""


class Footage(NamedTuple):
    """What there is to make it of."""

    films: int
    clips: int
    """That an axis takes of them."""
    masks: float
    """Of a clip."""
    tried: tuple[int, ...] = MASKS_TRIED
    """Masks of a clip that a build could come to with these films and options."""
    given: tuple[int, int] = (0, 0)
    """Films and clips that there are, of which an axis takes its own; zeros where it takes all."""


def axes_of(recipe: DevilRecipe) -> Axes:
    """What a paired design makes of each clip, where all of its axes can be made."""
    axes = [AXES.get(name) for name in recipe.axes_of_pairs]
    made = sum(len(axis.levels) - (axis.base_level is not None or issubclass(axis, PresetAxis)) for axis in axes)
    return Axes(recipe.axes_of_pairs, sum(len(axis.levels) - 1 for axis in axes) + _NATURAL, 1 + made)


def shared(deviation: float, like: Deviations) -> Deviations:
    """A deviation of differences of pairs, dB, shared between films, clips and masks as another is."""
    return Deviations(*(deviation * part / math.hypot(*like) for part in like))


def deviations_of(
    axes: Axes, *, pilot: Mapping[str, float] = MappingProxyType({}), given: float | None = None
) -> dict[str, Deviations]:
    """Of each axis: as a pilot found it, or one that is given for all; else as on real films."""
    if given is not None:
        return dict.fromkeys(axes.names, shared(given, OTHER_AXES))
    measured = {name: MEASURED.get(name, OTHER_AXES) for name in axes.names}
    return {name: shared(pilot[name], own) if name in pilot else own for name, own in measured.items()}


def guessed_words(axes: Iterable[str]) -> str | None:
    """A sentence on axes whose scatter nobody measured; None where there are none."""
    guessed = [name for name in axes if name not in MEASURED]
    if not guessed:
        return None
    return f"{' and '.join(guessed)}: how far pairs scatter was not measured, and is taken to be as over other axes."


class Planned(NamedTuple):
    """The films that find an effect."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    words: list[str]


def plan(recipe: DevilRecipe, folder: Path, *, deviation: float | None = None) -> Planned:
    """Tell what a paired benchmark of these films would find, without building it.

    Args:
        recipe: of the benchmark.
        folder: with films.
        deviation: by how much pairs scatter on every axis, dB; None = by a pilot on a few of the films.

    Raises:
        InputError: there are no films, or too few that can be read for a pilot.
    """
    leaf = FolderSource(folder=str(folder))
    films = [Path(unquoted_path(piece.payload["path"])) for piece in leaf.footage()]
    if not films:
        raise InputError("no films: the source folder holds no video files")
    # Film -> how many clips it promises, and the name of a film that gives none -> why.
    cutting, clips, refused = recipe.cutting, dict[Path, int](), dict[str, str]()
    for path in films:
        try:
            clips[path] = clips_foreseen(str(path), splitter=cutting.splitter, fps=cutting.fps, hdr=cutting.hdr)
        except InpaintBenchError as error:
            refused[path.name] = str(error)
    if not clips:
        name, why = next(iter(refused.items()))
        raise InputError(f"no clips from {count(len(films), 'film')}: {name}: {why}")
    axes, footage, guessed = axes_of(recipe), _footage(recipe, clips), None
    if deviation is None:
        tried = pilot(list(clips), seed=recipe.seed)
        deviations, guessed = deviations_of(axes, pilot=tried.deviations), guessed_words(axes.names)
        others = ", other axes as on 18 real films" if set(axes.names) - tried.deviations.keys() else ""
        what = f"{' and '.join(METHODS_TRIED)} on {count(tried.items, 'item')} of {tried.films} of these films"
        basis = f"Pairs scatter as in a pilot ({what}){others}"
    else:
        deviations, basis = deviations_of(axes, given=deviation), f"Pairs are taken to scatter by {deviation:g} dB"
    masks = "1 mask" if footage.masks == 1 else f"{footage.masks:.2g} masks"
    return Planned(
        f"Films that find an effect in {POWER:.0%} of benchmarks, {masks} a clip",
        plan_heads(footage),
        plan_rows(footage, deviations, axes),
        [
            f"{basis}; how much of it is between films, clips and masks is as on real films.",
            *([guessed] if guessed else []),
            *plan_words(footage, axes, refused=refused),
        ],
    )


def _footage(recipe: DevilRecipe, clips: Mapping[Path, int]) -> Footage:
    """What an axis would take of these films, by turns."""
    film_of = {f"{path} {place}": str(path) for path, own in clips.items() for place in range(own)}
    taken = in_turn(list(film_of), film_of, recipe.per_slice, key=(recipe.seed, "axis"))
    pairs = under_masks(taken, most=recipe.masks_per_clip, wanted=recipe.per_slice)
    # Further masks come only where there are fewer clips than pairs wanted.
    most = min(recipe.masks_per_clip, math.ceil(recipe.per_slice / len(taken)))
    tried = tuple(masks for masks in MASKS_TRIED if masks <= most)
    given = len(clips), sum(clips.values())
    return Footage(len({film_of[clip] for clip in taken}), len(taken), len(pairs) / len(taken), tried, given)


def plan_rows(footage: Footage, deviations: Mapping[str, Deviations], axes: Axes) -> list[list[str]]:
    """A row for each axis, with the cells of ``plan_heads``.

    Args:
        footage: of the benchmark.
        deviations: of the difference of a pair, by axis, dB.
        axes: of the benchmark.
    """
    rows = []
    own_clips = footage.clips / footage.films
    for name in axes.names:
        own = deviations[name]
        films = [
            [needed(effect, own, _design(clips, footage.masks, axes.effects)).films for clips in CLIPS_TRIED] for effect in WANTED
        ]
        least = [least_effect(footage.films, own, _design(own_clips, masks, axes.effects)) for masks in footage.tried]
        rows.append([
            name, f"{math.hypot(*own):.1f} dB", *(", ".join("-" if one is None else f"{one:,}" for one in of) for of in films),
            *("-" if one is None else f"{one:.1f} dB" for one in least),
        ])  # fmt: skip
    return rows


def plan_heads(footage: Footage) -> list[str]:
    """Heads of the columns of ``plan_rows``."""
    clips = f"{', '.join(map(str, CLIPS_TRIED[:-1]))} or {CLIPS_TRIED[-1]}"
    tried = [f"yours find, {count(masks, 'mask')} a clip" for masks in footage.tried]
    return ["axis", "a pair scatters by", *(f"films of {clips} clips that find {effect:g} dB" for effect in WANTED), *tried]


def plan_words(footage: Footage, axes: Axes, *, refused: Mapping[str, str]) -> list[str]:
    """Sentences on what there is, and on what makes more of it.

    Args:
        footage: of the benchmark.
        axes: of it.
        refused: film that gives no clip -> why.
    """
    films, items = count(footage.films, "film"), footage.clips * axes.items_of_clip
    there, clips = footage.given if any(footage.given) else footage[:2]
    lines = [f"There are {count(there, 'film')} with {count(clips, 'clip')}; rules and copies may leave fewer."]
    if clips > footage.clips:
        share = "by turns, an even share and one more of each at most, up to --per-slice"
        lines.append(f"An axis takes {count(footage.clips, 'clip')} of {films}: {share}.")
    if refused:
        name, why = next(iter(refused.items()))
        lines.append(f"{count(len(refused), 'more film')} without a clip, such as {name}: {why}.")
    if (few := too_few(footage.films)) is not None:
        more = "" if too_few(there) else f"; there are {there} films: give more with --per-slice"
        lines.append(f"Of so few nothing can be told ({few}{more}).")
    for name in axes.names:
        if AXES.get(name).needs_still_camera:
            lines.append(f"{name} takes clips of a still camera alone.")
    made = f"One mask a clip makes at most {items:,} items"
    if footage.masks > 1:
        made += f", {footage.masks:.2g} at most {items * footage.masks:,.0f} (--masks-per-clip)"
    lines.append(f"{made}: films tell more than clips, and clips more than masks.")
    return lines


def _design(clips: float, masks: float, effects: int) -> Design:
    return Design(clips, masks, effects_of(effects, COMPARED))


class Telling(NamedTuple):
    """What one axis, or one pair of slices, can tell."""

    name: str
    films: int
    n: int
    """Pairs, or items of the smaller slice."""
    least: float | None
    """Least effect found in 80 % of studies, dB; None with too few films."""


def can_tell(dataset: Dataset) -> list[Telling]:
    """Of each axis, then of each pair of slices of other items, in the order of the dataset."""
    source_of = frozen.sources_of(dataset)
    levels_of = {str(axis["name"]): len(axis["levels"]) for axis in dataset.facts.get(FACT, ())}
    axes = list(levels_of)
    groups: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in axes}
    for item in dataset.items:
        for name in axes:
            if (group := item["attributes"].get(f"{PAIR_OF}{name}")) is not None:
                groups[name][str(group)] = source_of[item["item_id"]], cut_clip(item)
    natural: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for part in dataset.slices:
        name, _, level = part.name.rpartition("-")
        if level in ("low", "high") and name not in groups:
            natural[name][level] = part.item_ids
    both = {name: levels for name, levels in natural.items() if len(levels) == 2}
    effects, found = sum(levels_of.values()) - len(axes) + len(both), []
    for name, own in groups.items():
        films, clips = len({film for film, _ in own.values()}), len(set(own.values()))
        found.append(_telling(name, films, clips, len(own), MEASURED.get(name, OTHER_AXES), effects))
    # Of two slices of other items: the difference of two independent means.
    apart = Deviations(*(math.sqrt(2) * deviation for deviation in ITEMS))
    for name, levels in both.items():
        films, n = min(len({source_of[item] for item in ids}) for ids in levels.values()), min(map(len, levels.values()))
        found.append(_telling(name, films, n, n, apart, effects))
    return found


def _telling(name: str, films: int, clips: int, n: int, deviations: Deviations, effects: int) -> Telling:
    least = least_effect(films, deviations, _design(clips / films, n / clips, effects)) if films else None
    return Telling(name, films, n, least)


# Attributes of a blob's preset, each an axis; their levels.
PRESET_AXES, LEVELS = ("size", "pose", "displacement"), ("low", "high")
# One that sees single frames, and one that sees time.
METHODS_TRIED = ("telea", "temporal_median")
MOST_FILMS, CLIPS_OF_FILM = 8, 2
# With fewer it would be of these films alone.
LEAST_FILMS = 3
# Longest clip, least one, and frames of a film beyond which nothing is decoded.
CLIP_FRAMES, LEAST_FRAMES, DECODED_FRAMES = 45, 16, 150
SIZE = (240, 136)
_STEP = "pilot"


class Pilot(NamedTuple):
    """What a pilot measured."""

    deviations: dict[str, float]
    """Axis of a preset -> standard deviation of the difference of one pair, PSNR in the hole, over both methods, dB."""
    films: int
    items: int


def pilot(films: Sequence[Path], *, seed: int) -> Pilot:
    """Of a few of these films, evenly spread over them.

    Raises:
        InputError: fewer than ``LEAST_FILMS`` can be read and have two clips.
    """
    chosen = (
        [films[place] for place in np.unique(np.linspace(0, len(films) - 1, MOST_FILMS).round().astype(int))] if films else []
    )
    changes = [found for path in chosen if (found := _of_film(path, seed=seed)) is not None]
    if len(changes) < LEAST_FILMS:
        raise InputError(
            f"a pilot needs {LEAST_FILMS} films of at least {CLIPS_OF_FILM * LEAST_FRAMES} frames that can be read, and of "
            f"{len(chosen)} tried {len(changes)} can; give --plan-deviation DB, by how much items of a clip differ"
        )
    values = np.array(changes)
    # Around the mean of each axis and method. How much of it is between films so few films cannot say.
    variances = values.reshape(-1, *values.shape[2:]).var(axis=0, ddof=1)
    deviations = dict(zip(PRESET_AXES, np.sqrt(variances.mean(axis=1)).tolist(), strict=True))
    return Pilot(deviations, len(values), values.shape[0] * values.shape[1] * (1 + len(PRESET_AXES)))


def _of_film(path: Path, *, seed: int) -> npt.NDArray[np.float64] | None:
    """``float64[clips, axes, methods]``: what flipping each axis of a preset does, low to high; None where it has no clips."""
    size = Cover(width=SIZE[0], height=SIZE[1])
    try:
        opened = islice(video.upright_frames(path), DECODED_FRAMES)
        frames = np.array([size.apply(frame, pixel_aspect=1.0) for frame, _ in opened], np.uint8)
    except (InpaintBenchError, OSError):
        return None  # the build will say why
    length = min(CLIP_FRAMES, len(frames) // CLIPS_OF_FILM)
    if length < LEAST_FRAMES:
        return None
    clips = (frames[:length], frames[-length:])
    return np.array([_of_clip(clip, f"{path.name} {place}", seed=seed) for place, clip in enumerate(clips)])


def _of_clip(clip: Frames, name: str, *, seed: int) -> npt.NDArray[np.float64]:
    base = item_rng(seed, _STEP, f"{name}, preset").integers(0, 2, len(PRESET_AXES)).tolist()

    def scores(levels: Sequence[int]) -> npt.NDArray[np.float64]:
        hole = blob(levels, rng=item_rng(seed, _STEP, name), frames=len(clip))
        return np.array([score(method, clip, hole) for method in METHODS_TRIED])

    unchanged = scores(base)
    flipped = [scores([level ^ (place == axis) for place, level in enumerate(base)]) for axis in range(len(PRESET_AXES))]
    return np.array([(own - unchanged) * (-1 if base[axis] else 1) for axis, own in enumerate(flipped)])


def blob(levels: Sequence[int], *, rng: np.random.Generator, frames: int) -> Hole:
    """A blob of the preset of these levels, 0 or 1; equal random numbers give blobs that differ in their presets alone."""
    preset = "_".join(f"{axis}-{LEVELS[level]}" for axis, level in zip(PRESET_AXES, levels, strict=True))
    view = ItemView(item_id=_STEP, frames=frames, height=SIZE[1], width=SIZE[0], fps=30.0, parts={})
    hole = DevilBlobs(**paired_blob(preset)).generate(view, rng).hole
    assert hole is not None
    return hole


def score(method: str, truth: Frames, hole: Hole, *, seen: Frames | None = None) -> float:
    """PSNR in the hole, dB, as the protocol `devil/corrected` has it; ``seen`` is what is known of ``truth``."""
    given = np.where(hole[..., None], np.uint8(127), truth if seen is None else seen)
    filled = METHODS.get(method)().inpaint(ItemView.of_arrays(input=given, hole=hole))
    error = float(np.mean(masked_errors(truth, composite(truth, hole, filled), hole)))
    return min(decibels(error, data_range=1.0), CEILING_DECIBELS)
