"""Inference of ONNX networks by OpenCV; each is read once per process."""

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
