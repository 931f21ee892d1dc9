"""Setting of a re-inpainting score: all that it depends on besides the first results, second holes among it.

They say where a first result is inpainted again, and depend on seed, item and number alone, never on a method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MaskShapeError
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.predict import MethodSpec, build
from inpaintbench.types import Dataset, Hole, Plain, content_id, item_rng
from inpaintbench.wings.reinpaint.engine import OBJECTIVES, SUBMETRICS, Constants
from inpaintbench.wings.reinpaint.leaves import SECOND

Count = Literal["bernoulli", "exact"]
# Part of the seed of every patch mask: another name would draw others.
_STEP = "reinpaint.second"


@dataclass(frozen=True)
class Patches:
    """Parameters of patch masks, drawn by Algorithm 2 of the paper.

    Cells of ``size_pixels`` x ``size_pixels``, the last ones cut where that does not divide the frame, are each hidden with
    probability ``ratio`` (``bernoulli``), or round(ratio x cells) of them (``exact``). In a clip a cell lasts ``tube_frames``.

    Raises:
        InputError: a ratio outside 0..1, no size, no length, or an unknown way to count.
    """

    ratio: float | tuple[float, float] = 0.4
    """P; two numbers = drawn uniformly between them for each mask."""
    size_pixels: int = 32
    """S; the paper does not state its own."""
    count: Count = "bernoulli"
    tube_frames: int = 0
    """0 = the cells stay for the whole clip."""
    seed: int = 0

    def __post_init__(self) -> None:
        low, high = self.interval
        if not (0 <= low <= high <= 1):
            raise InputError(f"second ratio {self.ratio} is not a share from 0 to 1, or two ascending ones")
        if self.size_pixels < 1:
            raise InputError(f"patches of {self.size_pixels} pixels; give a side of 1 or more")
        if self.tube_frames < 0:
            raise InputError(f"tubes of {self.tube_frames} frames; give 1 or more, or 0 for patches that stay")
        if self.count not in ("bernoulli", "exact"):
            raise InputError(f"unknown patch count {self.count!r}, choose from bernoulli, exact")

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the largest ratio."""
        return self.ratio if isinstance(self.ratio, tuple) else (self.ratio, self.ratio)

    @property
    def words(self) -> str:
        """Words for tables: ``P 40%, S 32``."""
        low, high = (f"{share:.3g}" for share in np.multiply(self.interval, 100))
        share = f"{low}%" if low == high else f"{low}-{high}%"
        exactly = ", exact count" if self.count == "exact" else ""
        tubes = f", tubes of {self.tube_frames} frames" if self.tube_frames else ""
        return f"P {share}, S {self.size_pixels}{exactly}{tubes}"

    def plain(self) -> Plain:
        """Every constant, as data."""
        return {**vars(self), "ratio": list(self.interval)}

    @classmethod
    def of(cls, plain: Plain) -> Patches:
        """The inverse of ``plain``."""
        low, high = plain["ratio"]
        return cls(**{**plain, "ratio": (float(low), float(high))})


def patch_mask(patches: Patches, *, item_id: str, number: int, frames: int, height: int, width: int) -> Hole:
    """Mask ``number`` (from 0) of an item before the first hole is taken out, ``bool[T, H, W]``.

    Raises:
        InputError: the frame is smaller than one patch.
    """
    if min(height, width) < patches.size_pixels:
        raise InputError(f"a frame of {width}x{height} is smaller than one patch of {patches.size_pixels} pixels")
    rng = item_rng(patches.seed, _STEP, content_id(item_id, number))
    low, high = patches.interval
    ratio = low if low == high else float(rng.uniform(low, high))
    length = patches.tube_frames or frames
    rows, columns = -(-height // patches.size_pixels), -(-width // patches.size_pixels)
    parts = []
    for begin in range(0, frames, length):
        cells = _cells(rng, rows, columns, ratio=ratio, count=patches.count)
        wide = np.repeat(np.repeat(cells, patches.size_pixels, axis=0), patches.size_pixels, axis=1)[:height, :width]
        parts.append(np.repeat(wide[None], min(length, frames - begin), axis=0))
    return np.ascontiguousarray(np.concatenate(parts))


def patch_of(patches: Patches, row: Plain, number: int) -> Hole:
    """``patch_mask`` for a row of a dataset."""
    return patch_mask(
        patches, item_id=row["item_id"], number=number, frames=row["frames"], height=row["height"], width=row["width"]
    )


def _cells(rng: np.random.Generator, rows: int, columns: int, *, ratio: float, count: Count) -> npt.NDArray[np.bool_]:
    chances = rng.random((rows, columns))
    if count == "bernoulli":
        # Numbers of [0, 1): "below" hides all cells at a ratio of 1 and none at 0.
        return chances < ratio
    cells = np.zeros(chances.size, np.bool_)
    cells[np.argsort(chances, axis=None, kind="stable")[: round(ratio * chances.size)]] = True
    return cells.reshape(chances.shape)


def second_hole(patch: Hole, first: Hole) -> Hole:
    """M2: what a patch mask hides of the pixels that the first hole left known; the first fill is never hidden again.

    In the paper, where 1 is known: M2 = 1 - (1 - Mp) * M1.

    Raises:
        MaskShapeError: masks of different shapes.
    """
    if patch.shape != first.shape:
        raise MaskShapeError(f"second mask {patch.shape} != first hole {first.shape}")
    hidden: Hole = patch & ~first
    return hidden


def mean_area(holes: Sequence[Hole]) -> float | None:
    """Mean share of hole pixels over masks; None without masks."""
    return float(np.mean([hole.mean() for hole in holes])) if holes else None


# Methods that cannot inpaint again: one gives what was made before, one nothing.
NOT_FOR_SECOND = ("saved_folder", "blank")
# F2 and K where none is asked for; a fill that needs no weights and is as quick as any, and the paper's K.
USUAL_SECOND, PAPER_MASKS = "navier_stokes", 10
# What a protocol does not fix, so that it stands in a mark behind the protocol's fingerprint.
_LEFT_TO_THE_RUN = ("second", "second_version", "masks", "patches")
# Seconds of one core for a second result of 512x512 with its PSNR and SSIM, as `bench/README.md` measures them.
_SECONDS_OF_512 = {"telea": 0.1, "navier_stokes": 0.1, "exemplar": 0.35, "biharmonic": 0.6}


@dataclass(frozen=True)
class Setting:
    """One way to inpaint again and compare."""

    second: MethodSpec
    """F2."""
    masks: int = 10
    """K."""
    patches: Patches | None = None
    """None = the second masks that the dataset publishes."""
    normal: bool = False
    """Second masks are first holes of other items: the normal masks of Fig. 3f."""
    composited: bool = True
    metrics: Constants = field(default_factory=dict)
    """Sub-metrics with their constants."""
    objectives: tuple[str, ...] = OBJECTIVES

    def plain(self) -> dict[str, Any]:
        """Every constant, as data, with the version of F2."""
        return {
            **vars(self),
            "second": {"label": self.second.label, "leaf": self.second.leaf, "constants": dict(self.second.constants)},
            "second_version": build(self.second).version,
            "patches": self.patches and self.patches.plain(),
            "metrics": {name: dict(constants) for name, constants in self.metrics.items()},
            "objectives": list(self.objectives),
        }

    @classmethod
    def of(cls, plain: Plain) -> Setting:
        """The inverse of ``plain``."""
        fields = {name: value for name, value in plain.items() if name != "second_version"}
        fields |= {"second": MethodSpec(**plain["second"]), "objectives": tuple(plain["objectives"])}
        return cls(**{**fields, "patches": plain["patches"] and Patches.of(plain["patches"])})

    @property
    def key(self) -> str:
        """12 hex digits that change with any constant."""
        return content_id(self.plain())[:12]

    @property
    def mark(self) -> str:
        """Mark behind the fingerprint of the protocol, of what the protocol leaves to the run."""
        plain = self.plain()
        return f"+{self.second.leaf}-{content_id(*(plain[name] for name in _LEFT_TO_THE_RUN))[:8]}"

    def words(self, dataset: Dataset) -> str:
        """Words for the head of a table: ``telea, K 10, P 40%, S 32``."""
        if self.normal:
            return f"F2 {self.second.label}, K {self.masks}, first holes of other items"
        masks = published_words(dataset) if self.patches is None else self.patches.words
        return f"F2 {self.second.label}, K {self.masks}, {masks}"


def setting_of(
    protocol: Protocol, *, second: MethodSpec, masks: int, patches: Patches | None, submetrics: Sequence[str] | None = None
) -> Setting:
    """The setting of a run under a protocol of re-inpainting.

    Raises:
        InputError: another protocol, no sub-metric, or a method that cannot inpaint again.
        UnknownNameError: no such method.
    """
    chosen = tuple(name for name in SUBMETRICS if name in (submetrics or SUBMETRICS))
    if f"{SECOND}_{SUBMETRICS[0]}" not in protocol.metrics:
        raise InputError(f"protocol {protocol.name!r} does not inpaint again; use reinpaint/as-published or reinpaint/corrected")
    if not chosen or set(submetrics or ()) - set(SUBMETRICS):
        raise InputError(f"sub-metrics {list(submetrics or ())} are not among {', '.join(SUBMETRICS)}")
    build(second)  # what cannot be built is told before any work
    if second.leaf in NOT_FOR_SECOND:
        raise InputError(f"method {second.leaf!r} cannot inpaint a result again; use one that fills holes, such as telea")
    return Setting(
        second, masks, patches,
        composited=bool(protocol.metrics[f"{SECOND}_{SUBMETRICS[0]}"]["composited"]),
        metrics={name: protocol.metrics[name] for name in chosen},
    )  # fmt: skip


def checked(setting: Setting, dataset: Dataset) -> Setting:
    """The setting when the dataset has what it needs.

    Raises:
        InputError: items without a hole, fewer second masks than wanted, or less than one mask.
    """
    if setting.masks < 1:
        raise InputError(f"K is {setting.masks}; inpaint again under 1 second mask or more")
    if any(not row.get("hole_file_name") for row in dataset.items):
        raise InputError(f"{dataset.name!r} has items without a hole: there is nothing that was inpainted first")
    if setting.patches is None and not setting.normal:
        masks_of = {str(row["item_id"]): len(row.get("second_hole_file_names") or ()) for row in dataset.items}
        fewest = min(masks_of.values())
        bare = [item for item, masks in masks_of.items() if not masks]
        if bare:
            of = "" if len(bare) == len(masks_of) else f" for {len(bare)} of {len(masks_of)} items, such as {bare[0]}"
            raise InputError(
                f"{dataset.name!r} publishes no second masks{of}; have them drawn: `eval run --for reinpainting` with --ratio 0.4"
            )
        if fewest < setting.masks:
            raise InputError(
                f"{dataset.name!r} publishes {fewest} second masks for an item, not {setting.masks}; "
                f"use --masks {fewest}, or draw others with --ratio"
            )
    return setting


def usual_masks(dataset: Dataset) -> int:
    """K where none is asked for: that of the paper, or as many second masks as the dataset publishes."""
    return min(PAPER_MASKS, *(len(row.get("second_hole_file_names") or ()) or PAPER_MASKS for row in dataset.items))


def seconds_of(setting: Setting, dataset: Dataset, *, firsts: int) -> float | None:
    """About how long one core takes to inpaint ``firsts`` first results again, by the measured time of F2; None where unknown."""
    each = _SECONDS_OF_512.get(setting.second.leaf)
    pixels = sum(int(row["frames"]) * int(row["width"]) * int(row["height"]) for row in dataset.items)
    return None if each is None else each * firsts * setting.masks * pixels / 512**2


def with_patches(setting: Setting, **changes: Any) -> Setting:
    """The setting with drawn patches that differ in ``changes``; those of the paper where it had none."""
    return replace(setting, patches=replace(setting.patches or Patches(), **changes))


def published_words(dataset: Dataset) -> str:
    """Words of a dataset on its second masks: ``P 40%, S 32``."""
    recipe = dataset.recipe
    if "second_ratio" not in recipe or "patch_pixels" not in recipe:
        return "second masks of the dataset"
    ratio = recipe["second_ratio"]
    share = tuple(ratio) if isinstance(ratio, list | tuple) else float(ratio)
    return Patches(ratio=share, size_pixels=recipe["patch_pixels"], count=recipe.get("second_count", "bernoulli")).words
