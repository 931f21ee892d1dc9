"""Shared state of the measurements of one item: settings of networks, and a cache of results in memory and on disk."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import UsageError
from inpaintbench.files import write_atomically
from inpaintbench.storage import locked, make_room
from inpaintbench.types import Frames, content_id

Stored = TypeVar("Stored", bound=npt.NDArray[Any])
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
        folder: of files that all processes of a machine share, such as ``storage.cache_folder()``; None = nothing is stored.
        compute: settings of networks.
    """

    def __init__(self, *, folder: Path | None = None, compute: Compute | None = None) -> None:
        self.compute = compute or Compute()
        self._folder = folder
        self._cache: dict[Hashable, Any] = {}
        self._lock = threading.RLock()  # parts are decoded in parallel, and `make` may itself call `once`

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

    def stored(self, frames: Frames, key: str, make: Callable[[], Stored], *, held: bool = True) -> Stored:
        """Return an array that depends on ``frames`` alone, kept on disk for other items, methods and runs.

        It is made by one process, while others that want it wait; what is damaged is made anew, and what nobody asked for the
        longest goes once the folder has its size.

        Args:
            frames: ``uint8[T, H, W, 3]``, of which every byte counts.
            key: names the network, the hash of its weights and every constant.
            make: computes the array, of finite numbers.
            held: keep it in memory, too, as ``once`` does.
        """
        if held:
            return cast(Stored, self.once_of([frames], ("stored", key), lambda: self.stored(frames, key, make, held=False)))
        if self._folder is None:
            return make()
        name = content_id(self.once_of([frames], ("pixels",), lambda: _pixels_sha256(frames)), key, self.compute.mark)
        path = self._folder / "files" / name[:2] / f"{name[2:]}.npy"
        with suppress(OSError, ValueError):  # not there, torn by a crash, or changed by somebody
            return cast(Stored, read_stored(path))
        # What cannot be kept is measured all the same.
        with ExitStack() as waiting:
            # This item's first, as where it is held in memory: who has the file's may come to want it.
            waiting.enter_context(self._lock)
            # Each has a lock of its own: what is made may ask for others.
            lock = self._folder / "locks" / f"{name}.lock"
            with suppress(OSError):
                waiting.enter_context(locked(lock))
                waiting.push(lambda *_: _gone(lock))
            with suppress(OSError, ValueError):  # made meanwhile
                return cast(Stored, read_stored(path))
            array, content = make(), b""
            with suppress(OSError):
                content = as_stored(array)
                write_atomically(path, content)
        with suppress(OSError, UsageError):  # a size that is none is told where it is asked for
            make_room(self._folder, len(content))
        return array


def _gone(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _pixels_sha256(frames: Frames) -> str:
    found = hashlib.sha256(repr(frames.shape).encode())
    found.update(np.ascontiguousarray(frames).data)
    return found.hexdigest()


def as_stored(array: npt.NDArray[Any]) -> bytes:
    """A file of ``Shared.stored``: that of ``numpy.save``, and the SHA-256 of it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue() + hashlib.sha256(file.getbuffer()).digest()


def read_stored(path: Path) -> npt.NDArray[Any]:
    """The array in a file that ``as_stored`` made, which counts as used now.

    Raises:
        OSError: not there. ValueError: other bytes than were stored.
    """
    stored = memoryview(path.read_bytes())
    content, own = stored[:-_HASH_BYTES], stored[-_HASH_BYTES:]
    if hashlib.sha256(content).digest() != own:
        raise ValueError("it does not end with its own SHA-256")
    array: npt.NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if not np.isfinite(array).all():
        raise ValueError("it is no array that was stored here")
    with suppress(OSError):  # a cache that may only be read
        os.utime(path)
    return array
