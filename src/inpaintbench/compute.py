"""Shared state of the measurements of one item: settings of networks, and a cache of results in memory and on disk."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.files import write_atomically
from inpaintbench.types import content_id

Precision = Literal["fp32", "tf32", "bf16"]
# Sums are float64, which Metal (mps) lacks.
Device = Literal["auto", "cpu", "cuda"]
# Of the SHA-256 that ends an array on disk.
_HASH_BYTES = 32
# Prefix of the mark of scores from made-up parameters.
RANDOM_WEIGHTS = "random-weights-"


@dataclass(frozen=True)
class Compute:
    """Settings of networks. Only ``precision``, ``random_weights`` and ``pose`` can change a number beyond rounding."""

    device: Device = "auto"
    """``auto`` is CUDA where there is a device, else the CPU."""
    precision: Precision = "fp32"
    """Number format of convolutions and matrix products; sums are always float32 or float64."""
    random_weights: int | None = None
    """Seed of random parameters in place of the trained ones; for tests and benches, no report takes such scores."""
    pose: str | None = None
    """Name of a pose estimator in place of the protocol's."""
    pose_identity: str = ""
    """Version of that pose estimator, with its file or program."""
    batch_bytes: int | None = None
    """Approximate memory for the activations of one batch; None = a default for the device."""
    few_shapes: bool | None = None
    """Grow parts of frames that are computed to a few sizes, which a card plans once each; None = with a card alone."""

    @property
    def mark(self) -> str:
        """Suffix of the fingerprint of scores that do not come from the protocol's trained networks in float32; else empty."""
        marks: list[str] = [] if self.precision == "fp32" else [self.precision]
        marks += [] if self.random_weights is None else [f"{RANDOM_WEIGHTS}{self.random_weights}"]
        marks += [] if self.pose is None else [f"pose-{self.pose_identity}"]
        return "".join(f"+{mark}" for mark in marks)


class Shared:
    """Cache of one item, used by all views of it; safe for threads.

    Args:
        truth_id: identity of the ground-truth frames as measured; empty = nothing is stored on disk.
        folder: of the arrays kept on disk; None = none are.
        compute: settings of networks.
    """

    def __init__(self, *, truth_id: str = "", folder: Path | None = None, compute: Compute | None = None) -> None:
        self.compute = compute or Compute()
        self._truth_id, self._folder = truth_id, folder
        self._cache: dict[Hashable, Any] = {}
        self._lock = threading.RLock()  # parts are decoded in parallel, and `make` may itself call `once`

    @property
    def identity(self) -> str:
        """Identity of the true frames as measured, which other items of their clip share; empty where they have none."""
        return "" if self._folder is None else self._truth_id

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the cached value of ``key``; the first call computes it with ``make``."""
        with self._lock:
            if key not in self._cache:
                self._cache[key] = make()
            return self._cache[key]

    def once_of(self, arrays: Sequence[npt.NDArray[Any]], key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        """Return ``once`` of something made from these very arrays.

        They are kept beside it, so that no other array can get their identity meanwhile.
        """
        own = (*key, *map(id, arrays))
        with self._lock:
            if own not in self._cache:
                self._cache[own] = arrays, make()
            return self._cache[own][1]

    def stored(self, key: str, make: Callable[[], npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """``once`` for an array that depends on the true frames alone, kept on disk for other methods and later runs.

        Args:
            key: names the network, the hash of its weights and every constant.
            make: computes the array, finite ``float32``.
        """

        def read_or_make() -> npt.NDArray[np.float32]:
            if self._folder is None or not self._truth_id:
                return make()
            path = self._folder / f"{content_id(self._truth_id, key, self.compute.mark)}.npy"
            try:
                array = read_stored(path)
            except (OSError, ValueError):  # not there, torn by a crash, or changed by somebody
                array = make()
                write_atomically(path, as_stored(array))
            return array

        array: npt.NDArray[np.float32] = self.once(("stored", key), read_or_make)
        return array


def as_stored(array: npt.NDArray[np.float32]) -> bytes:
    """A file of ``Shared.stored``: that of ``numpy.save``, and the SHA-256 of it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue() + hashlib.sha256(file.getvalue()).digest()


def read_stored(path: Path) -> npt.NDArray[np.float32]:
    """The array in a file that ``as_stored`` made.

    Raises:
        OSError: not there. ValueError: other bytes than were stored.
    """
    stored = path.read_bytes()
    content, own = stored[:-_HASH_BYTES], stored[-_HASH_BYTES:]
    if hashlib.sha256(content).digest() != own:
        raise ValueError("it does not end with its own SHA-256")
    array: npt.NDArray[np.float32] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if array.dtype != np.float32 or not np.isfinite(array).all():
        raise ValueError("it is no array that was stored here")
    return array
