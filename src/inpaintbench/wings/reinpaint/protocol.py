"""The two protocols of re-inpainting self-consistency (2024): as the paper scores, and corrected.

The second method, its constants and the second masks are choices of a run; they stand behind a ``+`` in the fingerprint of its
scores. Below the protocols stands what cards and pages say of their benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.benchmarks import Benchmark, Paper
from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import POOLED, SSIM_VARIANTS, Constant, Protocol, mean_of_decibels
from inpaintbench.wings.reinpaint.engine import SUBMETRICS
from inpaintbench.wings.reinpaint.leaves import EXCESS, KNOWN, ORIGINAL, SECOND

_SCORER = "inpaintbench.wings.reinpaint.scorer"


def _metrics(kinds: Sequence[str], *, psnr: Mapping[str, Constant], composited: bool) -> Mapping[str, Mapping[str, Constant]]:
    first: dict[str, Mapping[str, Constant]] = {
        "psnr": psnr,
        "ssim": SSIM_VARIANTS["uniform_7"],
        "lpips": {"net": "alex", "version": "0.1"},
    }
    return first | {f"{kind}_{name}": {"composited": composited} for kind in kinds for name in SUBMETRICS}


# D of equation 1 and the two other objectives of Table 1 (0-1: `psnr`, `ssim`, `lpips` of the frame), the second result compared
# as the second method gives it. That the paper does not composite it follows from its numbers alone: an SSIM of 0.72 with at most
# 20 % of the pixels masked. The SSIM window and the trunk of LPIPS are not stated there.
AS_PUBLISHED = Protocol(
    name="reinpaint/as-published",
    regions=("frame",),
    primary=("lpips", "frame"),
    scorer=_SCORER,
    metrics=_metrics((SECOND, ORIGINAL), psnr=mean_of_decibels("count"), composited=False),
    follows="the paper of re-inpainting self-consistency (2024); no code was published",
    deviations=(
        Deviation(
            "the second method F2",
            "Stable Diffusion",
            "chosen by the run, `navier_stokes` unless named; stands in the fingerprint",
            "D of different F2 does not compare",
        ),
        Deviation(
            "second result outside the second hole",
            "not stated; SSIM of 0.72 with at most 20 % masked says that F2's own pixels stay",
            "F2's own",
            "with a composite D is smaller, by what F2 does to pixels that nobody hid",
        ),
        Deviation(
            "trunk of LPIPS",
            "not stated",
            "AlexNet, heads 0.1, the package's default",
            "values of trunks do not compare",
        ),
        Deviation(
            "SSIM window",
            "not stated",
            "uniform, 7 pixels, range 1",
            "windows differ by 0.05 on one picture with noise of 20 levels",
        ),
        Deviation(
            "exact results in PSNR",
            "not stated",
            "infinite values are left out of means and counted",
            "none unless a result equals what it is compared with",
        ),
        Deviation(
            "noise of Table 4",
            "its range and the order of its steps are not stated",
            "added to intensities of 0..1 and cut off there; drawn at 1/16 of the size and enlarged",
            "made at full size and shrunk it would be a sixteenth as strong",
        ),
        Deviation(
            "ties in selection frequencies",
            "not stated",
            "the item is divided",
            "columns still sum to 100 %",
        ),
    ),
)

# The second result differs from the first in the second hole alone, so that what a second method does to pixels that nobody hid
# is no part of D. Beside D stand D over the known area, comparable between first holes of different sizes, and D less that of the
# truth under the same second holes, without what the second method itself cannot repeat. No PSNR, of which D is the mean over
# second masks, is above 58.92 dB: a result that is repeated exactly counts like any other.
CORRECTED = Protocol(
    name="reinpaint/corrected",
    regions=("frame",),
    # D can be bettered by damage, so that it ranks nobody by itself.
    primary=("lpips", "frame"),
    scorer=_SCORER,
    metrics=_metrics((SECOND, KNOWN, EXCESS, ORIGINAL), psnr=POOLED, composited=True),
)


REINPAINT = Benchmark(
    use="Scoring inpainting without a reference, by inpainting results again, and against the truth by area.",
    limits=(
        "Consistency is not correctness: a method can repeat itself and be wrong.",
        "The paper states neither its patch size nor the ranges of its strokes: those of the recipe are a choice.",
    ),
    paper=Paper(
        "reinpainting",
        "misc",
        "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation",
        {"author": "Tianyi Chen and Jianfu Zhang and Yan Hong and Yiyi Zhang and Liqing Zhang", "year": "2024"},
    ),
    protocol="reinpaint/corrected",
    scored_besides="inpaintbench eval run --for reinpainting",
    generated={"embedded_photographs": "the few photographs that come with the program"},
)
