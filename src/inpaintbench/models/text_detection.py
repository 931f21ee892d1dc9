"""Lines of text as rotated boxes, by the detector of PP-OCRv3 (Li et al. 2022), a network of differentiable binarisation.

The network takes a picture in BGR whose sides are multiples of 32, each channel less its mean over its deviation, and answers
how likely every pixel belongs to the *kernel* of a line, its box shrunk on all sides. A kernel of area A and perimeter L grows
back by A r / L with r = 1.5 (Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", AAAI 2020).
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.models.network import forward

WEIGHTS = "ppocr-v3-text-detection"
MULTIPLE = 32
MEANS = np.array([0.485, 0.456, 0.406], np.float32)
# Of the channels in the order they go in, over 0..1.
DEVIATIONS = np.array([0.229, 0.224, 0.225], np.float32)
KERNEL_THRESHOLD = 0.3
GROWTH = 1.5
# Pixels of the picture that goes in; smaller kernels are specks. This one and those above are the published detector's.
LEAST_KERNEL_SIDE = 3.0


def text_boxes(
    frame: npt.NDArray[np.uint8], *, longer_side: int, score_threshold: float
) -> list[tuple[npt.NDArray[np.float64], float]]:
    """Lines of text with their scores.

    Args:
        frame: ``uint8[H, W, 3]`` RGB.
        longer_side: the frame goes in at this size, or its own when that is smaller; text under about 10 rows there is missed.
        score_threshold: the least mean probability over a kernel, 0..1.

    Returns:
        For each line the corners of its box ``float64[4, 2]`` as (x, y) in pixels of the frame, in order round the box, and
        its score.

    Raises:
        NotMeasurable: the weights are missing or damaged.
    """
    height, width = frame.shape[:2]
    scale = min(1.0, longer_side / max(height, width))
    size = (_rounded(width * scale), _rounded(height * scale))
    likely = _kernels(frame, size)
    enlarging = np.array([width / size[0], height / size[1]])
    count, labels = cv2.connectedComponents((likely > KERNEL_THRESHOLD).astype(np.uint8), connectivity=8)
    found = []
    for label in range(1, count):
        kernel = labels == label
        score = float(likely[kernel].mean())
        corners = _grown(kernel)
        if corners is not None and score >= score_threshold:
            found.append((corners * enlarging, score))
    return found


def _rounded(side: float) -> int:
    return max(MULTIPLE, round(side / MULTIPLE) * MULTIPLE)


def _kernels(frame: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """How likely each pixel of the frame at ``size`` (width, height) belongs to a kernel, ``float32[height, width]``."""
    shrinks = size[0] <= frame.shape[1] and size[1] <= frame.shape[0]
    scaled = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    batch: npt.NDArray[np.float32] = (scaled[..., ::-1].astype(np.float32) / np.float32(255) - MEANS) / DEVIATIONS
    return forward(WEIGHTS, batch.transpose(2, 0, 1)[None]).reshape(size[1], size[0])


def _grown(kernel: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64] | None:
    """Corners of the box that the kernel was shrunk from; None for a speck."""
    places = np.argwhere(kernel)[:, ::-1].astype(np.float32)
    centre, (width, height), angle = cv2.minAreaRect(places)
    width, height = width + 1, height + 1  # from the centres of the outermost pixels to their edges
    if min(width, height) < LEAST_KERNEL_SIDE:
        return None
    reach = GROWTH * width * height / (2 * (width + height))
    return np.asarray(cv2.boxPoints((centre, (width + 2 * reach, height + 2 * reach), angle)), np.float64) + 0.5
