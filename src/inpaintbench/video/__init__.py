"""Probing, decoding and encoding of video and images; no other module opens media.

The published file is the truth. A clip is encoded once, and its pixels are by definition those that decoding yields, so decoding
has one form: PyAV, frames in presentation order, PyAV's default conversion to RGB. Passing ``interpolation=`` to the conversion
changes pixels by up to 190 levels at colour edges, so nothing here does.

A clip of one frame is a PNG image and is never encoded as video: every reader and writer here distinguishes the two by the
suffix of the path, from ``suffix_for``.

Encoded bytes repeat for one platform and PyAV version: libx264 with one thread, ``mbtree=0`` (macroblock-tree is not
deterministic with AVX-512) and bit-exact containers without clock times.
"""

from __future__ import annotations

from inpaintbench.video.decoding import (
    LARGEST_SIDE,
    MOST_PIXELS,
    STILL_FPS,
    VIDEO_SUFFIXES,
    Decoder,
    decoded_hashes,
    read_frames,
    read_hole,
    read_levels,
    read_luma,
)
from inpaintbench.video.encoding import (
    CHALLENGE_BITS_PER_SECOND,
    CLIP_FORMS,
    TRUTH_PSNR_DB,
    EncodedClip,
    write_browser,
    write_clip,
    write_hole,
    write_levels,
    write_lossless,
)
from inpaintbench.video.image_folders import (
    by_number,
    list_images,
    misplaced_as_text,
    numbered_images,
    read_image_folder,
    step_of,
)
from inpaintbench.video.images import (
    IMAGE_SUFFIXES,
    is_image,
    png_bytes,
    read_image,
    read_index_image,
    suffix_for,
    write_image,
)
from inpaintbench.video.probing import Probe, probe
from inpaintbench.video.scanning import READERS, Scan, require_reader, scan
from inpaintbench.video.upright import HDR_POLICIES, Orientations, frames_at, upright, upright_frames

__all__ = [
    "CHALLENGE_BITS_PER_SECOND",
    "CLIP_FORMS",
    "HDR_POLICIES",
    "IMAGE_SUFFIXES",
    "LARGEST_SIDE",
    "MOST_PIXELS",
    "READERS",
    "STILL_FPS",
    "TRUTH_PSNR_DB",
    "VIDEO_SUFFIXES",
    "Decoder",
    "EncodedClip",
    "Orientations",
    "Probe",
    "Scan",
    "by_number",
    "decoded_hashes",
    "frames_at",
    "is_image",
    "list_images",
    "misplaced_as_text",
    "numbered_images",
    "png_bytes",
    "probe",
    "read_frames",
    "read_hole",
    "read_image",
    "read_image_folder",
    "read_index_image",
    "read_levels",
    "read_luma",
    "require_reader",
    "scan",
    "step_of",
    "suffix_for",
    "upright",
    "upright_frames",
    "write_browser",
    "write_clip",
    "write_hole",
    "write_image",
    "write_levels",
    "write_lossless",
]
