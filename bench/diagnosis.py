"""Whole studies of paired designs and of slices, simulated with the variances of real films.

A score is made of its film's level, its clip's, what its film and its clip make of each axis, and what its mask alone does to it;
each has a covariance between the methods. `--measure` measures them on the test assets and writes `diagnosis.toml`.

python bench/diagnosis.py [--quick] [--measure]
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from _real_scores import CLIPS, DRAWS, FRAMES, NOISE, STILL, Scores, measured

from inpaintbench.eval.comparing.simultaneous import (
    LEVEL,
    Design,
    Deviations,
    Simultaneous,
    least_effect,
    needed,
    power_of,
    simultaneous,
)
from inpaintbench.export.slices import plan
from inpaintbench.recipes.telling import METHODS_TRIED as PAIR
from inpaintbench.recipes.telling import PRESET_AXES as AXES
from inpaintbench.recipes.telling import SIZE

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

MEASURED = Path(__file__).with_name("diagnosis.toml")


class Nested(NamedTuple):
    """Covariances between methods, ``float64[methods, methods]``, dB^2."""

    films: Array
    clips: Array
    """Between clips of a film."""
    rest: Array
    """Between items of a clip, or between differences of two items of a clip."""


class World(NamedTuple):
    """What scores of real films are made of."""

    level: Nested
    """Of an item; ``rest`` is what the axes, and the random numbers that masks of one stream share, leave of it."""
    draws: Array
    """Of one stream of random numbers with a clip."""
    moving: Nested
    """``level`` among films that move little, and among those that move much."""
    slopes: dict[str, Nested]
    """Of axes of presets, low to high; ``rest`` is that of a level."""
    changes: dict[str, Nested]
    """Of axes on which an item has one hole: the base to what differs."""
    effects: dict[str, Array]
    """``float64[methods]``, means of both, dB."""
    films: dict[str, int]
    """Films that these rest on."""

    @property
    def pairs(self) -> dict[str, Nested]:
        """Return those of the difference of one pair, of every axis."""
        return {axis: of._replace(rest=2 * of.rest) for axis, of in self.slopes.items()} | self.changes


def world_of(scores: Scores) -> World:
    """Variances by the method of moments: mean squares of each level less what the level below puts into them."""
    films, clips, draws = scores.presets.shape[:3]
    signs = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1)  # [2, 2, 2, axes]
    means = scores.presets.mean(axis=(2, 3, 4, 5))
    slopes = np.einsum("fcdspqm,spqa->fcam", scores.presets, signs) / (2 * draws)
    own = scores.presets - means[:, :, None, None, None, None]
    own = own - np.einsum("fcam,spqa->fcspqm", slopes, signs)[:, :, None]
    by_draw = own.mean(axis=(3, 4, 5))
    own = own - by_draw[:, :, :, None, None, None]
    items = _covariance(own, films * clips * (8 * draws - 4 - (draws - 1)))
    drawn = _positive(_covariance(by_draw, films * clips * (draws - 1)) - items / 8)
    error = drawn / draws + items / (8 * draws)
    motion = np.nanmean(scores.motion, axis=1)
    groups = (motion > np.median(motion), motion <= np.median(motion))
    centred = means - sum(group[:, None, None] * means[group].mean(axis=(0, 1)) for group in groups)
    still = (scores.motion < STILL).all(axis=1)
    made = {"window, slow": scores.windows[still][..., [0, 1], :], "window, fast": scores.windows[still][..., [0, 2], :],
            "noise": scores.kept[..., [0, 1], :], "duration": scores.kept[..., [0, 2], :]}  # fmt: skip
    differences = {name: of[..., 1, :] - of[..., 0, :] for name, of in made.items()}
    return World(
        _nested(means, error)._replace(rest=items),
        drawn,
        _nested(centred, error, lost=2)._replace(rest=items),
        {axis: _nested(slopes[:, :, place], items / (2 * draws))._replace(rest=items) for place, axis in enumerate(AXES)},
        {name: _of_differences(of) for name, of in differences.items()},
        {axis: slopes[:, :, place].mean(axis=(0, 1)) for place, axis in enumerate(AXES)}
        | {name: of.mean(axis=(0, 1, 2)) for name, of in differences.items()},
        {axis: films for axis in AXES} | {name: len(of) for name, of in differences.items()},  # noqa: C420 - mypy
    )


def _of_differences(values: Array) -> Nested:
    """Of ``float64[films, clips, draws, methods]``."""
    films, clips, draws = values.shape[:3]
    by_clip = values.mean(axis=2)
    rest = _covariance(values - by_clip[:, :, None], films * clips * (draws - 1))
    return _nested(by_clip, rest / draws)._replace(rest=rest)


def _covariance(residuals: Array, degrees: int) -> Array:
    rows = residuals.reshape(-1, residuals.shape[-1])
    return np.asarray(rows.T @ rows / degrees)


def _nested(values: Array, error: Array, *, lost: int = 1) -> Nested:
    """Of ``float64[films, clips, methods]`` whose own covariance of error is known."""
    films, clips = values.shape[:2]
    by_film = values.mean(axis=1)
    within = _covariance(values - by_film[:, None], films * (clips - 1))
    between = _covariance(by_film - by_film.mean(axis=0), films - lost)
    return Nested(_positive(between - within / clips), _positive(within - error), error)


def _positive(covariance: Array) -> Array:
    """The nearest one that there can be."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


class Study(NamedTuple):
    """What is looked at in one study, as `simultaneous` takes it: of each axis the effect on each method and on each lead."""

    estimates: Array
    """``float64[effects]``."""
    without: Array
    """``float64[films, effects]``, without each film."""
    shares: Array
    """``float64[films, effects]``, what each film counts for."""
    alike: tuple[str, ...]

    @property
    def found(self) -> Simultaneous:
        """Return the claims of all of them together."""
        return simultaneous(self.estimates, self.without, alike=self.alike, shares=self.shares)

    def only(self, place: int) -> Study:
        """The study of one effect alone."""
        own = slice(place, place + 1)
        return Study(self.estimates[own], self.without[:, own], self.shares[:, own], self.alike[own])


def drawn(rng: np.random.Generator, covariance: Array, shape: float, *size: int) -> Array:
    """``float64[*size, methods]`` of mean 0; log-normal with this deviation of the logarithm, or normal for 0."""
    numbers = rng.standard_normal((*size, len(covariance)))
    if shape:
        square = shape * shape
        numbers = (np.exp(shape * numbers) - np.exp(square / 2)) / np.sqrt((np.exp(square) - 1) * np.exp(square))
    values, vectors = np.linalg.eigh(covariance)
    # The symmetric root, so that no method is the sum of fewer numbers than another and all are about equally skewed.
    return np.asarray(numbers @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def nested(rng: np.random.Generator, parts: Nested, film_of: Places, shape: float) -> Array:
    """``float64[clips, methods]`` of films and clips."""
    return drawn(rng, parts.films, shape, int(film_of.max()) + 1)[film_of] + drawn(rng, parts.clips, shape, len(film_of))


def mean_of(values: Array, film_of: Places, films: int) -> Study:
    """Means over rows ``float64[n, methods]``, and those of the leads of one method over another."""
    pairs = list(combinations(range(values.shape[1]), 2))
    columns = np.concatenate([values, *(values[:, [one]] - values[:, [other]] for one, other in pairs)], axis=1)
    sums, counts = np.zeros((films, columns.shape[1])), np.bincount(film_of, minlength=films)[:, None]
    np.add.at(sums, film_of, columns)
    without = (sums.sum(axis=0) - sums) / (len(columns) - counts)
    shares = np.repeat(counts / len(columns), columns.shape[1], axis=1)
    return Study(columns.mean(axis=0), without, shares, ("method",) * values.shape[1] + ("lead",) * len(pairs))


def together(studies: Sequence[Study]) -> Study:
    """Several axes of the same films."""
    return Study(
        np.concatenate([study.estimates for study in studies]), np.concatenate([study.without for study in studies], axis=1),
        np.concatenate([study.shares for study in studies], axis=1), sum((study.alike for study in studies), ()),
    )  # fmt: skip


def apart(low: Study, high: Study) -> Study:
    """One mean less another, as `looked_at` has a change."""
    return Study(high.estimates - low.estimates, high.without - low.without, (low.shares + high.shares) / 2, low.alike)


def paired(rng: np.random.Generator, world: World, film_of: Places, *, masks: int = 1, shape: float = 0.0) -> list[Study]:
    """Each clip has an item of a preset drawn for each of its masks, and one more for each axis of the presets, flipped there."""
    of_masks = np.repeat(film_of, masks)
    base, found = drawn(rng, world.level.rest, shape, len(of_masks)), []
    for axis in AXES:
        turned = np.where(rng.random(len(of_masks)) < 0.5, 1, -1)[:, None]
        own = turned * (drawn(rng, world.level.rest, shape, len(of_masks)) - base)
        clips = np.repeat(nested(rng, world.slopes[axis], film_of, shape), masks, axis=0)
        found.append(mean_of(clips + own, of_masks, int(film_of.max()) + 1))
    return found


def changed(rng: np.random.Generator, parts: Nested, film_of: Places, *, masks: int = 1, shape: float = 0.0) -> Study:
    """Each clip has a pair of an axis on which its hole stays, of each of its masks."""
    of_masks = np.repeat(film_of, masks)
    clips = np.repeat(nested(rng, parts, film_of, shape), masks, axis=0)
    return mean_of(clips + drawn(rng, parts.rest, shape, len(of_masks)), of_masks, int(film_of.max()) + 1)


def every_preset(rng: np.random.Generator, world: World, film_of: Places) -> list[Study]:
    """Each clip has all eight presets, four pairs on each axis."""
    masks = drawn(rng, world.level.rest, 0.0, len(film_of), 2, 2, 2)
    found = []
    for place, axis in enumerate(AXES):
        own = np.moveaxis(masks, 1 + place, 1)
        values = nested(rng, world.slopes[axis], film_of, 0.0) + (own[:, 1] - own[:, 0]).mean(axis=(1, 2))
        found.append(mean_of(values, film_of, int(film_of.max()) + 1))
    return found


def sliced(rng: np.random.Generator, world: World, film_of: Places, per_slice: int) -> list[Study]:
    """A low and a high slice for each axis of the presets, drawn from these clips as `export/slices.py` draws them."""
    named = {"_".join(f"{axis}-{level}" for axis, level in zip(AXES, levels, strict=True)): dict(zip(AXES, levels, strict=True))
             for levels in product(("low", "high"), repeat=3)}  # fmt: skip
    presets, names = list(named), [f"{place:04}" for place in range(len(film_of))]
    pairs = plan(
        {}, all_clips=names, presets=named, per_slice=per_slice, behaviour="corrected", seed=int(rng.integers(1 << 31)),
        sources={name: str(film) for name, film in zip(names, film_of, strict=True)},
    ).pairs  # fmt: skip
    signs = np.array([[0.5 if named[name][axis] == "high" else -0.5 for axis in AXES] for name in presets])
    slopes = np.stack([nested(rng, world.slopes[axis], film_of, 0.0) for axis in AXES])
    # One item for each preset of a clip, whichever slices it is in.
    scores = nested(rng, world.level, film_of, 0.0)[:, None] + np.einsum("acm,pa->cpm", slopes, signs)
    scores = scores + drawn(rng, world.level.rest + world.draws, 0.0, len(film_of), len(presets))
    ends = np.cumsum(list(pairs.counts.values()))
    found = {}
    for name, begin, end in zip(pairs.counts, [0, *ends], ends, strict=False):
        clips = np.array([int(clip) for clip in pairs.clip_ids[begin:end]])
        values = scores[clips, [presets.index(preset) for preset in pairs.presets[begin:end]]]
        found[name] = mean_of(values, film_of[clips], int(film_of.max()) + 1)
    return [apart(found[f"{axis}-low"], found[f"{axis}-high"]) for axis in AXES]


def filmed_apart(rng: np.random.Generator, world: World, film_of: Places) -> Study:
    """A low and a high slice of camera motion: these clips of films that move little, and as many of others that move much."""
    films = int(film_of.max()) + 1
    low, high = (
        mean_of(
            nested(rng, world.moving, film_of, 0.0) + drawn(rng, world.level.rest + world.draws, 0.0, len(film_of)),
            film_of + first, 2 * films,
        )
        for first in (0, films)
    )  # fmt: skip
    return apart(low, high)


FILMS = (6, 8, 12, 24, 50)
SHAPES = {"normal": 0.0, "log-normal, 0.5": 0.5, "log-normal, 1": 1.0}
CLIPS_EACH = {"2": (2,), "1 to 8": (1, 2, 3, 4, 6, 8), "one in six has half": (1, 1, 2, 3, 5, 12)}
DESIGNS = ((12, 2, 4), (12, 2, 2), (12, 4, 8), (24, 1, 1), (24, 1, 4), (24, 2, 2))
"""Films, clips of each in the paired design, and clips of each that slices are drawn from."""
MAIN = DESIGNS[0]
PLANTED = 1.0
MASKS = (1, 2, 4)
"""Of a clip, tried for what further ones are worth."""
RUNS = 500


def clips_of(films: int, each: Sequence[int]) -> Places:
    """The film of each clip."""
    return np.repeat(np.arange(films), np.resize(each, films))


def of_methods(reach: Array) -> Array:
    """Those of methods, less those of leads, of ``float64[axes x (methods + leads)]``: ``float64[axes, methods]``."""
    methods = len(PAIR)
    return reach.reshape(-1, methods + methods * (methods - 1) // 2)[:, :methods]


def variance_lines(world: World) -> Iterator[str]:
    """What was measured."""
    yield "| dB, standard deviations | between films | between clips of a film | between masks of a clip | mean |"
    yield "|---|---|---|---|---|"
    for name, parts, effect in [
        ("score of an item", world.level._replace(rest=world.level.rest + world.draws), None),
        ("the same, films of like camera motion", world.moving._replace(rest=world.level.rest + world.draws), None),
        *((f"difference of a pair: {axis}", parts, world.effects[axis]) for axis, parts in world.pairs.items()),
    ]:
        cells = [", ".join(f"{value:.1f}" for value in np.sqrt(np.diag(part))) for part in parts]
        mean = "" if effect is None else ", ".join(f"{value:+.1f}" for value in effect)
        yield f"| {name} | {' | '.join(cells)} | {mean} |"


def power_lines(world: World, runs: int) -> Iterator[str]:
    """Half-widths of paired designs beside those of slices."""
    yield "| films | clips of each, paired | slices | items | half-width, paired | all presets | slices | paired / slices |"
    yield "|---|---|---|---|---|---|---|---|"
    for films, own, footage in DESIGNS:
        rng = np.random.default_rng([films, own, footage])
        of_pairs, of_slices = clips_of(films, (own,)), clips_of(films, (footage,))
        items = 4 * len(of_pairs)
        # As many items of all presets: half of the clips, of as many films as there are.
        of_all = np.sort(np.arange(items // 8) % films)
        reach = np.zeros((3, len(AXES), len(PAIR)))
        for _ in range(runs):
            made = paired(rng, world, of_pairs), every_preset(rng, world, of_all), sliced(rng, world, of_slices, items // 6)
            reach += [of_methods(together(studies).found.reach) / runs for studies in made]
        cells = [f"{np.median(own):.2f}" for own in reach]
        ratio = 100 * np.median(reach[0] / reach[2])
        yield f"| {films} | {own} | {footage} | {items} | {' | '.join(cells)} | {ratio:.0f} % |"
    yield ""
    yield "| camera motion, still to fast | films | clips | items | half-width, " + " and ".join(PAIR) + " | windows / slices |"
    yield "|---|---|---|---|---|---|"
    films, own, _ = MAIN
    clips = films * own
    # A clip has three windows; slices of as many items have three clips for two of these.
    for of_slices in (clips_of(films, (own * 3 // 2,)), clips_of(films // 2, (own * 3,))):
        rng, reach = np.random.default_rng([films, own]), np.zeros((2, len(PAIR)))
        for _ in range(runs):
            still = [changed(rng, world.changes[f"window, {speed}"], clips_of(films, (own,))) for speed in ("slow", "fast")]
            reach[0] += of_methods(together(still).found.reach)[-1] / runs
            reach[1] += of_methods(filmed_apart(rng, world, of_slices).found.reach)[0] / runs
        widths = [", ".join(f"{value:.2f}" for value in own) for own in reach]
        ratios = ", ".join(f"{100 * ratio:.0f} %" for ratio in reach[0] / reach[1])
        yield f"| windows | {films} | {clips} | {3 * clips} | {widths[0]} | {ratios} |"
        yield f"| slices | {2 * (int(of_slices.max()) + 1)} | {3 * clips} | {3 * clips} | {widths[1]} | |"


def coverage_lines(world: World, runs: int) -> Iterator[str]:
    """How often intervals hold the truth, and how often something is told where there is nothing."""
    yield "| clips of a film | values | films | an interval alone | all nine together | told where there is nothing |"
    yield "|---|---|---|---|---|---|"
    outside, cells, most = [], 0, 0.0
    for each, sizes in CLIPS_EACH.items():
        for name, shape in SHAPES.items():
            for films in FILMS:
                rng, film_of = np.random.default_rng([films, round(10 * shape), len(sizes)]), clips_of(films, sizes)
                held, every, told = np.zeros(2), 0, 0
                for _ in range(runs):
                    study = together(paired(rng, world, film_of, shape=shape))
                    found, alone = study.found, [study.only(place) for place in (0, 1)]
                    held += [abs(one.estimates[0]) <= one.found.reach[0] for one in alone]
                    every += bool((np.abs(study.estimates) <= found.reach).all())
                    told += bool((found.p < 1 - LEVEL).any())
                shares = 100 * held.mean() / runs, 100 * every / runs
                cells, most = cells + 1, max(most, 100 * told / runs)
                for what, share in zip(("alone", "together"), shares, strict=True):
                    if not 93 <= share <= 97:
                        outside.append(f"{what} {share:.1f} ({each}, {name}, {films})")
                yield f"| {each} | {name} | {films} | {shares[0]:.1f} | {shares[1]:.1f} | {100 * told / runs:.1f} |"
    yield ""
    yield f"Outside of 93 to 97 %: {len(outside)} of {2 * cells}{': ' + '; '.join(outside) if outside else ''}."
    twice = 200 * (0.05 * 0.95 / runs) ** 0.5
    yield f"Told where there is nothing in at most {most:.1f} %; 5 % and two standard errors are {5 + twice:.1f} %."


class Planted(NamedTuple):
    """Axis -> studies in which an effect on it was told."""

    found: dict[str, int]
    wrong: dict[str, int]
    """With the other sign."""


def planted(world: World, runs: int, masks: int) -> Planted:
    """An effect of 1 dB on the first method by one axis, among all axes, where there is nothing else."""
    films, own, _ = MAIN
    film_of, names = clips_of(films, (own,)), [*AXES, *world.changes]
    found, wrong = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    rng = np.random.default_rng(films)
    for _ in range(runs):
        made = [
            *paired(rng, world, film_of, masks=masks),
            *(changed(rng, parts, film_of, masks=masks) for parts in world.changes.values()),
        ]
        for place, name in enumerate(names):
            study = together([
                one._replace(estimates=one.estimates + shift, without=one.without + shift)
                for at, one in enumerate(made)
                for shift in [np.array([PLANTED, 0, PLANTED]) * (at == place)]
            ])  # fmt: skip
            at = place * len(made[0].alike)
            told = study.found.p[at] < 1 - LEVEL
            found[name] += bool(told and study.estimates[at] > 0)
            wrong[name] += bool(told and study.estimates[at] < 0)
    return Planted(found, wrong)


def planted_lines(world: World, runs: int) -> Iterator[str]:
    """How often 1 dB is found, beside what the formula promises; then with further masks of each clip."""
    films, own, _ = MAIN
    of_masks = {masks: planted(world, runs, masks) for masks in MASKS}
    (found, wrong), names = of_masks[1], [*AXES, *world.changes]
    yield "| axis | found | wrong sign | promised by the formula | least effect found in 80 % | films that find 1 dB |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        parts = world.pairs[name]
        spread = Deviations(*(float(np.sqrt(part[0, 0])) for part in parts))
        design = Design(own, 1, len(names) * 3, declared=1.0)
        least, films_needed = least_effect(films, spread, design), needed(PLANTED, spread, design).films
        promised = 100 * power_of(PLANTED, films, spread, design)
        shares = f"{100 * found[name] / runs:.1f} % | {wrong[name]} of {runs} | {promised:.0f} %"
        yield f"| {name} | {shares} | {least:.1f} dB | {films_needed} |"
    yield f"\n### Further masks of each of {films * own} clips of {films} films\n"
    yield f"| masks | items | half-width: {' | '.join([*AXES, 'window, fast'])} |"
    yield "|---" * (2 + len(AXES) + 1) + "|"
    for masks in MASKS:
        widths = [", ".join(f"{value:.2f}" for value in pair) for pair in half_widths(world, max(runs // 5, 5), masks)]
        yield f"| {masks} | {films * own * masks * (1 + len(AXES))} | {' | '.join(widths)} |"
    yield f"\n| masks | {PLANTED:g} dB found: {' | '.join(names)} | wrong sign |"
    yield "|---" * (1 + len(names) + 1) + "|"
    for masks, (found, wrong) in of_masks.items():
        shares = " | ".join(f"{100 * found[name] / runs:.1f} %" for name in names)
        yield f"| {masks} | {shares} | {sum(wrong.values())} of {runs * len(names):,} |"


def half_widths(world: World, runs: int, masks: int) -> Array:
    """``float64[axes of presets and a fast window, methods]``, each looked at with the others of its kind."""
    films, own, _ = MAIN
    film_of, rng = clips_of(films, (own,)), np.random.default_rng([films, own])
    reach = np.zeros((len(AXES) + 1, len(PAIR)))
    for _ in range(runs):
        still = [changed(rng, world.changes[f"window, {speed}"], film_of, masks=masks) for speed in ("slow", "fast")]
        presets = of_methods(together(paired(rng, world, film_of, masks=masks)).found.reach)
        reach += np.concatenate([presets, of_methods(together(still).found.reach)[-1:]]) / runs
    return reach


def written(world: World) -> str:
    """The text of ``diagnosis.toml``."""

    def of(value: Any) -> str:
        if isinstance(value, Nested):
            return "{ " + ", ".join(f"{name} = {of(part)}" for name, part in value._asdict().items()) + " }"
        return str(np.round(value, 3).tolist())

    lines = ["# Measured by `python bench/diagnosis.py --measure`: covariances between " + " and ".join(PAIR) + ", dB^2."]
    for name, value in world._asdict().items():
        lines += [
            f"\n[{name}]",
            *(f'"{key}" = {of(part)}' for key, part in (value.items() if isinstance(value, dict) else [("all", value)])),
        ]
    return "\n".join(lines) + "\n"


def read(path: Path = MEASURED) -> World:
    """What ``written`` wrote."""

    def of(value: Any) -> Any:
        return Nested(**{name: np.array(part) for name, part in value.items()}) if isinstance(value, dict) else np.array(value)

    tables = tomllib.loads(path.read_text())
    level, draws, moving = (of(tables[name]["all"]) for name in ("level", "draws", "moving"))
    slopes, changes, effects = (
        {key: of(part) for key, part in tables[name].items()} for name in ("slopes", "changes", "effects")
    )
    return World(level, draws, moving, slopes, changes, effects, tables["films"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies")
    parser.add_argument("--measure", action="store_true", help="measure the variances again, and nothing else")
    options = parser.parse_args()
    if options.measure:
        MEASURED.write_text(written(world_of(measured(Path(os.environ["INPAINTBENCH_TEST_ASSETS"]) / "videos"))))
        return
    world, runs = read(), 10 if options.quick else RUNS
    print("## Paired designs beside slices\n")
    print(
        f"PSNR in the hole of {' and '.join(PAIR)} on {world.films['size']} films, {CLIPS} clips of {FRAMES} frames of each at "
        f"{SIZE[0]}x{SIZE[1]}, {DRAWS} streams of random numbers, blobs of all eight presets; windows over the "
        f"{world.films['window, slow']} films that stand still; noise of {NOISE:g} grey levels; a hole closed for half of the "
        f"time. {runs} studies a row, {max(runs // 5, 5)} of half-widths.\n"
    )
    planted = f"### {PLANTED:g} dB on one of seven axes, {MAIN[0] * MAIN[1]} clips of {MAIN[0]} films\n"
    for lines in (
        variance_lines(world), [""], power_lines(world, max(runs // 5, 5)), ["", "### Intervals that hold the truth\n"],
        coverage_lines(world, runs), ["", planted], planted_lines(world, runs),
    ):  # fmt: skip
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
