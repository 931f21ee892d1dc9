"""Choice of the video encoder, and what each use asks of it: the only place that names one.

libx264 where the FFmpeg in PyAV holds it; else libvpx-vp9, which is under no copyleft. ``INPAINTBENCH_ENCODER`` names one of them
where the other must not be used, or where machines with and without libx264 are to give equal bytes.

| use | needs | libx264 | libvpx-vp9 |
|---|---|---|---|
| truths | `TRUTH_PSNR_DB`, quick decoding, browsers | 4:2:0, constant quantiser | the same |
| holes, opacities | every level | grey | luma of 4:2:0, without loss |
| inputs, predictions, lossless truths | every value of RGB | RGB | GBR, without loss |
| proxies of raters, clips of reports | browsers, quick seeking | 4:2:0, crf | 4:2:0, a crf of about the same PSNR |
| form ``challenge``; results as H.264 | H.264 itself | yes | refused |
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar, Protocol

from av.codec import codecs_available

from inpaintbench.errors import InputError

ENVIRONMENT = "INPAINTBENCH_ENCODER"


@dataclass(frozen=True)
class Coding:
    """FFmpeg's names of an encoder and of the pixel format that it takes, and the encoder's options."""

    codec: str
    pixel_format: str
    options: dict[str, str]


class Encoder(Protocol):
    """Codings of one encoder by use."""

    name: ClassVar[str]
    """FFmpeg's name of the encoder."""
    first_crf: ClassVar[int]
    """Quality factor of truths that is tried first: with it nearly every clip has a little more than ``TRUTH_PSNR_DB``."""

    @staticmethod
    def truth(crf: int, pixel_format: str) -> Coding:
        """Coding of a truth at a quality factor; 0 loses nothing."""

    @staticmethod
    def levels() -> Coding:
        """Coding of grey tracks that keeps every level."""

    @staticmethod
    def rgb() -> Coding:
        """Coding of RGB that keeps every value."""

    @staticmethod
    def preview(crf: int, key_every: int) -> Coding:
        """Coding for browsers, at a quality factor of libx264, with at most ``key_every`` frames between key frames."""


class X264:
    """H.264 by libx264, with ``mbtree=0``: macroblock-tree is not deterministic with AVX-512."""

    name: ClassVar[str] = "libx264"
    first_crf: ClassVar[int] = 16

    @staticmethod
    def truth(crf: int, pixel_format: str) -> Coding:
        """Coding with a constant quantiser, so that the PSNR hardly depends on the clip, and without CABAC.

        A high-quality stream decodes twice as fast without it, for 15 % more bytes, and a truth is decoded many times.
        """
        params = "mbtree=0:cabac=0:qcomp=1:aq-mode=0"
        return Coding("libx264", pixel_format, {"crf": str(crf), "preset": "veryfast", "x264-params": params})

    @staticmethod
    def bit_rate(bits_per_second: int, pixel_format: str) -> Coding:
        """Coding at an average bit rate; no other encoder is to stand for it, whose errors are others."""
        return Coding("libx264", pixel_format, {"b": str(bits_per_second), "x264-params": "mbtree=0"})

    @staticmethod
    def levels() -> Coding:
        """Coding as grey."""
        return Coding("libx264", "gray", {"qp": "0", "preset": "ultrafast", "x264-params": "cabac=1"})

    @staticmethod
    def rgb() -> Coding:
        """Coding as RGB."""
        return Coding("libx264rgb", "rgb24", {"qp": "0", "preset": "ultrafast"})

    @staticmethod
    def preview(crf: int, key_every: int) -> Coding:
        """Coding with key frames and no B-frames, which make seeking in a browser exact and quick."""
        params = f"mbtree=0:keyint={key_every}:bframes=0"
        options = {"crf": str(crf), "preset": "veryfast", "x264-params": params, "movflags": "+faststart"}
        return Coding("libx264", "yuv420p", options)


class VP9:
    """VP9 by libvpx at its quickest; ``bench/encoders.py`` measures what it takes beside libx264."""

    name: ClassVar[str] = "libvpx-vp9"
    first_crf: ClassVar[int] = 12
    # No frames that are not shown and none from the future: each packet is one picture, and seeking is exact.
    _QUICK: ClassVar[dict[str, str]] = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "auto-alt-ref": "0"}
    _EXACT: ClassVar[dict[str, str]] = {**_QUICK, "lossless": "1"}

    @classmethod
    def _constant(cls, crf: int) -> dict[str, str]:
        return {**cls._QUICK, "crf": str(crf), "b": "0", "aq-mode": "0"}

    @classmethod
    def truth(cls, crf: int, pixel_format: str) -> Coding:
        """Coding with a constant quantiser."""
        return Coding("libvpx-vp9", pixel_format, cls._constant(crf))

    @classmethod
    def levels(cls) -> Coding:
        """Coding as the luma of 4:2:0, since VP9 has no grey."""
        return Coding("libvpx-vp9", "yuv420p", cls._EXACT)

    @classmethod
    def rgb(cls) -> Coding:
        """Coding as GBR."""
        return Coding("libvpx-vp9", "gbrp", cls._EXACT)

    @classmethod
    def preview(cls, crf: int, key_every: int) -> Coding:
        """Coding with a key frame every ``key_every`` frames.

        Its own factor gives a PSNR within two decibels of that of libx264, more on textured films and less on smooth ones.
        """
        own = min(63, max(0, round(1.8 * crf - 10)))
        return Coding("libvpx-vp9", "yuv420p", {**cls._constant(own), "g": str(key_every), "movflags": "+faststart"})


_ENCODERS: tuple[type[Encoder], ...] = (X264, VP9)


def chosen_encoder() -> type[Encoder]:
    """Return the encoder that ``INPAINTBENCH_ENCODER`` names, else the first that the FFmpeg in PyAV holds.

    Raises:
        InputError: it names another, or the FFmpeg in PyAV lacks the one that is named, or both.
    """
    by_name = {encoder.name: encoder for encoder in _ENCODERS}
    asked = os.environ.get(ENVIRONMENT)
    if asked and asked not in by_name:
        raise InputError(f"{ENVIRONMENT} is {asked!r}; choose from {', '.join(by_name)}")
    wanted = [asked] if asked else list(by_name)
    for name in wanted:
        if name in codecs_available:
            return by_name[name]
    raise InputError(
        f"video cannot be written: the FFmpeg in PyAV holds no {' and no '.join(wanted)}; "
        "pip install --force-reinstall --only-binary av av brings a PyAV with both, and pictures need neither"
    )


def writes_h264() -> bool:
    """Return whether the encoder at hand writes H.264."""
    return chosen_encoder() is X264


def require_h264(what: str) -> None:
    """Refuse what is H.264 by definition where the encoder at hand writes none.

    Raises:
        InputError: the encoder is another than libx264, or there is none.
    """
    if not writes_h264():
        raise InputError(f"{what} is H.264 and needs libx264, but videos are written by {chosen_encoder().name} here")
