"""Tone mapping of HDR (PQ and HLG in BT.2020) to 8-bit BT.709.

Light is in nits (cd/m2). The peak of the result is ``REFERENCE_WHITE_NITS``, the diffuse white of ITU-R BT.2408. The mastering
display is assumed to end at ``MASTER_PEAK_NITS``; brighter light is clipped to it. The tone curve is the EETF of ITU-R BT.2390,
applied to the brightest channel after the change of primaries, so that hues stay and nothing is clipped at the top; colours
outside BT.709 are clipped at 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.video import colour

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
