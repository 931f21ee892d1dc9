"""Networks in OpenCV's own inference, read once a process."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.models import weights


def forward(name: str, batch: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What the network of the weights ``name`` answers.

    Args:
        name: an entry of ``weights.toml`` whose file is in the ONNX format.
        batch: ``float32[N, C, H, W]``, in the network's own convention.

    Raises:
        NotMeasurable: its weights are missing or damaged.
    """
    network = _network(str(weights.path_of(name)))
    network.setInput(np.ascontiguousarray(batch, np.float32))
    answer: npt.NDArray[np.float32] = np.array(network.forward(), np.float32)  # OpenCV reuses its own array
    return answer


@lru_cache(maxsize=4)
def _network(path: str) -> Any:
    return cv2.dnn.readNetFromONNX(path)
