from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np
import pytest
import torture

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.video.upright import _BT2020_TO_BT709

PQ, HLG = 16, 18
RANDOM_PATCHES = 400


# A straightforward reading of the standards, one pixel at a time and without tables


def pq_signal(nits: float) -> float:
    power = (nits / 10000) ** 0.1593017578125
    return ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375


def pq_light(signal: float) -> float:
    root = signal ** (1 / 78.84375)
    return 10000 * (max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)


def hlg_light(signals: Sequence[float]) -> list[float]:
    scene = [s * s / 3 if s <= 0.5 else (math.exp((s - 0.55991073) / 0.17883277) + 0.28466892) / 12 for s in signals]
    luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
    return [1000 * luminance**0.2 * value for value in scene]


def shown_light(nits: float) -> float:
    """ITU-R BT.2390: from a master of 1,000 nits to a screen of 203."""
    source, target = pq_signal(1000), pq_signal(203) / pq_signal(1000)
    e1, ks = min(pq_signal(nits) / source, 1.0), 1.5 * target - 0.5
    if e1 < ks:
        return nits
    t = (e1 - ks) / (1 - ks)
    e2 = (2 * t**3 - 3 * t**2 + 1) * ks + (t**3 - 2 * t**2 + t) * (1 - ks) + (3 * t**2 - 2 * t**3) * target
    return pq_light(e2 * source)


def expected(codes: Sequence[int], transfer: int) -> list[float]:
    """Eight-bit values of one pixel, from 10-bit limited-range luma and chroma."""
    luma, cb, cr = (codes[0] - 64) / 876, (codes[1] - 512) / 896, (codes[2] - 512) / 896
    red, blue = luma + 1.4746 * cr, luma + 1.8814 * cb
    signals = [min(max(v, 0), 1) for v in (red, (luma - 0.2627 * red - 0.0593 * blue) / 0.6780, blue)]
    r, g, b = [pq_light(s) for s in signals] if transfer == PQ else hlg_light(signals)
    light = [1.6605 * r - 0.5876 * g - 0.0728 * b, -0.1246 * r + 1.1329 * g - 0.0083 * b, -0.0182 * r - 0.1006 * g + 1.1187 * b]
    light = [max(value, 0) for value in light]
    brightest = max(light)
    gain = shown_light(brightest) / brightest if brightest else 0
    return [255 * (value * gain / 203) ** (1 / 2.4) for value in light]


def tagged_frame(codes: np.ndarray, transfer: int) -> av.VideoFrame:
    """A 4:4:4 frame of 10-bit codes ``[3, h, w]``, BT.2020, limited range."""
    frame = av.VideoFrame(codes.shape[2], codes.shape[1], "yuv444p10le")
    for plane, values in zip(frame.planes, codes, strict=True):
        rows = np.zeros((plane.height, plane.line_size // 2), "<u2")
        rows[:, : values.shape[1]] = values
        plane.update(rows.tobytes())
    frame.colorspace, frame.color_range, frame.color_trc, frame.color_primaries = 9, 1, transfer, 9
    return frame


def greys(nits: Sequence[float], transfer: int) -> np.ndarray:
    """What grey patches of so much light become, ``[patches, 3]``."""
    if transfer == PQ:
        signals = [pq_signal(n) for n in nits]
    else:
        scene = [(n / 1000) ** (1 / 1.2) for n in nits]
        signals = [math.sqrt(3 * s) if s <= 1 / 12 else 0.17883277 * math.log(12 * s - 0.28466892) + 0.55991073 for s in scene]
    luma = np.array([[round(64 + 876 * signal) for signal in signals]] * 2)
    return video.upright(tagged_frame(np.stack([luma, luma * 0 + 512, luma * 0 + 512]), transfer), hdr="tone_map")[0]


@pytest.mark.parametrize("transfer", [PQ, HLG])
def test_tone_mapping_equals_a_straightforward_reading_of_the_standards(transfer: int) -> None:
    rng = np.random.default_rng(transfer)
    luma = rng.integers(64, 941, RANDOM_PATCHES)
    chroma = np.clip(512 + rng.normal(0, 60, (2, RANDOM_PATCHES)), 64, 960).astype(int)
    codes = np.concatenate([luma[None], chroma])
    pixels = video.upright(tagged_frame(np.repeat(codes[:, None], 2, axis=1), transfer), hdr="tone_map")[0]
    wanted = np.array([expected(column, transfer) for column in codes.T])
    difference = np.abs(pixels - wanted)
    assert difference.max() <= 1
    assert difference.mean() < 0.3


@pytest.mark.parametrize("transfer", [PQ, HLG])
def test_greys_stay_grey_get_lighter_and_end_in_white(transfer: int) -> None:
    nits = [0, 0.1, 1, 5, 10, 26, 50, 100, 150, 203, 300, 400, 600, 800, 1000]
    shown = greys(nits, transfer).astype(int)
    assert np.ptp(shown, axis=1).max() <= 1
    assert (np.diff(shown[:, 1]) >= 0).all()
    assert (np.diff(shown[:-2, 1]) > 0).all()
    assert shown[0].max() == 0
    assert shown[-1].min() >= 254
    reference_white = shown[nits.index(203), 1]
    assert 226 <= reference_white <= 234
    # Below the knee light is kept: 26 nits on a screen whose white has 203.
    assert shown[nits.index(26), 1] == pytest.approx(255 * (26 / 203) ** (1 / 2.4), abs=1.5)


def test_light_beyond_the_master_keeps_its_hue() -> None:
    def of(nits: tuple[float, float, float]) -> np.ndarray:
        light = np.array(nits)
        signals = np.array([pq_signal(value) for value in np.linalg.solve(_BT2020_TO_BT709, light)])
        luma = signals @ (0.2627, 0.6780, 0.0593)
        codes = [64 + 876 * luma, 512 + 896 * (signals[2] - luma) / 1.8814, 512 + 896 * (signals[0] - luma) / 1.4746]
        frame = tagged_frame(np.tile(np.round(codes).astype(int)[:, None, None], (1, 2, 2)), PQ)
        return video.upright(frame, hdr="tone_map")[0, 0].astype(int)

    assert np.abs(of((1000, 500, 250)) - of((4000, 2000, 1000))).max() <= 2


@pytest.mark.parametrize(("transfer", "codec"), [(PQ, "libx265"), (HLG, "libx265"), (PQ, "libx264")])
def test_a_file_of_known_light_is_shown_as_it_should_be(transfer: int, codec: str, tmp_path: Path) -> None:
    levels = (200, 400, 600, 760)
    luma = np.repeat(np.array(levels), 16)[None].repeat(48, axis=0)
    prepare = torture.tags(matrix=9, primaries=9, transfer=transfer, colour_range=1)
    options = {"x265-params": "log-level=none:crf=2:pools=1:frame-threads=1"} if codec == "libx265" else {"qp": "0"}
    torture.encode(
        tmp_path / "light.mp4", [torture.ten_bit_frame(luma)] * 8, codec=codec, pixel_format="yuv420p10le", options=options,
        prepare=prepare,
    )  # fmt: skip
    for pixels, _ in video.upright_frames(tmp_path / "light.mp4", hdr="tone_map"):
        wanted = [expected((level, 512, 512), transfer)[0] for level in levels]
        assert np.abs(pixels[24, 8::16] - np.array(wanted)[:, None]).max() <= 2


def test_an_unknown_way_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown way to treat HDR 'clip', choose from exclude, tone_map"):
        next(video.upright_frames(tmp_path / "x.mp4", hdr="clip"))
