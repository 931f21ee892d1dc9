"""The protocols of EditBoard, AAAI 2025: as the released code scores, as its paper tells, and corrected.

Below them stands what cards and pages say of their benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.benchmarks import Benchmark, Paper
from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import Constant, Protocol

_CODE = "the released code of EditBoard, AAAI 2025"
_TEXT = "the text of EditBoard, AAAI 2025; what it leaves open is as in the released code"
_RELEASED: dict[str, Constant] = {"flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7}
_PAPER: dict[str, Constant] = {"flow": "raft_large", "mask": "channels_below", "mask_level": 5, "least_valid_share": 0.7}

_B32, _L14 = {"network": "ViT-B/32"}, {"network": "ViT-L/14"}
_RELEASED_NETWORKS: dict[str, Mapping[str, Constant]] = {
    "success_rate": {**_B32, "preprocess": "pillow", "portrait": "bottom", "tie": 1.0},
    "clip_similarity": {**_B32, "preprocess": "pillow", "portrait": "bottom"},
    "subject_consistency": {"network": "dino-vit-b-16", "side_pixels": 224, "gif": False, "least_cosine": 0.0},
    "background_consistency": {**_B32, "preprocess": "tensor", "portrait": "centre", "gif": False, "least_cosine": 0.0},
    "aesthetic_quality": {**_L14, "preprocess": "tensor", "portrait": "centre", "divisor": 10.0, "gif": False},
    "imaging_quality": {"head": "spaq", "preprocess": "longer", "antialias": True, "divisor": 100.0, "gif": False},
}
# The similarity to the target "exceeds" the one to the source, so a tie is no success; of consistency the paper takes cosines as
# they are, where the released code lets those below 0 count as 0.
_PAPER_NETWORKS: dict[str, Mapping[str, Constant]] = {
    **_RELEASED_NETWORKS,
    "success_rate": {**_RELEASED_NETWORKS["success_rate"], "tie": 0.0},
    "subject_consistency": {**_RELEASED_NETWORKS["subject_consistency"], "least_cosine": -1.0},
    "background_consistency": {**_RELEASED_NETWORKS["background_consistency"], "least_cosine": -1.0},
}
# One way to shrink a frame for all four, so they share what the network sees; a tie is half a success, and of tall frames the
# middle is kept, not the bottom.
_CORRECTED_NETWORKS: dict[str, Mapping[str, Constant]] = {
    **_RELEASED_NETWORKS,
    "success_rate": {**_B32, "preprocess": "pillow", "portrait": "centre", "tie": 0.5},
    "clip_similarity": {**_B32, "preprocess": "pillow", "portrait": "centre"},
    "background_consistency": {**_B32, "preprocess": "pillow", "portrait": "centre", "gif": False, "least_cosine": 0.0},
    "aesthetic_quality": {**_L14, "preprocess": "pillow", "portrait": "centre", "divisor": 10.0, "gif": False},
}

_OF_ALL = (
    Deviation(
        "order of frames",
        "file names sorted as text, `frame_10` before `frame_2`",
        "sorted by their numbers",
        "other scores where names are not padded with zeros",
    ),
    Deviation(
        "size of frames",
        "512x512 by squashing, which is written into the code",
        "as they are; `--side 512` squashes, `build editing --behaviour as-published` too",
        "none for frames of 512x512",
    ),
    Deviation(
        "edits that do not fit their original",
        "scored as far as both go, or an error that loses all scores",
        "refused before anything is measured, with the reason",
        "means are over fewer edits",
    ),
)


def _protocol(
    name: str,
    source: Mapping[str, Constant],
    *,
    empty: str,
    least_motion_pixels: float,
    others: Mapping[str, Mapping[str, Constant]],
    follows: str = "",
) -> Protocol:
    return Protocol(
        name=f"editboard/{name}",
        follows=follows,
        deviations=_OF_ALL,
        regions=("frame",),
        # An untouched clip has the best fidelity; only this asks whether the edit was made, and it is no yes or no.
        primary=("clip_similarity", "frame"),
        composite=False,
        metrics={
            "ff_alpha": {**source, "empty": empty},
            "ff_beta": {**source, "least_motion_pixels": least_motion_pixels},
            "semantic_score": {"empty": empty},
            **others,
        },
    )


# Reproduces the numbers of the released code for frames of 512x512: Farneback's flow, a mask by luma, every pixel in FF-beta.
# Where that code scores a clip 0 because FF-alpha does not apply to it, or NaN because a mask leaves nothing, there is no value.
# Consistency of subject and background, aesthetic and imaging quality look at the frames themselves; that code shows them a GIF,
# which it writes into the user's folder: see the next protocol.
AS_PUBLISHED = _protocol(
    "as-published", _RELEASED, empty="no_value", least_motion_pixels=0.0, others=_RELEASED_NETWORKS, follows=_CODE
)

# As the released code in this too: those four see what a GIF leaves, 256 colours a frame and one frame of equal ones in a row. A
# clip that stands still has no consistency then, where that code divides by zero.
AS_PUBLISHED_GIF = _protocol(
    "as-published-gif", _RELEASED, empty="no_value", least_motion_pixels=0.0, follows=_CODE,
    others={name: {**row, "gif": True} if "gif" in row else row for name, row in _RELEASED_NETWORKS.items()},
)  # fmt: skip

# What the paper describes: a learned flow, a mask by the largest of the three channels, a tie that is no success, cosines of
# consistency as they are. It names PWC-Net and FlowNet, this follows RAFT. What it does not state is the released code's: the
# thresholds, that the way back along the flow is read at the pixel itself, how CLIP and DINO are shown a frame, and the divisors
# of aesthetic and imaging quality, which its Table 1 has too.
PAPER = _protocol("paper", _PAPER, empty="no_value", least_motion_pixels=0.0, others=_PAPER_NETWORKS, follows=_TEXT)

# As the released code, but frames and pairs in which a mask leaves nothing are left out, and FF-beta counts only what moves by
# half a pixel or more in the source or in the edit: what is still in both costs nothing. Four metrics on CLIP share one way to
# shrink frames and keep the middle of tall ones, and an edit that fits both prompts alike is half a success.
CORRECTED = _protocol("corrected", _RELEASED, empty="leave_out", least_motion_pixels=0.5, others=_CORRECTED_NETWORKS)


EDITING = Benchmark(
    use="Scoring edits by prompt in four tasks: success, faithfulness to the clip, steadiness.",
    limits=(
        "The videos and prompts of the paper were never released; footage and prompts are those of whoever built this.",
        "Nobody made the edits that are asked for: there is no truth to compare with, and scores are of networks that have their"
        " own errors.",
    ),
    paper=Paper(
        "editboard",
        "inproceedings",
        "EditBoard: Towards a Comprehensive Evaluation Benchmark for Text-Based Video Editing Models",
        {"booktitle": "AAAI", "year": "2025", "url": "https://github.com/Samchen2003/EditBoard"},
    ),
    protocol="editboard/corrected",
    baseline="edit_recolour",
    generated={"embedded_edits": "made by a virtual camera over pictures"},
)
