"""What a benchmark of one's own footage will be able to tell, before it is built, and what it can tell once it is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.power import POWER, Design, Deviations, effects_of, least_effect, needed
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.presets import PresetAxis
from inpaintbench.pages.words import count
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.paired import FACT
from inpaintbench.steps import PAIR_OF
from inpaintbench.types import Dataset

# PSNR in the hole, dB, of two methods that come with the program on 18 real films (`bench/diagnosis.py`): of the difference of a
# pair, by axis, and of the score of an item.
MEASURED = {
    "size": Deviations(1.2, 3.4),
    "pose": Deviations(0.5, 3.3),
    "displacement": Deviations(0.7, 4.2),
    "camera_path": Deviations(2.0, 3.8),
    "hole_duration": Deviations(0.9, 3.1),
    "known_noise": Deviations(0.1, 0.4),
}
# Over all of these, for other axes.
OTHER_AXES = Deviations(1.1, 3.2)
ITEMS = Deviations(3.0, 4.6)
# Methods that a benchmark is taken to compare; effects wanted, dB; clips of a film that are tried.
METHODS, WANTED, CLIPS_TRIED = 3, (1.0, 0.5), (2, 4, 8)
# Pairs of slices of what films show by themselves: camera motion, background scene motion.
_NATURAL = 2


class Axes(NamedTuple):
    """What is made of each clip."""

    effects: int
    """Steps of the axes, each from the first level, and pairs of natural slices."""
    items_of_clip: int
    """The clip as it is, and every version of it."""


def axes_of(recipe: DevilRecipe) -> Axes:
    """What a paired design makes of each clip, where all of its axes can be made."""
    axes = [AXES.get(name) for name in recipe.axes_of_pairs]
    made = sum(len(axis.levels) - (axis.base_level is not None or issubclass(axis, PresetAxis)) for axis in axes)
    return Axes(sum(len(axis.levels) - 1 for axis in axes) + _NATURAL, 1 + made)


def split(deviation: float) -> Deviations:
    """A deviation of differences of pairs, dB, shared between films and pairs as that of the measured films is."""
    whole = math.hypot(*OTHER_AXES)
    return Deviations(deviation * OTHER_AXES.films / whole, deviation * OTHER_AXES.items / whole)


def plan_words(films: int, deviation: float, axes: Axes, *, basis: str) -> list[str]:
    """Lines on how many films and items find the effects that are wanted, and on what the films that there are find.

    Args:
        films: how many there are.
        deviation: of the difference of a pair, dB.
        axes: of the benchmark.
        basis: where the deviation comes from, in a few words.
    """
    deviations = split(deviation)
    of_films, of_items = (f"{part:.1f} dB" for part in deviations)
    lines = [
        f"{basis}: differences between two items of a clip scatter by {deviation:.1f} dB; shared as on real films, "
        f"{of_films} between films and {of_items} within one."
    ]
    for effect in WANTED:
        ways = []
        for clips in CLIPS_TRIED:
            found = needed(effect, deviations, _design(clips, axes.effects)).films
            if found is not None:
                ways.append(f"{found} films with {clips} clips of each ({found * clips * axes.items_of_clip:,} items)")
        lines.append(
            f"To find {effect:g} dB in {POWER:.0%} of benchmarks: {', or '.join(ways) if ways else 'no number of films'}."
        )
    own = [(clips, least_effect(films, deviations, _design(clips, axes.effects))) for clips in CLIPS_TRIED]
    if (few := too_few(films)) is not None:
        lines.append(f"There are {count(films, 'film')}: nothing can be told ({few}).")
    else:
        ways = [f"{least:.1f} dB with {clips} clips of each" for clips, least in own if least is not None]
        lines.append(f"There are {count(films, 'film')}, which find {', '.join(ways)}; rules and copies may leave fewer.")
    return lines


def _design(per_film: float, effects: int) -> Design:
    return Design(per_film, effects_of(effects, METHODS))


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
    groups: dict[str, dict[str, str]] = {name: {} for name in axes}
    for item in dataset.items:
        for name in axes:
            if (group := item["attributes"].get(f"{PAIR_OF}{name}")) is not None:
                groups[name][str(group)] = source_of[item["item_id"]]
    natural: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for part in dataset.slices:
        name, _, level = part.name.rpartition("-")
        if level in ("low", "high") and name not in groups:
            natural[name][level] = part.item_ids
    both = {name: levels for name, levels in natural.items() if len(levels) == 2}
    effects, found = sum(levels_of.values()) - len(axes) + len(both), []
    for name, own in groups.items():
        films = len(set(own.values()))
        found.append(_telling(name, films, len(own), MEASURED.get(name, OTHER_AXES), effects))
    # Of two slices of other items: the difference of two independent means.
    apart = Deviations(*(math.sqrt(2) * deviation for deviation in ITEMS))
    for name, levels in both.items():
        films = min(len({source_of[item] for item in ids}) for ids in levels.values())
        found.append(_telling(name, films, min(map(len, levels.values())), apart, effects))
    return found


def _telling(name: str, films: int, n: int, deviations: Deviations, effects: int) -> Telling:
    return Telling(name, films, n, least_effect(films, deviations, _design(n / films, effects)) if films else None)
