"""The two protocols of DEVIL, CVPR 2022: as the released code scores, and corrected."""

from __future__ import annotations

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import ALEX, INCEPTION, OCCLUSION, POOLED, SSIM_VARIANTS, Protocol, mean_of_decibels
from inpaintbench.regions import REGIONS

_WINDOWS = {"window_frames": 10, "stride_frames": 1}
_PUBLISHED_I3D = {"input_low": 0.0, "input_high": 1.0, "batch_norm": "eval"}
# The network was trained on -1..1; the released code gives it 0..1.
_CORRECTED_I3D = {"input_low": -1.0, "input_high": 1.0, "batch_norm": "eval"}

# Reproduces the numbers of the released code for the whole frame (PCons: for the hole), including its SSIM range of 2, its
# lopsided PCons search, infinite items that count as the largest finite one, and frames of 0..1 for a network that wants -1..1.
# Frames without a hole, which stop that code in the middle of PCons, are left out. LPIPS is that of the code as it was mended:
# the paper's own column came from a network without trained parameters. The warping error follows RAFT where that code follows
# FlowNet2: its numbers are not the same. The hole's sharpness is not of that code; it explains PCons.
AS_PUBLISHED = Protocol(
    name="devil/as-published",
    regions=REGIONS,
    primary=("psnr", "frame"),
    metrics={
        "psnr": mean_of_decibels("largest_finite"),
        "ssim": SSIM_VARIANTS["devil"],
        "mse": {},
        "pcons": {
            "patch_pixels": 50,
            "first_offset_pixels": -20,
            "last_offset_pixels": 19,
            "random_patch_seed": 1234,
            **mean_of_decibels("largest_finite"),
        },
        "hole_sharpness": {},
        "lpips": ALEX,
        "pvcs": {**_WINDOWS, **_PUBLISHED_I3D},
        "fid": {**INCEPTION, "ddof": 1},
        "vfid": {**_PUBLISHED_I3D, "ddof": 1, "levels": "exact"},
        "vfid_clips": {**_WINDOWS, **_PUBLISHED_I3D, "ddof": 1},
        "warp_error": {"flow": "raft_large", "size_multiple": 64, **OCCLUSION, "border": "clamp"},
    },
    follows="the released evaluation code of DEVIL, CVPR 2022, after its repair of LPIPS in May 2023",
    deviations=(
        Deviation(
            "LPIPS of the paper",
            "AlexNet without its trained parameters under trained heads",
            "`lpips` 0.1 of AlexNet with its parameters, as in the repaired code",
            "the paper's column compares with nothing: 0.00236 there, 0.027345 after the repair, for one cell",
        ),
        Deviation(
            "standard errors",
            "over videos, as if they were independent (ddof 1)",
            "over sources, of which clips are parts",
            "no mean changes; errors and intervals are wider where clips share a source",
        ),
        Deviation(
            "regions other than `frame` (of PCons, `hole`)",
            "do not exist",
            "the hole, its band and the known pixels besides",
            "no published number has a counterpart",
        ),
        Deviation(
            "MSE, hole sharpness",
            "do not exist",
            "measured besides; the sharpness explains PCons",
            "no published number has a counterpart",
        ),
    ),
)

# SSIM with the range that intensities have, a symmetric PCons search, PSNR and PCons of the error pooled over a clip with the
# ceiling of 8-bit pictures (an exact copy has 58.92 dB and counts like any other), I3D with the range that it was trained on, and
# a warping error whose flow needs no weights and which leaves out what comes from outside the frame. The default.
CORRECTED = Protocol(
    name="devil/corrected",
    regions=REGIONS,
    primary=("psnr", "hole"),
    metrics={
        "psnr": POOLED,
        "ssim": SSIM_VARIANTS["uniform_7"],
        "mse": {},
        "pcons": {
            "patch_pixels": 50,
            "first_offset_pixels": -20,
            "last_offset_pixels": 20,
            "random_patch_seed": 1234,
            **POOLED,
        },
        "hole_sharpness": {},
        "flicker": {},
        "temporal_difference": {},
        "warp_error": {"flow": "dis", "size_multiple": 1, **OCCLUSION, "border": "leave_out"},
        "lpips": ALEX,
        "pvcs": {**_WINDOWS, **_CORRECTED_I3D},
        "fid": {**INCEPTION, "ddof": 1},
        "kid": {**INCEPTION, "subsets": 0, "subset_size": 1000, "subset_seed": 0},
        "vfid": {**_CORRECTED_I3D, "ddof": 1, "levels": "exact"},
        "vfid_clips": {**_WINDOWS, **_CORRECTED_I3D, "ddof": 1},
    },
)

# Of benchmarks whose masks are not exact: what is known around a mask is the input, in which is still black what a mask that is
# too small leaves out. Measured where the exact hole is, in all that is given as one, and in the frame.
IMPERFECT = CORRECTED.model_copy(
    update={
        "name": "devil/imperfect",
        "regions": ("object", "hole", "frame"),
        "known_from": "input",
        "primary": ("psnr", "object"),
        "metrics": {name: CORRECTED.metrics[name] for name in ("psnr", "ssim", "mse", "flicker", "warp_error", "lpips")},
    }
)

# Of pairs whose masks differ: the exact hole of every item, whether its mask is exact or not.
MASK_ERROR = IMPERFECT.model_copy(update={"name": "devil/mask_error", "object_is_hole": True})
