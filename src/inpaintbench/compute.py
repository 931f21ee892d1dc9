"""What the measurements of one item share: how networks are run, and what was found out once and is asked for again."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.types import content_id
from inpaintbench.workspace import write_atomically

Precision = Literal["fp32", "tf32", "bf16"]
Device = Literal["auto", "cpu", "cuda"]
"""Sums are float64, which Metal (mps) lacks."""
RANDOM_WEIGHTS = "random-weights-"
"""How the mark of scores from made-up parameters begins."""


@dataclass(frozen=True)
class Compute:
    """How networks are run. Of these only ``precision``, ``random_weights`` and ``pose`` can change a number beyond
    rounding."""

    device: Device = "auto"
    """``auto`` takes CUDA where there is any, else the processor."""
    precision: Precision = "fp32"
    """Of convolutions and matrix products; what is summed up is always float32 or float64."""
    random_weights: int | None = None
    """Seed of made-up parameters in the place of trained ones: for tests and benches alone, no report takes such scores."""
    pose: str | None = None
    """The pose estimator for metrics of joints, in the place of the protocol's."""
    pose_identity: str = ""
    """Of that estimator, its version and its file or program."""
    batch_bytes: int | None = None
    """About how much the activations of one batch may take; by default what suits the device."""

    @property
    def mark(self) -> str:
        """What is added to the fingerprint of scores that were not made with the protocol's networks, trained and in float32."""
        marks: list[str] = [] if self.precision == "fp32" else [self.precision]
        marks += [] if self.random_weights is None else [f"{RANDOM_WEIGHTS}{self.random_weights}"]
        marks += [] if self.pose is None else [f"pose-{self.pose_identity}"]
        return "".join(f"+{mark}" for mark in marks)


class Shared:
    """Belongs to one item, and to all views of it.

    Args:
        truth_id: identity of the true frames, as they are measured; without it nothing is stored.
        folder: where arrays about the truth are kept for later runs; None = nowhere.
        compute: how networks are run.
    """

    def __init__(self, *, truth_id: str = "", folder: Path | None = None, compute: Compute | None = None) -> None:
        self.compute = compute or Compute()
        self._truth_id, self._folder = truth_id, folder
        self._found: dict[Hashable, Any] = {}
        self._finding = threading.RLock()  # parts are decoded side by side, and what is made may ask for more

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` gave when it was first asked for under ``key``."""
        with self._finding:
            if key not in self._found:
                self._found[key] = make()
            return self._found[key]

    def stored(self, key: str, make: Callable[[], npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """``once`` for an array that depends on the true frames alone, kept on disk for other methods and later runs.

        Args:
            key: names the network, the hash of its weights and every constant.
            make: gives the array.
        """
        array: npt.NDArray[np.float32] = self.once(("stored", key), lambda: self._stored(key, make))
        return array

    def _stored(self, key: str, make: Callable[[], npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        if self._folder is None or not self._truth_id:
            return make()
        path = self._folder / f"{content_id(self._truth_id, key, self.compute.mark)}.npy"
        try:
            with path.open("rb") as stored:
                kept: npt.NDArray[np.float32] = np.lib.format.read_array(stored, allow_pickle=False)
            if kept.dtype != np.float32 or not np.isfinite(kept).all():
                raise ValueError("not what was stored here")
        except (OSError, ValueError):  # not there, torn by a crash, or changed by somebody
            kept = make()
            file = io.BytesIO()
            np.save(file, kept, allow_pickle=False)
            write_atomically(path, file.getvalue())
        return kept
