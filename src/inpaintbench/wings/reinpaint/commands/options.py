"""Options and helpers that the commands of `eval run --for reinpainting` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import LabelText, leaf_and_constants
from inpaintbench.cli.options import OR_ADDRESS, Among, Natural, Positive, argument, bundle, option, parse_dataset
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.run_folder import predicted, predictions_of
from inpaintbench.types import Dataset
from inpaintbench.wings.reinpaint.engine import FILLS, NOISE_SIGMA
from inpaintbench.wings.reinpaint.grid import Ratio, missing_of
from inpaintbench.wings.reinpaint.setting import PAPER_MASKS, Patches, Setting, seconds_of, usual_masks
from inpaintbench.wings.reinpaint.step import First
from inpaintbench.workspace import Workspace


@dataclass(frozen=True)
class SecondPass:
    """How results are inpainted again.

    Args:
        second (METHOD[,NAME=VALUE]): With --report, for benchmarks of re-inpainting: what inpaints results again (F2), for their
            self-consistency, D(F1). [default: that of `eval run --for reinpainting`]
        second_masks: With --report, for benchmarks of re-inpainting: how often a result is inpainted again (K). [default:
            that of `eval run --for reinpainting`]
    """

    asked_of: ClassVar[str] = "a benchmark of re-inpainting"

    second: Annotated[str | None, Among(METHODS)] = None
    second_masks: Positive | None = None


PROTOCOL = "reinpaint/corrected"
# In the place of a ratio: the second masks of the dataset.
OF_DATASET = "published"

InDataset = Annotated[
    Path, argument("A frozen dataset with second masks: `build reinpaint` makes one.", parser=parse_dataset, metavar="DATASET")
]
Run = Annotated[Path, option("Folder with the predictions.", **OR_ADDRESS)]
Second = Annotated[str, option(f"F2, with constants: one of {', '.join(METHODS)}.", among=METHODS, metavar="METHOD[,NAME=VALUE]")]
Metrics = Annotated[
    list[str] | None,
    option("Sub-metric: psnr, ssim or lpips. May be given again.", "--metric", default="all", among=("psnr", "ssim", "lpips")),
]
ProtocolName = Annotated[
    str,
    option(
        "reinpaint/corrected composites second results, reinpaint/as-published does not.",
        among=("reinpaint/corrected", "reinpaint/as-published"),
    ),
]
Masks = Annotated[int, option("Second masks of an item (K).", min=1)]
PublishedMasks = Annotated[
    int | None,
    option(
        "Second masks of an item (K).", "--masks", default=f"{PAPER_MASKS}, or as many as the dataset publishes for each", min=1
    ),
]
RatioText = Annotated[
    str, option("Second ratio: a number, two (0.2-0.6, uniform between), or published: the dataset's own masks.")
]
TimeLimit = Annotated[float, option("Seconds for one item of one method, K second results.", min=1)]


@dataclass(frozen=True)
class Firsts:
    """The methods whose results are inpainted again, by their labels, and synthetic fills beside them.

    Attributes:
        method (LABEL): First methods by their labels; may be given again. [default: all]
        fill: Score a synthetic fill too: {names}. May be given again.
    """

    method: list[LabelText] | None = None
    fill: Annotated[list[str] | None, Among(FILLS)] = None

    def of(
        self, workspace: Workspace, *, seed: int, sigma: float = NOISE_SIGMA, clip: bool = True, needed: bool = True
    ) -> list[First]:
        """Those of a run folder, all or some, and the fills.

        Raises:
            InputError: a label without predictions, or nothing at all though it is ``needed``.
        """
        fills = [First.of_fill(name, seed=seed, sigma=sigma, clip=clip) for name in dict.fromkeys(self.fill or ())]
        try:
            there = predicted(workspace)
        except InputError:
            if (needed and not fills) or self.method:
                raise
            return fills
        if unknown := [label for label in self.method or () if label not in there]:
            raise InputError(f"no predictions of {unknown[0]!r} in {str(workspace.path)!r}, only of {', '.join(there)}")
        labels = dict.fromkeys(self.method or there)
        return [*(First.of_method(label, *predictions_of(workspace, label)) for label in labels), *fills]


@dataclass(frozen=True)
class Drawing:
    """Options of drawing second masks, where they are not those of the dataset.

    Attributes:
        patch: Side of a patch in pixels, where masks are drawn.
        count: Of drawn patches: bernoulli, or exact.
        tube_frames: Frames that a patch lasts in clips; 0 = all.
        seed: Of drawn masks and synthetic fills.
    """

    patch: Positive = Patches.size_pixels
    count: str = Patches.count
    tube_frames: Natural = Patches.tube_frames
    seed: int = Patches.seed

    @property
    def patches(self) -> Patches:
        """Patches of the usual ratio."""
        return Patches(size_pixels=self.patch, count=self.count, tube_frames=self.tube_frames, seed=self.seed)  # type: ignore[arg-type]

    def of(self, ratio: Ratio) -> Patches | None:
        """Patches of a ratio; None for those of the dataset."""
        patches = self.patches  # what cannot be drawn is told in any case
        return None if ratio is None else replace(patches, ratio=ratio)


WhichFirsts = Annotated[Firsts, bundle(Firsts)]
Drawn = Annotated[Drawing, bundle(Drawing)]


def second_spec(text: str) -> MethodSpec:
    """``telea``, or ``telea,radius_pixels=5`` with constants; the label says both."""
    leaf, constants = leaf_and_constants(text)
    return MethodSpec(text.replace(",", " "), leaf, constants)


def parse_ratio(text: str) -> Ratio:
    """``0.4``, ``0.2-0.6``, or ``published``: None."""
    if text == OF_DATASET:
        return None
    try:
        numbers = tuple(float(part) for part in text.split("-"))
    except ValueError as error:
        raise UsageError(f"ratio {text!r} is neither a number, nor two such as 0.2-0.6, nor {OF_DATASET}") from error
    if len(numbers) > 2:
        raise UsageError(f"ratio {text!r} has more than two numbers; give one, or two such as 0.2-0.6")
    ratio = numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
    return Patches(ratio=ratio).ratio


def tell_missing(values: Any) -> None:
    """Every reason for missing values, once."""
    for reason, times in missing_of(values).items():
        console.say(f"not measured ({times} values): {reason}")


def masks_of(masks: int | None, dataset: Dataset, patches: Patches | None) -> int:
    """K: what was asked for, else that of the paper or, where the dataset's own masks are taken, as many as there are."""
    if masks is not None or patches is not None:
        return masks or PAPER_MASKS
    return usual_masks(dataset)


def tell_work(setting: Setting, dataset: Dataset, labels: Sequence[str], *, workers: int) -> None:
    """Say what is going to be inpainted again for self-consistency, D(F1), and about how long that takes."""
    results = len(labels) * setting.masks * len(dataset.items)
    text = (
        f"self-consistency, D(F1): {', '.join(labels[:-1])}{' and ' if len(labels) > 1 else ''}{labels[-1]} are inpainted again "
        f"by {setting.second.label}: {results} second results"
    )
    seconds = seconds_of(setting, dataset, firsts=len(labels))
    about = "" if seconds is None else f", about {max(1, round(seconds / max(workers, 1)))} s where networks take none"
    console.err.print(f"{text}{about}; K and F2 are options", markup=False)
