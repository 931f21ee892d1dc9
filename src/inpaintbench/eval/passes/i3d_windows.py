"""I3D over all windows of a clip, once for all metrics and methods: distances of composites from the truth, and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute
from inpaintbench.eval.passes.i3d_lockstep import Features, Pixels, advanced, changed, different, distances, vectors
from inpaintbench.eval.passes.i3d_stem import WindowStem
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Span
from inpaintbench.models.i3d import BatchNorm, I3d, i3d
from inpaintbench.models.i3d_stages import Tensor
from inpaintbench.models.torch_networks import batch_bytes, running, torch
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Of distances and vectors; kept ones of another version are made again.
VERSION = "1"
# Where distances are taken. DEVIL, CVPR 2022, section 5.2.
LAYERS = ("Conv3d_2c_3x3", "Mixed_3c", "Mixed_4f", "Mixed_5c")
_ENDS = ("Conv3d_2b_1x1", *LAYERS[:1], "Mixed_3b", "Mixed_3c", "Mixed_4b", "Mixed_4c", "Mixed_4d", "Mixed_4e", "Mixed_4f",
         "Mixed_5b", "Mixed_5c")  # fmt: skip
# Of activations for one clip, at the widest place: in and out of `Conv3d_2c_3x3` and its normalised copies, in float32.
_BYTES_A_PIXEL = 112


@dataclass(frozen=True)
class Constants:
    """What decides the numbers of a pass over windows."""

    window_frames: int
    stride_frames: int
    input_low: float
    input_high: float
    batch_norm: BatchNorm


Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Windows:
    """What was found about one method's composite."""

    distances: npt.NDArray[np.float64]
    """``[layers, windows]`` in the order of ``LAYERS``."""
    vectors: Vectors
    """``[windows, 1024]``."""
    truth_vectors: Vectors
    """``[windows, 1024]``, the same for all methods."""


def i3d_windows(views: Sequence[ItemView], constants: Constants) -> list[Windows]:
    """One result for each of ``views``, which are of one item; made at the first asking.

    A clip shorter than a window repeats its last frame, the composite its own and the truth its own.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.i3d.i3d``.
    """
    truth, composites = views[0].truth, [view.composite for view in views]
    # The frames are kept beside the result, so that no other frames can come to the same place in memory.
    key = ("i3d windows", constants, tuple(id(one) for one in composites))
    found: list[Windows] = views[0].shared.once(
        key, lambda: (_pass(truth, composites, constants, views[0].shared.compute), composites)
    )[0]
    return found


def i3d_distances(views: Sequence[ItemView], constants: Constants) -> list[npt.NDArray[np.float64]]:
    """The distances alone of ``i3d_windows``, for which no network is run when no composite differs from the truth."""
    truth = views[0].truth
    if any(different(truth, [view.composite]) for view in views):
        return [one.distances for one in i3d_windows(views, constants)]
    return [np.zeros((len(LAYERS), len(_starts(len(truth), constants)))) for _ in views]


def i3d_vectors(views: Sequence[ItemView], constants: Constants, *, key: str) -> tuple[list[Vectors], Vectors]:
    """The vectors of each composite and those of the truth, which are kept under ``key``; all ``float32[windows, 1024]``.

    A composite that equals the truth has the truth's own; where all do and the truth's are kept, no network is run.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.i3d.i3d``.
    """
    unlike = different(views[0].truth, [view.composite for view in views])
    truth = views[0].shared.stored(key, lambda: i3d_windows(views, constants)[0].truth_vectors)
    found = i3d_windows(views, constants) if unlike else []
    return [found[index].vectors if index in unlike else truth for index in range(len(views))], truth


def _starts(frames: int, constants: Constants) -> range:
    return range(0, max(1, frames - constants.window_frames + 1), constants.stride_frames)


def lengthened(frames: Frames, least: int) -> Frames:
    """``frames`` with the last repeated until there are ``least``."""
    missing = least - len(frames)
    return frames if missing <= 0 else np.concatenate([frames, np.repeat(frames[-1:], missing, axis=0)])


def _pass(truth: Frames, composites: Sequence[Frames], constants: Constants, compute: Compute) -> list[Windows]:
    truth = lengthened(truth, constants.window_frames)
    composites = [lengthened(one, constants.window_frames) for one in composites]
    unlike = different(truth, composites)
    found = _found(truth, [composites[index] for index in unlike], constants, compute)
    same = Windows(np.zeros_like(found[-1].distances), found[-1].truth_vectors, found[-1].truth_vectors)
    return [found[unlike.index(index)] if index in unlike else same for index in range(len(composites))]


def _found(truth: Frames, composites: Sequence[Frames], constants: Constants, compute: Compute) -> list[Windows]:
    """One result for each of ``composites``, and one for the truth itself behind them."""
    starts = _starts(len(truth), constants)
    network = i3d(compute, batch_norm=constants.batch_norm)
    with running(compute):
        batches = [
            _measured(network, features, len(composites))
            for features in _inputs(network, truth, composites, constants, starts, compute)
        ]
        layers = torch().cat([batch[0] for batch in batches], dim=2).cpu().numpy()
        found = torch().cat([batch[1] for batch in batches], dim=1).float().cpu().numpy()
        of_truth = torch().cat([batch[2] for batch in batches]).float().cpu().numpy()
    results = [Windows(layers[:, index], found[index], of_truth) for index in range(len(composites))]
    return [*results, Windows(np.zeros((len(LAYERS), len(starts))), of_truth, of_truth)]


def _inputs(
    network: I3d, truth: Frames, composites: Sequence[Frames], constants: Constants, starts: Sequence[int], compute: Compute
) -> Iterator[Features]:
    """The features behind the first block, in batches of windows."""
    pixels = Pixels(constants.input_low, constants.input_high, network.device)
    bytes_a_window = _BYTES_A_PIXEL * constants.window_frames * truth.shape[1] * truth.shape[2] // 2 * (1 + len(composites))
    count = max(1, batch_bytes(compute) // bytes_a_window)
    batches = [starts[begin : begin + count] for begin in range(0, len(starts), count)]
    if network.batch_norm == "train":
        yield from (_unshared(network, truth, composites, constants, batch, pixels) for batch in batches)
        return
    stem = WindowStem(
        network.blocks(_ENDS)[0], truth=truth, composites=composites, changed=changed(truth, composites), starts=starts,
        frames=constants.window_frames, pixels=pixels,
    )  # fmt: skip
    yield from (stem.features(batch) for batch in batches)


def _unshared(
    network: I3d, truth: Frames, composites: Sequence[Frames], constants: Constants, starts: Sequence[int], pixels: Pixels
) -> Features:
    """Every window on its own and wholly: with statistics of its own nothing is shared, and a hole reaches everywhere."""
    windows = [video[start : start + constants.window_frames] for video in (truth, *composites) for start in starts]
    x = torch().stack([pixels.tensor(window) for window in windows])
    box = boxes.whole((constants.window_frames, *truth.shape[1:3]))
    block = network.blocks(_ENDS)[0]
    x = block.run(lambda _: x, (box[0].end, box[1].end, box[2].end), boxes.whole(boxes.output_size(block.reaches, x.shape[2:])))
    frames, height, width = (Span(0, length) for length in x.shape[2:])
    return Features(x[: len(starts)], (frames, height, width), x[len(starts) :])


def _measured(network: I3d, features: Features, methods: int) -> tuple[Tensor, Tensor, Tensor]:
    """``float64[layers, M, N]`` distances, ``float64[M, N, 1024]`` vectors and ``float64[N, 1024]`` of the truth."""
    package = torch()
    nothing = package.zeros((methods, len(features.truth)), dtype=package.float64, device=network.device)
    found = []
    for block in network.blocks(_ENDS)[1:]:
        features = advanced(block, features)
        if block.name in LAYERS:
            found.append(nothing if features.box is None else distances(features))
    return package.stack(found), *vectors(features, methods)
