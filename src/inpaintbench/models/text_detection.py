"""Text detection: lines of text as rotated boxes, by the detector of PP-OCRv3 (Li et al. 2022).

The network takes a normalised picture in BGR whose sides are multiples of 32, and returns the probability that each pixel belongs
to the *kernel* of a line, its box shrunk on all sides. A kernel of area A and perimeter L is expanded by A r / L with r = 1.5
(Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", AAAI 2020).
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.models.network import forward

WEIGHTS = "ppocr-v3-text-detection"
# Sides of the input are multiples of so many pixels.
MULTIPLE = 32
# Normalisation of the channels in 0..1, in the order of the input (BGR, with the statistics that ImageNet has for RGB).
MEANS = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATIONS = np.array([0.229, 0.224, 0.225], np.float32)
KERNEL_THRESHOLD = 0.3
GROWTH = 1.5
# Input pixels; smaller kernels are specks. This constant and those above are the published detector's.
LEAST_KERNEL_SIDE = 3.0


def text_boxes(
    frame: npt.NDArray[np.uint8], *, longer_side: int, score_threshold: float
) -> list[tuple[npt.NDArray[np.float64], float]]:
    """Detect lines of text.

    Args:
        frame: ``uint8[H, W, 3]`` RGB.
        longer_side: to which larger frames are downscaled, pixels; text under about 10 rows at that size is missed.
        score_threshold: least mean probability over a kernel, 0..1.

    Returns:
        For each line the corners of its box, ``float64[4, 2]`` as (x, y) in pixels of the frame, in order around the box, and
        its score.

    Raises:
        NotMeasurable: the weights are missing or damaged.
    """
    height, width = frame.shape[:2]
    scale = min(1.0, longer_side / max(height, width))
    size = _rounded(width * scale), _rounded(height * scale)
    probabilities = _kernel_probabilities(frame, size)
    enlargement = np.array([width / size[0], height / size[1]])
    count, labels = cv2.connectedComponents((probabilities > KERNEL_THRESHOLD).astype(np.uint8), connectivity=8)
    boxes = []
    for label in range(1, count):
        kernel = labels == label
        score = float(probabilities[kernel].mean())
        corners = _expanded(kernel)
        if corners is not None and score >= score_threshold:
            boxes.append((corners * enlargement, score))
    return boxes


def _rounded(side: float) -> int:
    return max(MULTIPLE, round(side / MULTIPLE) * MULTIPLE)


def _kernel_probabilities(frame: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Probability that a pixel of the frame at ``size`` (width, height) is of a kernel, ``float32[height, width]``."""
    shrinks = size[0] <= frame.shape[1] and size[1] <= frame.shape[0]
    scaled = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    batch: npt.NDArray[np.float32] = (scaled[..., ::-1].astype(np.float32) / np.float32(255) - MEANS) / DEVIATIONS
    return forward(WEIGHTS, batch.transpose(2, 0, 1)[None]).reshape(size[1], size[0])


def _expanded(kernel: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64] | None:
    """Corners of the box that the kernel was shrunk from, ``float64[4, 2]``, input pixels; None for a speck."""
    places = np.argwhere(kernel)[:, ::-1].astype(np.float32)
    centre, (width, height), angle = cv2.minAreaRect(places)
    width, height = width + 1, height + 1  # from the centres of the outermost pixels to their edges
    if min(width, height) < LEAST_KERNEL_SIDE:
        return None
    reach = GROWTH * width * height / (2 * (width + height))
    return np.asarray(cv2.boxPoints((centre, (width + 2 * reach, height + 2 * reach), angle)), np.float64) + 0.5
