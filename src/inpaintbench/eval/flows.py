"""Optical flows: each says where the pixels of one frame lie in another.

RAFT's networks (Teed and Deng, ECCV 2020) are torchvision's. ``raft-small`` and ``raft-large`` take the parameters that its
authors trained (``C_T_V2`` and ``C_T_SKHT_V2``), ``raft-small-official`` those of the paper's authors, whose file has other names
for them.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Catalogue, Leaf, known_name
from inpaintbench.compute import Compute
from inpaintbench.errors import MissingExtraError, NotMeasurable
from inpaintbench.lazily import lazily
from inpaintbench.models import torch_networks, weights
from inpaintbench.types import Frames

cv2 = lazily("cv2")

if TYPE_CHECKING:
    from torch import Tensor

# Entries of `weights.toml`.
RAFT_WEIGHTS = ("raft-small", "raft-large", "raft-small-official")
# Number of refinements of the flow: torchvision's default.
UPDATES = 12
# Sides of input pictures, pixels: features have an eighth of the resolution, the last of four levels of correlations an eighth of
# that, and it needs two positions.
MULTIPLE, LEAST_SIDE = 8, 128


def raft(name: str, compute: Compute) -> Any:
    """Load the network for ``raft_flow``.

    Args:
        name: one of ``RAFT_WEIGHTS``.
        compute: device, precision and seed of random weights.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch or torchvision is not installed.
    """
    known_name("weights of RAFT", name, RAFT_WEIGHTS)
    translate = _from_official if name == "raft-small-official" else None
    return torch_networks.network(_build, compute, weights_name=name, translate=translate, is_large=name == "raft-large")


def raft_flow(module: Any, first: Tensor, second: Tensor) -> Tensor:
    """Optical flow from one picture to another.

    Positions need more digits than bfloat16 has, so this runs in float32 (or TF32) whatever the precision.

    Args:
        module: result of ``raft``.
        first: ``float32[N, 3, H, W]`` RGB in 0..1, of any size: borders are replicated up to a size that the network accepts.
        second: of the same shape.

    Returns:
        ``float32[N, 2, H, W]``: displacements (x, y) in pixels from positions in ``first`` to those in ``second``.
    """
    package = torch_networks.torch()
    height, width = first.shape[-2:]
    # Split as evenly as possible.
    (top, bottom), (left, right) = (
        (missing // 2, missing - missing // 2)
        for missing in (max(LEAST_SIDE, -(-side // MULTIPLE) * MULTIPLE) - side for side in (height, width))
    )
    padded = [
        package.nn.functional.pad(pictures.float() * 2 - 1, (left, right, top, bottom), mode="replicate")
        for pictures in (first, second)
    ]
    with package.autocast(first.device.type, enabled=False):
        displacements: Tensor = module(*padded, num_flow_updates=UPDATES)[-1]
    return displacements[..., top : top + height, left : left + width]


def _build(*, is_large: bool) -> Any:
    try:
        networks = import_module("torchvision.models.optical_flow")
    except ImportError as error:
        raise MissingExtraError("optical flow by RAFT", "eval") from error
    return (networks.raft_large if is_large else networks.raft_small)(weights=None)


# Substitutions that turn the authors' parameter names into torchvision's, applied in this order.
_NAMES = (
    (r"^module\.", ""),
    (r"^fnet\.", "feature_encoder."),
    (r"^cnet\.", "context_encoder."),
    (r"^(feature|context)_encoder\.conv1\.", r"\1_encoder.convnormrelu.0."),
    (r"^(feature|context)_encoder\.conv2\.", r"\1_encoder.conv."),
    (r"\.(\d)\.conv(\d)\.", r".\1.convnormrelu\2.0."),
    (r"^update_block\.encoder\.", "update_block.motion_encoder."),
    (r"\.convc(\d)\.", r".convcorr\1.0."),
    (r"\.convf(\d)\.", r".convflow\1.0."),
    (r"^update_block\.motion_encoder\.conv\.", "update_block.motion_encoder.conv.0."),
    (r"^update_block\.gru\.", "update_block.recurrent_block.convgru1."),
)


def _from_official(state: torch_networks.State) -> torch_networks.State:
    translated = {}
    for name, value in state.items():
        for pattern, replacement in _NAMES:
            name = re.sub(pattern, replacement, name)
        translated[name] = value
    return translated


# `float32[N, H, W, 2]`, in pixels: right and down.
Motion = npt.NDArray[np.float32]
# Of DIS, along each side: two patches, one for the coarsest level of the pyramid.
FEWEST_PIXELS = 16
_PATCH_PIXELS = 8


class Flow(Leaf, ABC):
    """A way to estimate optical flow, built without arguments: a protocol names it, and its name stands for all its constants."""

    weights: str | None
    """Its entry in ``weights.toml``; None without parameters."""

    @abstractmethod
    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """Motion of each pixel of ``one`` to ``other``, ``float32[N, H, W, 2]``; pairs do not affect each other.

        Args:
            one: ``uint8[N, H, W, 3]`` RGB.
            other: as ``one``, pair by pair.
            compute: how networks are run.

        Raises:
            NotMeasurable: the weights are missing or damaged, or the frames are too small.
        """

    def coarse(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """What ``enlarged`` makes ``flow`` of, bit by bit: that itself, or something smaller."""
        return self.flow(one, other, compute)

    def enlarged(self, motion: Motion, *, height: int, width: int) -> Motion:  # noqa: ARG002 - it has that size
        """``flow`` of one pair, ``float32[height, width, 2]``, from what ``coarse`` gave of it."""
        return motion

    @classmethod
    def identity(cls) -> str:
        """Changes whenever its results may: version, and the hash of the parameters or OpenCV's release."""
        return f"{cls.name} {cls.version} {weights.named(cls.weights).sha256 if cls.weights else cv2.__version__}"


FLOWS: Catalogue[type[Flow]] = Catalogue(
    "flow",
    {
        "dis": f"{__name__}:Dis",
        "farneback": f"{__name__}:Farneback",
        "raft_small": f"{__name__}:RaftSmall",
        "raft_small_official": f"{__name__}:RaftSmallOfficial",
        "raft_large": f"{__name__}:RaftLarge",
    },
    base=f"{__name__}:Flow",
)


class Dis(Flow):
    """Dense inverse search on grey levels, Kroeger et al., ECCV 2016, by OpenCV with the constants of its preset "medium".

    Runs on one thread of the processor, since its search takes other ways on more threads.
    """

    name = "dis"
    weights = None
    version = "1"

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """As ``Flow.flow``.

        Raises:
            NotMeasurable: the frames are smaller than two patches.
        """
        height, width = one.shape[1:3]
        return np.stack([self.enlarged(motion, height=height, width=width) for motion in self.coarse(one, other, compute)])

    def coarse(self, one: Frames, other: Frames, compute: Compute) -> Motion:  # noqa: ARG002 - no network
        """At half the size, at which this flow is found; of small frames whose pyramid would be another at their own."""
        height, width = one.shape[1:3]
        if min(height, width) < FEWEST_PIXELS:
            raise NotMeasurable(f"frames of {width}x{height} are too small for optical flow, which needs {FEWEST_PIXELS} px")
        halved = _levels(height, width) == _levels(height // 2, width // 2) + 1 > 0
        search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        # The constants of that preset, set one by one so that another release of OpenCV changes no score.
        search.setFinestScale(0 if halved else 1)  # flow is found at half the resolution, then enlarged
        search.setPatchSize(_PATCH_PIXELS)
        search.setPatchStride(3)
        search.setGradientDescentIterations(25)
        search.setVariationalRefinementIterations(5)
        search.setVariationalRefinementAlpha(20.0)
        search.setVariationalRefinementDelta(5.0)
        search.setVariationalRefinementGamma(10.0)
        search.setVariationalRefinementEpsilon(0.01)
        search.setUseMeanNormalization(True)
        search.setUseSpatialPropagation(True)
        size = (width // 2, height // 2) if halved else (width, height)
        motion = np.empty((len(one), size[1], size[0], 2), np.float32)
        threads = cv2.getNumThreads()
        cv2.setNumThreads(1)
        try:
            for index, pair in enumerate(zip(one, other, strict=True)):
                grey = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in pair)
                # As that search shrinks them itself.
                first, second = (cv2.resize(frame, size, interpolation=cv2.INTER_AREA) if halved else frame for frame in grey)
                motion[index] = search.calc(first, second, None)  # no first guess
        finally:
            cv2.setNumThreads(threads)
        return motion

    def enlarged(self, motion: Motion, *, height: int, width: int) -> Motion:
        """As that search enlarges it itself: bilinearly, and twice as long."""
        if motion.shape[:2] == (height, width):
            return motion
        large = np.asarray(cv2.resize(motion, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
        large *= 2
        return large


def _levels(height: int, width: int) -> int:
    """Halvings down to the coarsest level of the pyramid that OpenCV's search chooses for a size; below 0 for none."""
    longer, patches = max(height, width) / (4 * _PATCH_PIXELS), min(height, width) // _PATCH_PIXELS
    return min(int(math.log2(longer) + 0.5), int(math.log2(patches))) if patches else -1


class Farneback(Flow):
    """Two-frame motion by polynomial expansion of grey levels, Farneback, SCIA 2003, by OpenCV with the constants of the released
    code of EditBoard, AAAI 2025.

    Fast motion is lost, such as 30 px from one frame of 512 px to the next. Pairs are looked
    at side by side on as many threads as OpenCV may have; what is found is the same on any number of them.
    """

    name = "farneback"
    weights = None
    version = "1"

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:  # noqa: ARG002 - no network
        """As ``Flow.flow``."""

        def write_flow(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8], motion: Motion) -> None:
            first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (one, other))
            cv2.calcOpticalFlowFarneback(
                first, second, motion, pyr_scale=0.5, levels=3, winsize=15, iterations=3, poly_n=5, poly_sigma=1.2, flags=0
            )

        motion = np.empty((*one.shape[:3], 2), np.float32)
        with ThreadPoolExecutor(max(1, min(len(one), cv2.getNumThreads()))) as pool:
            list(pool.map(write_flow, one, other, motion))
        return motion


class RaftSmall(Flow):
    """RAFT, Teed and Deng, ECCV 2020: the small network with torchvision's parameters (C_T_V2, trained on FlyingChairs and
    FlyingThings3D)."""

    name = "raft_small"
    version = "1"
    weights = "raft-small"

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """As ``Flow.flow``; in batches that fit into ``compute.batch_bytes``."""
        height, width = one.shape[1:3]
        network = raft(str(self.weights), compute)
        # About what the activations of one pair take: all correlations at an eighth of the size, and the first layers.
        pair_bytes = 10 * (height * width // 64) ** 2 + 300 * height * width
        step = max(1, torch_networks.batch_bytes(compute) // pair_bytes)
        motion = np.empty((len(one), height, width, 2), np.float32)
        with torch_networks.running(compute) as device:
            for begin in range(0, len(one), step):
                some = slice(begin, begin + step)
                first, second = (torch_networks.pictures(frames[some], device) for frames in (one, other))
                motion[some] = raft_flow(network, first, second).permute(0, 2, 3, 1).cpu().numpy()
        return motion


class RaftSmallOfficial(RaftSmall):
    """The small network with the parameters that its authors published."""

    name = "raft_small_official"
    weights = "raft-small-official"


class RaftLarge(RaftSmall):
    """The large network with torchvision's parameters (C_T_SKHT_V2)."""

    name = "raft_large"
    weights = "raft-large"
