"""The two protocols of video decaptioning, ChaLearn LAP track 2, ECCV 2018: as the released code scores, and corrected."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Constant, Protocol
from inpaintbench.eval.protocols.decibel_variants import POOLED, mean_of_decibels

_WANG: dict[str, Constant] = {"data_range": 1.0, "sigma": 1.5, "window_pixels": 11, "k1": 0.01, "k2": 0.03}
# Of scikit-image in 2018, whose Gaussian reached four standard deviations whatever the window was.
DSSIM_PUBLISHED: dict[str, Constant] = {**_WANG, "taps": 13, "ddof": 1}
# Of Wang et al., 2004.
DSSIM_TODAY: dict[str, Constant] = {**_WANG, "taps": 11, "ddof": 0}

# Reproduces the numbers of the released code: whole frames in colour, the mean over frames, then over clips. A clip with another
# number of frames than the truth, like one that is not there, is skipped, so a method loses nothing by leaving it out; the
# paper's tables print this DSSIM as "SSIM" and rank it the wrong way round, as `eval rank` then does, and cut mean places off.
AS_PUBLISHED = Protocol(
    name="decaption/as-published",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("mse", "frame"),
    composite=False,
    metrics={"mse": {}, "psnr": mean_of_decibels("keep"), "dssim": DSSIM_PUBLISHED},
    ranked_against=("dssim",),
    mean_places="truncated",
    follows="the released scorer of ChaLearn LAP 2018, track 2",
    deviations=(
        Deviation(
            "coding of clips",
            "predictions are H.264 of any kind, the truth is H.264 of 100 kbit/s",
            "predictions are kept without loss; the truth is the dataset's (`build decaption --form challenge`: 100 kbit/s)",
            "on lossless datasets nothing of the error is the codec's",
        ),
    ),
)

# Beside whole frames the pixels under the text, DSSIM with the window that its constants are made for, and PSNR of the error
# pooled over a clip, at most 58.92 dB, so that an exact clip counts like any other. Frames are still judged whole: nobody is told
# where the text is, so what is spoilt elsewhere counts.
CORRECTED = Protocol(
    name="decaption/corrected",
    regions=("frame", "hole"),
    band_radius_pixels=8,
    primary=("psnr", "frame"),
    composite=False,
    metrics={"mse": {}, "psnr": POOLED, "dssim": DSSIM_TODAY},
)

# What decaption is about: whether the text can still be read. Texts stay for seconds, and the detector takes most of the time.
TEXT = Protocol(
    name="decaption/text",
    regions=("hole",),
    band_radius_pixels=8,
    primary=("residual_text", "hole"),
    composite=False,
    metrics={"residual_text": {"frame_step": 5, "longer_side": 544, "score_threshold": 0.6}},
)
