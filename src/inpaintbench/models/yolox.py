"""Object detection of 80 classes by YOLOX-nano (Ge et al., "YOLOX: Exceeding YOLO Series in 2021").

The network takes one picture of 416x416 pixels in BGR, 0..255: the frame resized to fit, in the upper left corner, the rest grey
of level 114. It returns 85 numbers for each cell of three grids (cells of 8, 16 and 32 pixels, row by row): centre of a box in
cells from the cell's corner, natural logarithms of its width and height in cells, the probability of an object, and that of each
class given an object. A box's score is the product of the two.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.models.network import forward

WEIGHTS = "yolox-nano"
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
    output = forward(WEIGHTS, square.transpose(2, 0, 1)[None])[0].astype(np.float64)
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
