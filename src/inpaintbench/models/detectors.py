"""Detectors that OpenCV runs: lines of text, and objects of 80 classes. Each ONNX network is read once per process.

Lines of text are rotated boxes, by the detector of PP-OCRv3 (Li et al. 2022). The network takes a normalised picture in BGR
whose sides are multiples of 32, and returns the probability that each pixel belongs to the *kernel* of a line, its box shrunk
on all sides. A kernel of area A and perimeter L is expanded by A r / L with r = 1.5 (Liao et al., "Real-time Scene Text
Detection with Differentiable Binarization", AAAI 2020).

Objects are found by YOLOX-nano (Ge et al., "YOLOX: Exceeding YOLO Series in 2021"). The network takes one picture of 416x416
pixels in BGR, 0..255: the frame resized to fit, in the upper left corner, the rest grey of level 114. It returns 85 numbers for
each cell of three grids (cells of 8, 16 and 32 pixels, row by row): centre of a box in cells from the cell's corner, natural
logarithms of its width and height in cells, the probability of an object, and that of each class given an object. A box's score
is the product of the two.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.models import weights


def forward(name: str, batch: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Output of the network of the weights ``name``, ``float32`` of the network's shape.

    Args:
        name: an entry of ``weights.toml`` whose file is in the ONNX format.
        batch: ``float32[N, C, H, W]``, normalised as the network expects.

    Raises:
        NotMeasurable: the weights are missing or damaged.
    """
    network = _network(str(weights.path_of(name)))
    network.setInput(np.ascontiguousarray(batch, np.float32))
    output: npt.NDArray[np.float32] = np.array(network.forward(), np.float32)  # a copy, since OpenCV reuses its array
    return output


@lru_cache(maxsize=4)
def _network(path: str) -> Any:
    return cv2.dnn.readNetFromONNX(path)


TEXT_WEIGHTS = "ppocr-v3-text-detection"
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
    # Probability that a pixel of the frame at `size` (width, height) is of a kernel, `float32[height, width]`.
    shrinks = size[0] <= frame.shape[1] and size[1] <= frame.shape[0]
    scaled = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    batch: npt.NDArray[np.float32] = (scaled[..., ::-1].astype(np.float32) / np.float32(255) - MEANS) / DEVIATIONS
    probabilities = forward(TEXT_WEIGHTS, batch.transpose(2, 0, 1)[None]).reshape(size[1], size[0])
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


def _expanded(kernel: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64] | None:
    """Corners of the box that the kernel was shrunk from, ``float64[4, 2]``, input pixels; None for a speck."""
    places = np.argwhere(kernel)[:, ::-1].astype(np.float32)
    centre, (width, height), angle = cv2.minAreaRect(places)
    width, height = width + 1, height + 1  # from the centres of the outermost pixels to their edges
    if min(width, height) < LEAST_KERNEL_SIDE:
        return None
    reach = GROWTH * width * height / (2 * (width + height))
    return np.asarray(cv2.boxPoints((centre, (width + 2 * reach, height + 2 * reach), angle)), np.float64) + 0.5


OBJECT_WEIGHTS = "yolox-nano"
# Input size, grids and grey level of the published network.
SIDE = 416
STRIDES = (8, 16, 32)
PADDING = 114.0
# Classes of COCO, in the order of the network's output.
KINDS = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light", "fire hydrant",
    "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe",
    "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat",
    "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl",
    "banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave",
    "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip


def object_boxes(
    frame: npt.NDArray[np.uint8], *, score_threshold: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Detect objects with a score above the threshold; overlapping boxes are not merged.

    Args:
        frame: ``uint8[H, W, 3]`` RGB.
        score_threshold: 0..1.

    Returns:
        Boxes ``float64[n, 4]`` as left, top, right, bottom in pixels (edges of pixels, not centres; they may exceed the frame),
        and the class of each as an index into ``KINDS``, ``int64[n]``.

    Raises:
        NotMeasurable: the weights are missing or damaged.
    """
    scale = min(SIDE / frame.shape[0], SIDE / frame.shape[1])
    size = (max(1, round(frame.shape[1] * scale)), max(1, round(frame.shape[0] * scale)))
    scaled = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.full((SIDE, SIDE, 3), PADDING, np.float32)
    square[: size[1], : size[0]] = scaled[..., ::-1]
    output = forward(OBJECT_WEIGHTS, square.transpose(2, 0, 1)[None])[0].astype(np.float64)
    corners, strides = _cells()
    scores = output[:, 4:5] * output[:, 5:]
    kinds = scores.argmax(axis=1)
    detected = scores.max(axis=1) > score_threshold
    centres = (output[detected, :2] + corners[detected]) * strides[detected] / scale
    halves = np.exp(output[detected, 2:4]) * strides[detected] / scale / 2
    return np.hstack([centres - halves, centres + halves]), kinds[detected]


@lru_cache(maxsize=1)
def _cells() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Upper left corner (x, y) of every cell in units of cells, ``[n, 2]``, and its side in pixels, ``[n, 1]``."""
    corners, strides = [], []
    for stride in STRIDES:
        rows, columns = np.mgrid[0 : SIDE // stride, 0 : SIDE // stride]
        corners.append(np.stack([columns.ravel(), rows.ravel()], axis=1).astype(np.float64))
        strides.append(np.full((rows.size, 1), float(stride)))
    return np.concatenate(corners), np.concatenate(strides)
