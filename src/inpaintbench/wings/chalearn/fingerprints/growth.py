"""Ridge growth from scattered points: six passes of a filter whose kernel varies from pixel to pixel.

Sums are of integers and exact, so that the three backends give the same bits: ``numpy`` is the reference, ``numba`` the fast one
for a CPU, ``torch`` the one for many prints at once on a GPU. Minutiae arise where growing ridges meet.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MissingExtraError
from inpaintbench.wings.chalearn.fingerprints.gabor import Bank

__all__ = ["PASSES", "Backend", "grow", "grow_many", "select_backend"]

Backend = Literal["auto", "numpy", "numba", "torch"]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]

PASSES = 6
# Passes that filter only near the points; later ones filter everything.
_SPREADING_PASSES = 3
# Memory for the kernels that torch gathers at once.
_CHUNK_BYTES = 1 << 28


def grow(kernel_numbers: IntArray, points: BoolArray, bank: Bank, *, backend: Backend = "auto") -> BoolArray:
    """Grow ridges from ``points``, ``bool[H, W]``, True = ridge; none nearer to the edge than half a kernel.

    ``kernel_numbers``: ``int32[H, W]``, indices into the bank; ``points``: ``bool[H, W]``. In each pass a pixel's response is the
    sum of its kernel over the ridges around it; pixels above 55 % of the range of responses become ridge.

    Raises:
        InputError: unknown backend.
        MissingExtraError: the backend's package is not installed.
    """
    selected = select_backend(backend)
    if selected == "torch":
        (ridges,) = grow_many(kernel_numbers[None], points[None], bank, device="cpu")
        return np.asarray(ridges, np.bool_)
    respond = _compiled_responses() if selected == "numba" else _responses
    ridges = points
    for active in _active(points, bank.border):
        ridges = _ridges(respond(ridges, kernel_numbers, active, bank), active)
    return ridges


def select_backend(backend: Backend) -> Literal["numpy", "numba", "torch"]:
    """Resolve ``auto``: numba where it is installed, else numpy; errors as ``grow``."""
    if backend not in get_args(Backend):
        raise InputError(f"there is no growth backend {backend!r}: choose one of {', '.join(get_args(Backend))}")
    if backend == "auto":
        return "numba" if _installed("numba") else "numpy"
    if backend == "numba" and not _installed("numba"):
        raise MissingExtraError("growing fingerprints with numba", "masks")
    return backend


@lru_cache
def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _active(points: BoolArray, border: int) -> list[BoolArray]:
    """Masks of the pixels that each pass filters: growing surroundings of the points, then everything within the borders."""
    height, width = points.shape
    inside = np.zeros((height, width), np.bool_)
    inside[border : height - border, border : width - border] = True
    box = np.ones((2 * border + 1, 2 * border + 1), np.uint8)
    near, passes = points, []
    for _ in range(_SPREADING_PASSES):
        wider = cv2.dilate(near.view(np.uint8), box, borderType=cv2.BORDER_CONSTANT, borderValue=(0.0,))
        near = np.asarray(wider, np.bool_)
        passes.append(near & inside)
    return passes + [inside] * (PASSES - _SPREADING_PASSES)


def _ridges(responses: IntArray, active: BoolArray) -> BoolArray:
    """Mask of active pixels above 55 % of the range of their responses."""
    values = responses[active]
    if values.size == 0:
        return active
    low, high = int(values.min()), int(values.max())
    # 11 / 20 = 55 %, in integers.
    return active & (20 * (responses - low) > 11 * (high - low))


def _responses(ridges: BoolArray, kernel_numbers: IntArray, active: BoolArray, bank: Bank) -> IntArray:
    """Sum of each active pixel's kernel over the ridges in its window, ``int32[H, W]``; 0 elsewhere."""
    responses = np.zeros(ridges.shape, np.int32)
    kernels, border = bank.kernels[:, :, : bank.size], bank.border
    windows = np.lib.stride_tricks.sliding_window_view(ridges, (bank.size, bank.size))
    for row in np.flatnonzero(active.any(axis=1)):
        columns = np.flatnonzero(active[row])
        selected = kernels[kernel_numbers[row, columns]].astype(np.int32)
        responses[row, columns] = np.einsum("pyx,pyx->p", selected, windows[row - border, columns - border])
    return responses


@lru_cache
def _compiled_responses() -> Callable[[BoolArray, IntArray, BoolArray, Bank], IntArray]:
    """Compile ``_responses`` by numba."""
    njit = importlib.import_module("numba").njit
    try:
        columns = njit(cache=True)(_columns)
    except RuntimeError:  # numba has no folder to cache compiled code in
        columns = njit(_columns)

    def respond(ridges: BoolArray, kernel_numbers: IntArray, active: BoolArray, bank: Bank) -> IntArray:
        padded = bank.kernels.shape[2]
        wide = np.zeros((ridges.shape[0], ridges.shape[1] + padded), np.int16)
        wide[:, : ridges.shape[1]] = ridges
        responses = np.zeros(ridges.shape, np.int32)
        columns(wide, kernel_numbers, active, bank.kernels.reshape(len(bank.kernels), -1), bank.border, padded, responses)
        return responses

    return respond


def _columns(
    wide: npt.NDArray[np.int16],
    kernel_numbers: IntArray,
    active: BoolArray,
    kernels: npt.NDArray[np.int8],
    border: int,
    padded: int,
    responses: IntArray,
) -> None:
    """Fill ``responses`` column by column.

    The strip of rows under the windows of one column is copied, so that each window is contiguous like its kernel and their
    product is a single loop, which compilers vectorise.
    """
    height, width = responses.shape
    strip = np.zeros(height * padded, np.int16)
    length = kernels.shape[1]
    for x in range(border, width - border):
        for y in range(height):
            for i in range(padded):
                strip[y * padded + i] = wide[y, x - border + i]
        for y in range(border, height - border):
            if active[y, x]:
                kernel = kernels[kernel_numbers[y, x]]
                window = strip[(y - border) * padded : (y - border) * padded + length]
                total = np.int32(0)
                for i in range(length):
                    total = np.int32(total + np.int32(kernel[i]) * np.int32(window[i]))
                responses[y, x] = total


def grow_many(kernel_numbers: IntArray, points: BoolArray, bank: Bank, *, device: str) -> BoolArray:
    """Grow ridges on many canvases of one size through torch: ``int32[N, H, W]`` and ``bool[N, H, W]`` to ``bool[N, H, W]``.

    Raises:
        MissingExtraError: torch is not installed.
        InputError: this machine has no such device.
    """
    torch = _torch(device)
    height, width = points.shape[1:]
    border, size = bank.border, bank.size
    kernels = torch.from_numpy(np.ascontiguousarray(bank.kernels[:, :, :size], np.float32)).to(device).reshape(-1, size * size)
    numbers = torch.from_numpy(kernel_numbers[:, border : height - border, border : width - border].astype(np.int64)).to(device)
    active = np.stack([np.stack(_active(canvas, border)) for canvas in points], axis=1)
    active = torch.from_numpy(active[:, :, border : height - border, border : width - border]).to(device)
    ridges = torch.from_numpy(points).to(device)
    for number in range(PASSES):
        responses = _batch_responses(torch, ridges, numbers, kernels, size)
        ridges = torch.zeros_like(ridges)
        ridges[:, border : height - border, border : width - border] = _batch_ridges(torch, responses, active[number])
    grown: BoolArray = ridges.cpu().numpy()
    return grown


def _torch(device: str) -> Any:
    if not _installed("torch"):
        raise MissingExtraError("growing fingerprints on a GPU", "eval")
    torch = importlib.import_module("torch")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"this machine has no GPU that torch can use, so {device!r} cannot be had: choose cpu")
    return torch


def _batch_responses(torch: Any, ridges: Any, numbers: Any, kernels: Any, size: int) -> Any:
    """Responses as integers in ``float32[N, H - size + 1, W - size + 1]``; sums stay below 2^24, hence are exact in any order."""
    windows = ridges.to(torch.float32).unfold(1, size, 1).unfold(2, size, 1)
    responses = torch.empty(numbers.shape, dtype=torch.float32, device=ridges.device)
    rows = max(1, _CHUNK_BYTES // (4 * size * size * numbers.shape[2]))
    for canvas in range(len(numbers)):
        for top in range(0, numbers.shape[1], rows):
            selected = kernels[numbers[canvas, top : top + rows]]
            window = windows[canvas, top : top + rows].reshape(selected.shape)
            responses[canvas, top : top + rows] = selected.mul_(window).sum(dim=-1)
    return responses


def _batch_ridges(torch: Any, responses: Any, active: Any) -> Any:
    """Masks as of ``_ridges``; in 64-bit integers, so that no device rounds."""
    responses = responses.to(torch.int64)
    most = torch.iinfo(torch.int64).max
    low = torch.where(active, responses, most).amin(dim=(1, 2), keepdim=True)
    high = torch.where(active, responses, -most).amax(dim=(1, 2), keepdim=True)
    empty = ~active.any(dim=2).any(dim=1)
    low[empty], high[empty] = 0, 0
    return active & (20 * (responses - low) > 11 * (high - low))
