"""Clips whose camera is known exactly: photographs that scikit-image carries, seen through a moving window."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data

from inpaintbench.types import Frames, Luma

Matrices = npt.NDArray[np.float64]

PHOTOGRAPHS: dict[str, Callable[[], npt.NDArray[np.uint8]]] = {
    "coffee": data.coffee,
    "rocket": data.rocket,
    "chelsea": data.chelsea,
    "astronaut": data.astronaut,
    "motorcycle": lambda: data.stereo_motorcycle()[0],
    "retina": data.retina,
    "hubble": data.hubble_deep_field,
}


def photograph(name: str, *, width: int, height: int) -> npt.NDArray[np.uint8]:
    """One of ``PHOTOGRAPHS``, scaled to cover ``width`` x ``height`` and cropped around its centre."""
    pixels = PHOTOGRAPHS[name]()
    scale = max(width / pixels.shape[1], height / pixels.shape[0])
    size = (max(width, round(pixels.shape[1] * scale)), max(height, round(pixels.shape[0] * scale)))
    scaled = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    return np.ascontiguousarray(scaled[top : top + height, left : left + width])


def camera_path(
    *,
    frames: int,
    width: int,
    height: int,
    pan: npt.ArrayLike = (0.0, 0.0),
    zoom: npt.ArrayLike = 1.0,
    turn_radians: npt.ArrayLike = 0.0,
) -> Matrices:
    """Matrices ``float64[T, 3, 3]`` from the pixels of frame t to the pixels of an unmoved view.

    ``pan`` (x, y in pixels), ``zoom`` (above 1 = closer) and ``turn_radians`` hold for all frames or have one entry a frame.
    """
    shift = np.broadcast_to(np.asarray(pan, np.float64), (frames, 2))
    scale = 1 / np.broadcast_to(np.asarray(zoom, np.float64), frames)
    angle = np.broadcast_to(np.asarray(turn_radians, np.float64), frames)
    cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    matrices = np.tile(np.eye(3), (frames, 1, 1))
    matrices[:, :2, :2] = np.moveaxis(np.array([[cosine, -sine], [sine, cosine]]), 2, 0)
    matrices[:, :2, 2] = centre + shift - matrices[:, :2, :2] @ centre
    return matrices


def film(
    pixels: npt.NDArray[np.uint8], path: Matrices, *, width: int, height: int, noise_sigma: float = 0.0, seed: int = 0
) -> Frames:
    """What the camera of ``path`` sees, ``uint8[T, height, width, 3]``; an unmoved view is centred on ``pixels``."""
    offset = np.eye(3)
    offset[:2, 2] = [(pixels.shape[1] - width) / 2, (pixels.shape[0] - height) / 2]
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    views = [
        cv2.warpAffine(pixels, (offset @ matrix)[:2], (width, height), flags=flags, borderMode=cv2.BORDER_REFLECT_101)
        for matrix in path
    ]
    return sensor_noise(np.stack(views), sigma=noise_sigma, seed=seed)


def pan_clip(
    name: str,
    *,
    pixels_per_frame: float,
    frames: int,
    width: int,
    height: int,
    noise_sigma: float = 2.0,
    seed: int = 0,
) -> Frames:
    """The photograph ``name`` under a camera that moves right, ``uint8[T, height, width, 3]``; a pan of 0 is a tripod."""
    reach = int(np.ceil(abs(pixels_per_frame) * frames))
    pixels = photograph(name, width=width + reach, height=height)
    shift = np.zeros((frames, 2))
    shift[:, 0] = pixels_per_frame * (np.arange(frames) - (frames - 1) / 2)
    path = camera_path(frames=frames, width=width, height=height, pan=shift)
    return film(pixels, path, width=width, height=height, noise_sigma=noise_sigma, seed=seed)


def moving_texture(frames: Frames, *, share: float, seed: int) -> Frames:
    """``frames`` with their lowest ``share`` of rows replaced by rippling water that moves by itself."""
    count, height, width = frames.shape[:3]
    first_row = height - round(share * height)
    rng = np.random.default_rng(seed)
    layers = [_tileable_noise(rng, size=512, ripple=ripple) for ripple in (3.0, 6.0, 12.0)]
    speeds = rng.uniform(-3, 3, size=(len(layers), 2))
    rows, columns = np.mgrid[0 : height - first_row, 0:width]
    flooded = frames.copy()
    for index in range(count):
        waves = [
            layer[(rows + int(index * down)) % 512, (columns + int(index * right)) % 512]
            for layer, (down, right) in zip(layers, speeds, strict=True)
        ]
        grey = np.clip(110 + 45 * np.sum(waves, axis=0), 0, 255).astype(np.uint8)
        flooded[index, first_row:] = grey[..., None]
    return flooded


def _tileable_noise(rng: np.random.Generator, *, size: int, ripple: float) -> npt.NDArray[np.float64]:
    grains = np.tile(rng.standard_normal((size, size)), (3, 3))
    smooth = cv2.GaussianBlur(grains, (0, 0), sigmaX=2 * ripple, sigmaY=ripple)[size : 2 * size, size : 2 * size]
    return (smooth - smooth.mean()) / smooth.std()


def sensor_noise(frames: npt.NDArray[np.uint8], *, sigma: float, seed: int) -> npt.NDArray[np.uint8]:
    """``frames`` with independent Gaussian noise of ``sigma`` levels."""
    if not sigma:
        return frames
    rng = np.random.default_rng(seed)
    noisy = np.empty_like(frames)
    for index, frame in enumerate(frames):
        noise = rng.standard_normal(frame.shape, dtype=np.float32)
        noise *= sigma
        noise += frame
        np.clip(np.rint(noise, out=noise), 0, 255, out=noise)
        noisy[index] = noise
    return noisy


def luma(frames: Frames) -> Luma:
    """BT.601 luma of RGB frames in limited range (16..235), ``uint8[T, H, W]``."""
    weights = np.array([[65.481 / 255, 128.553 / 255, 24.966 / 255, 16]])
    return np.stack([cv2.transform(frame, weights) for frame in frames])
