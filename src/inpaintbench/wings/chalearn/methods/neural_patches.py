"""Pictures of people by a context encoder, sharpened from coarse to fine by the textures around the hole."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.compute import Device
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.lpips_networks import vgg_19
from inpaintbench.models.torch_networks import on_device, torch
from inpaintbench.ranges import Amount, AtLeastOne, Whole
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod, content
from inpaintbench.wings.chalearn.training.networks import CONTEXT_PIXELS

Cells = npt.NDArray[np.intp]

# As in the released program: sides of patches on the maps of features, and the distance of two of them.
_PATCH, _STRIDE = 3, 2
# Ours: iterations until the nearest patches are looked for again; most pixels of a frame, as the memory grows with them; patches
# that are compared with all others at once.
_KEPT, _MOST_PIXELS, _AT_ONCE = 10, 1 << 20, 512


class NeuralPatches(TrainedMethod):
    """A baseline of ChaLearn's inpainting of people (2018), multi-scale neural patch synthesis (Yang et al., CVPR 2017): what a
    context encoder drew is kept at each scale while patches of VGG-19's features in the hole come nearer to those around it that
    are most like them; from parameters that ``eval train context_encoder`` learnt. Items that it learnt from are refused.

    Layers (relu3_1, relu4_1) and both weights are the paper's; patches of 3x3 cells, two cells apart, scales and iterations those
    of its released program. Ours: the content counts by squared differences of values in -1..1 and smoothness by those of levels
    0..255, since the paper names no unit; the parameters of VGG-19 are torchvision's, with activations brought to the scale of a
    network that sees levels; the fill is pasted without Poisson blending.

    Args:
        checkpoint: the folder that ``eval train context_encoder`` wrote; the beginning of its parameters' SHA-256 is part of the
            version.
        device: "auto", "cpu" or "cuda".
        texture: weight of the patches.
        smoothness: weight of the squared differences of neighbouring pixels.
        scales: most of them; each is half of the next, and the shorter side of none but the last is below 128.
        iterations: of each scale, by L-BFGS-B.

    Raises:
        InputError: no such folder, damaged parameters or those of another network; no parameters of VGG-19.
            MissingExtraError: PyTorch is not installed.
    """

    name = "neural_patches"
    version = "1"
    needs = ("input", "hole")
    network = "context_encoder"
    divisor: Divisor = 8

    def __init__(
        self, *, checkpoint: str, device: Device = "auto", texture: Amount = 5e-6, smoothness: Amount = 5e-6,
        scales: AtLeastOne = 3, iterations: Whole = 100,
    ) -> None:  # fmt: skip
        if min(texture, smoothness) < 0 or min(scales, iterations) < 1:
            raise InputError(
                f"texture is {texture:g}, smoothness {smoothness:g}, scales {scales} and iterations {iterations}: choose weights "
                "of 0 or more, and at least 1 scale and iteration"
            )
        super().__init__(checkpoint=checkpoint, device=device)
        self.texture, self.smoothness, self.scales, self.iterations = texture, smoothness, scales, iterations
        try:
            vgg_19(self._compute)
        except NotMeasurable as error:
            raise InputError(f"{self.name} needs VGG-19: {error}") from error

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; the input stays around the hole.

        Raises:
            NotMeasurable: the network has learnt from this item, or its frames are too large.
        """
        if view.height * view.width > _MOST_PIXELS:
            most = f"neural patches take at most {_MOST_PIXELS:,} pixels a frame"
            raise NotMeasurable(f"{most}, the frames have {view.width}x{view.height}")
        vgg_19(self._compute)  # before anything is inferred: its gradients are wanted
        return super().inpaint(view)

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """What the context encoder drew, textured."""
        features, drawn = vgg_19(self._compute), where_judged(view, content(view, network, device))
        with torch().inference_mode(False), torch().enable_grad():
            for index in np.flatnonzero(view.hole.any(axis=(1, 2))):
                drawn[index] = self._textured(drawn[index], view.hole[index], features, device)
        return drawn

    def _textured(self, drawn: Frames, hole: Hole, features: Any, device: Any) -> Frames:
        """One frame, ``uint8[H, W, 3]``, whose hole held what the content network drew."""
        found = drawn
        for height, width in self._sizes(*hole.shape):
            picture = video.bicubic(drawn[None], height=height, width=width)[0].copy()
            inside = cv2.resize(hole.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA) > 0
            picture[inside] = video.bicubic(found[None], height=height, width=width)[0][inside]
            found = _Scale(picture, inside, features, device, self.texture, self.smoothness).solved(self.iterations)
        return found

    def _sizes(self, height: int, width: int) -> list[tuple[int, int]]:
        """Height and width of each scale, coarsest first; all but the last are multiples of 8."""
        halvings = [step for step in range(1, self.scales) if min(height, width) >> step >= CONTEXT_PIXELS]
        return [
            *((8 * round(height / 8 / 2**step), 8 * round(width / 8 / 2**step)) for step in reversed(halvings)),
            (height, width),
        ]


class _Patches(NamedTuple):
    """Patches of a map, as the places of their nine cells in it."""

    missing: Cells
    """``intp[P, 9]``: those with a cell that sees the hole."""
    known: Cells
    """``intp[Q, 9]``: those without."""


class _Scale:
    """The search for the pixels of one hole at one scale.

    Args:
        picture: ``uint8[H, W, 3]``, the hole as it is at the beginning: the content that is to be kept.
        hole: ``bool[H, W]``, with at least one pixel.
        features: the network whose patches are compared.
        device: of the network.
        texture: weight of the patches.
        smoothness: weight of the squared differences of neighbouring pixels.
    """

    def __init__(self, picture: Frames, hole: Hole, features: Any, device: Any, texture: float, smoothness: float) -> None:
        self._features, self._device, self._texture, self._smoothness = features, device, texture, smoothness
        self._picture, self._hole = picture, hole
        self._content = picture[hole].astype(np.float64).ravel() / 127.5 - 1
        self._places = on_device(np.flatnonzero(hole), device)
        self._levels = on_device(picture.astype(np.float32).transpose(2, 0, 1), device)
        self._reference = on_device(self._content.astype(np.float32).reshape(-1, 3), device)
        beside, below = hole[:, 1:] | hole[:, :-1], hole[1:] | hole[:-1]
        self._pairs = [on_device(pairs.astype(np.float32), device) for pairs in (beside, below)]
        self._grids = [patches_of(hole, stride) for stride in features.strides]

    def solved(self, iterations: int) -> Frames:
        """``uint8[H, W, 3]``: the picture with other pixels in the hole."""
        from scipy.optimize import minimize  # takes a second to import, which no other method should wait for

        values = self._content
        for begin in range(0, iterations, _KEPT):
            targets = self.nearest(values)
            few = {"maxiter": min(_KEPT, iterations - begin)}
            bounds = [(-1, 1)] * len(values)
            values = minimize(self.loss, values, args=(targets,), jac=True, method="L-BFGS-B", bounds=bounds, options=few).x
        picture = self._picture.copy()
        picture[self._hole] = np.rint(127.5 * (values.reshape(-1, 3) + 1)).astype(np.uint8)
        return picture

    def loss(self, values: npt.NDArray[np.float64], targets: list[Any]) -> tuple[float, npt.NDArray[np.float64]]:
        """What is made small, and its gradient.

        Args:
            values: ``float64[3 N]`` in -1..1, of the pixels of the hole.
            targets: what ``nearest`` gave.
        """
        package = torch()
        pixels = self._pixels(values).requires_grad_(True)
        canvas = self._canvas(pixels)
        lost = (pixels - self._reference).square().sum()
        for found, grid, target in zip(self._features(canvas), self._grids, targets, strict=True):
            if target is not None:
                lost = lost + self._texture * (_cut(found, grid.missing) - target).square().sum() / len(target)
        across, down = canvas[0, :, :, 1:] - canvas[0, :, :, :-1], canvas[0, :, 1:] - canvas[0, :, :-1]
        for steps, at_hole in zip((across, down), self._pairs, strict=True):
            lost = lost + self._smoothness * (steps.square() * at_hole).sum()
        (gradient,) = package.autograd.grad(lost, pixels)
        return float(lost.detach()), gradient.cpu().numpy().astype(np.float64).ravel()

    def nearest(self, values: npt.NDArray[np.float64]) -> list[Any]:
        """For each layer the known patch that is nearest to each missing one, ``float32[P, 9 C]``; None where the map has no such
        patches."""
        with torch().no_grad():
            maps = self._features(self._canvas(self._pixels(values)))
            nearest: list[Any] = []
            for found, grid in zip(maps, self._grids, strict=True):
                if not (len(grid.missing) and len(grid.known)):
                    nearest.append(None)
                    continue
                known, missing = _cut(found, grid.known), _cut(found, grid.missing)
                lengths = known.square().sum(dim=1)
                chosen = [(lengths - 2 * part @ known.T).argmin(dim=1) for part in missing.split(_AT_ONCE)]
                nearest.append(known[torch().cat(chosen)])
            return nearest

    def _pixels(self, values: npt.NDArray[np.float64]) -> Any:
        return on_device(values.astype(np.float32).reshape(-1, 3), self._device)

    def _canvas(self, pixels: Any) -> Any:
        """``float32[1, 3, H, W]`` in 0..255: the picture with the pixels, ``float32[N, 3]`` in -1..1, in its hole."""
        flat = self._levels.reshape(3, -1).index_copy(1, self._places, 127.5 * (pixels.T + 1))
        return flat.reshape(1, *self._levels.shape)


def patches_of(hole: Hole, stride: int) -> _Patches:
    """The patches on a map of a picture with that hole.

    Args:
        hole: ``bool[H, W]``.
        stride: pixels to one cell of the map; rows and columns that fill no cell are not on it.
    """
    rows, columns = hole.shape[0] // stride, hole.shape[1] // stride
    cells = hole[: rows * stride, : columns * stride].reshape(rows, stride, columns, stride).any(axis=(1, 3))
    tops, lefts = (np.unique([*range(0, count - _PATCH + 1, _STRIDE), count - _PATCH]) for count in (rows, columns))
    corners = (tops[:, None] * columns + lefts).ravel()
    inner = (np.arange(_PATCH)[:, None] * columns + np.arange(_PATCH)).ravel()
    fits = min(rows, columns) >= _PATCH
    places = corners[:, None] + inner if fits else np.empty((0, _PATCH**2), np.intp)
    missing = cells.ravel()[places].any(axis=1)
    return _Patches(places[missing], places[~missing])


def _cut(found: Any, places: Cells) -> Any:
    """Patches of a map ``[1, C, h, w]``, ``float32[P, 9 C]``."""
    index = on_device(places.ravel(), found.device)
    cells = found[0].flatten(1).index_select(1, index)
    return cells.reshape(len(cells), *places.shape).permute(1, 0, 2).flatten(1)
