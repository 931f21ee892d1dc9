"""The protocol of CoModGAN, ICLR 2021: can a linear machine tell the pictures apart?"""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol

_PICTURES = {"resize": "bilinear", "side_pixels": 299}

# FID with paired and unpaired inception discriminative scores, a tie counting as a loss as in the released code. Made for sets of
# 10,000 and more pictures: with fewer than half as many as the network has features any two sets can be told apart.
COMODGAN = Protocol(
    name="comodgan",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("fid", "frame"),
    averaging="all_frames",
    metrics={
        "fid": {**_PICTURES, "ddof": 1},
        "p_ids": {**_PICTURES, "cost": 1.0, "ties": "loss"},
        "u_ids": {**_PICTURES, "cost": 1.0},
    },
    follows="the released code of CoModGAN, ICLR 2021",
    deviations=(
        Deviation(
            "Inception network",
            "the file of parameters that came with StyleGAN, run by TensorFlow",
            "the port to PyTorch of the parameters of December 2015, pictures made smaller bilinearly without a filter",
            "not measured",
        ),
    ),
)
