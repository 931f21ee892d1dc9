"""Frames as players show them: rotated, converted to BT.709 RGB, and resampled to a constant frame rate on request.

HDR (PQ and HLG in BT.2020) is mapped to 8-bit BT.709. Light is in nits (cd/m2). The peak of the result is
``REFERENCE_WHITE_NITS``, the diffuse white of ITU-R BT.2408. The mastering display is assumed to end at ``MASTER_PEAK_NITS``;
brighter light is clipped to it. The tone curve is the EETF of ITU-R BT.2390, applied to the brightest channel after the change of
primaries, so that hues stay and nothing is clipped at the top; colours outside BT.709 are clipped at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import FALLBACK_RATE, Decoder
from inpaintbench.video.images import read_image
from inpaintbench.video.suffixes import is_image

REFERENCE_WHITE_NITS = 203.0
# The usual peak of mastering displays, and the one that HLG's system gamma below is stated for.
MASTER_PEAK_NITS = 1000.0
# SMPTE ST 2084.
_PQ_PEAK_NITS = 10_000.0
_BT1886_GAMMA = 2.4
# System gamma of ITU-R BT.2100 at a peak of 1,000 nits.
_HLG_GAMMA = 1.2
# ITU-R BT.2087, linear light.
_BT2020_TO_BT709 = np.array([[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]])
_BT2020_LUMINANCE = np.array([0.2627, 0.6780, 0.0593])
# Entries of the lookup tables: one for each 16-bit code.
_LEVELS = 65536

Light = npt.NDArray[np.float32]


def pq_to_nits(signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """EOTF of SMPTE ST 2084: PQ signal 0..1 to nits 0..10,000."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 4096 * 128, 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    root = np.power(signal, 1 / m2)
    return np.asarray(_PQ_PEAK_NITS * np.power(np.maximum(root - c1, 0) / (c2 - c3 * root), 1 / m1))


def nits_to_pq(nits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Inverse EOTF of SMPTE ST 2084: nits 0..10,000 to PQ signal 0..1."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 4096 * 128, 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    power = np.power(nits / _PQ_PEAK_NITS, m1)
    return np.asarray(np.power((c1 + c2 * power) / (1 + c3 * power), m2))


def hlg_to_scene(signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """ITU-R BT.2100, inverse OETF: HLG signal 0..1 to scene light 0..1."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    return np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - c) / a) + b) / 12)


def tone_curve(nits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """EETF of ITU-R BT.2390 from ``MASTER_PEAK_NITS`` to ``REFERENCE_WHITE_NITS``, both with a black of 0."""
    master = float(nits_to_pq(np.array(MASTER_PEAK_NITS)))
    largest = float(nits_to_pq(np.array(REFERENCE_WHITE_NITS))) / master
    knee = 1.5 * largest - 0.5
    signal = np.minimum(nits_to_pq(nits) / master, 1)
    t = np.maximum(signal - knee, 0) / (1 - knee)
    # Hermite spline from the knee to the peak.
    spline = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee) + (-2 * t**3 + 3 * t**2) * largest
    return pq_to_nits(np.where(signal < knee, signal, spline) * master)


def tone_mapped(frame: Any) -> npt.NDArray[np.uint8]:
    """Tone-map a PQ or HLG frame to ``uint8[H, W, 3]`` RGB for BT.709 screens (BT.1886), as coded (not rotated).

    The curves are lookup tables of 65,536 entries.

    Raises:
        MediaError: the frame's matrix is unknown here.
    """
    colour.settle(frame)
    pq, hlg, gains_of, codes = _tables()
    signal = np.asarray(np.rint(colour.signals(frame) * (_LEVELS - 1)), np.uint16)
    if colour.hdr_kind(frame) == "pq":
        light = pq[signal]
    else:  # scene light through the system gamma (OOTF)
        scene = hlg[signal]
        luminance = cv2.transform(scene, _BT2020_LUMINANCE[None].astype(np.float32))
        light = np.asarray(scene * np.power(luminance, _HLG_GAMMA - 1, dtype=np.float32)[:, :, None], np.float32)
    light = np.maximum(cv2.transform(light, _BT2020_TO_BT709), 0)
    brightest = light.max(axis=2)
    gains = gains_of[_table_index(brightest)] / np.maximum(brightest, 1)
    light *= gains[:, :, None]
    return codes[_table_index(light)]


def _table_index(light: Light) -> npt.NDArray[np.uint16]:
    """Indices of light 0..1 in a table that is evenly spaced in the fourth root of light; brighter light is the last entry."""
    return np.asarray(np.sqrt(np.sqrt(np.minimum(light, 1))) * np.float32(_LEVELS - 1) + np.float32(0.5), np.uint16)


@lru_cache(maxsize=1)
def _tables() -> tuple[Light, Light, Light, npt.NDArray[np.uint8]]:
    """Lookup tables: display light of PQ codes and scene light of HLG codes, in units of ``MASTER_PEAK_NITS``; and by the index
    of ``_table_index`` the gain of a pixel's light, which scales reference white to 1, and the 8-bit code of light 0..1: the
    inverse of ITU-R BT.1886 with a black of 0."""
    codes = np.arange(_LEVELS) / (_LEVELS - 1)
    pq, hlg, light = pq_to_nits(codes) / MASTER_PEAK_NITS, hlg_to_scene(codes), codes**4
    nits = light * MASTER_PEAK_NITS
    nits[0] = nits[1]  # not 0 / 0 for black
    gains = tone_curve(nits) / nits * (MASTER_PEAK_NITS / REFERENCE_WHITE_NITS)
    eight_bits = np.asarray(np.round(255 * light ** (1 / _BT1886_GAMMA)), np.uint8)
    return pq.astype(np.float32), hlg.astype(np.float32), gains.astype(np.float32), eight_bits


# Treatments of high dynamic range: refuse it, or tone-map it to BT.709 (see `hdr`).
HDR_POLICIES = ("exclude", "tone_map")
# Rows and columns are swapped, then columns are reversed, then rows are.
Orientation = tuple[bool, bool, bool]
# Containers round timestamps to a millisecond.
_SAME_TIME_SECONDS = 1e-3


def orientation(frame: Any) -> Orientation:
    """Orientation of a decoded frame by its display matrix, to the nearest right angle.

    Returns:
        True if rows and columns are swapped, then if columns are reversed, then if rows are, to set the frame upright.
    """
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return False, False, False
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    swapped = abs(b) + abs(c) > abs(a) + abs(d)
    return (True, c < 0, b < 0) if swapped else (False, a < 0, d < 0)


class Orientations:
    """Cache of ``orientation``, with one entry for each rotation in a stream.

    Reading the matrix puts a frame into a reference cycle, which is freed late: done for every frame, memory grows by gigabytes
    an hour.
    """

    def __init__(self) -> None:
        self._known: dict[int, Orientation] = {}

    def of(self, frame: Any) -> Orientation:
        """Return ``orientation(frame)``, cached."""
        degrees = int(frame.rotation)
        if degrees not in self._known:
            self._known[degrees] = orientation(frame)
        return self._known[degrees]


def rotation(frame: Any) -> tuple[int, bool]:
    """Counter-clockwise rotation by players in degrees (0, 90, 180, 270), and True if they mirror left to right before it."""
    swapped, columns, rows = orientation(frame)
    mirrored = swapped == (columns == rows)
    if mirrored:
        return (90 + 180 * rows if swapped else 180 * rows), True
    return (90 if rows else 270) if swapped else 180 * rows, False


def upright(frame: Any, *, hdr: str = "exclude", orientations: Orientations | None = None) -> npt.NDArray[np.uint8]:
    """RGB of a decoded PyAV frame, ``uint8[H, W, 3]``, rotated as players do, composited over black where transparent.

    Untagged frames are taken for BT.709 from 720 lines or 1280 columns up, else for BT.601, in limited range. ``orientations`` is
    one object for all frames of a stream.

    Raises:
        MediaError: the frame is HDR, and ``hdr`` is ``exclude``.
    """
    kind = colour.hdr_kind(frame)
    if kind != "none" and hdr == "exclude":
        raise MediaError(f"is HDR ({kind}): choose tone mapping, or leave it out")
    pixels = colour.rgb(frame) if kind == "none" else tone_mapped(frame)
    return rotated(pixels, orientations.of(frame) if orientations else orientation(frame))


def rotated(pixels: npt.NDArray[np.uint8], orientation: Orientation) -> npt.NDArray[np.uint8]:
    """Rotate ``uint8[h, w, 3]`` upright by the result of ``orientation``."""
    swapped, columns, rows = orientation
    if swapped:
        pixels = pixels.transpose(1, 0, 2)
    return np.ascontiguousarray(pixels[:: -1 if rows else 1, :: -1 if columns else 1])


def upright_frames(
    path: Path | str,
    *,
    fps: float | None = None,
    hdr: str = "exclude",
    decoder: Decoder | None = None,
    frames: Iterable[Any] | None = None,
) -> Iterator[tuple[npt.NDArray[np.uint8], bool]]:
    """Iterate over the frames, rotated as players do.

    Args:
        path: a video or an image.
        fps: constant rate to resample to, by timestamps: frame k is the one on screen ``k / fps`` seconds after the first. The
            last frame repeats without end, so that the caller takes the ``frames_at`` first ones. By default every frame once.
        hdr: one of ``HDR_POLICIES``.
        decoder: of the video, where somebody else wants to know what it tells; by default one of its own.
        frames: some of the video, in place of those that it decodes, at ``fps`` already.

    Yields:
        ``uint8[H, W, 3]`` RGB, and True if rotation swapped width and height.

    Raises:
        InputError: ``hdr`` is not one of ``HDR_POLICIES``.
        MediaError: the video is HDR, and ``hdr`` is ``exclude``.
    """
    if hdr not in HDR_POLICIES:
        raise InputError(f"unknown way to treat HDR {hdr!r}, choose from {', '.join(HDR_POLICIES)}")
    if is_image(path):
        yield read_image(path), False
        return
    orientations = Orientations()
    decoder = decoder or Decoder(path)
    for frame in frames or (iter(decoder) if fps is None else _retimed(decoder, fps)):
        yield upright(frame, hdr=hdr, orientations=orientations), orientations.of(frame)[0]


def _retimed(decoder: Decoder, fps: float) -> Iterator[Any]:
    shown, first, count = None, 0.0, 0
    for index, frame in enumerate(decoder):
        seconds = index / (decoder.header_rate or FALLBACK_RATE) if frame.pts is None else float(frame.pts * frame.time_base)
        if shown is None:
            shown, first = frame, seconds
        while count / fps < seconds - first - _SAME_TIME_SECONDS:
            yield shown
            count += 1
        shown = frame
    while shown is not None:
        yield shown


def frames_at(duration_seconds: float, fps: float) -> int:
    """Number of frames of a video of that duration at a constant rate, at least 1."""
    return max(1, int((duration_seconds + _SAME_TIME_SECONDS) * fps))
