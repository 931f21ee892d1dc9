"""Metrics of filled holes and clips whose networks the user brings: as programs, PAR's as a file, ReMOVE's if they like."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable, Unavailable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, check_next_frame, mean_over_clip
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.eval.passes.frame_vectors import normalised
from inpaintbench.models import sam, torch_networks
from inpaintbench.models.sam import CHANNELS, SAM, SIDE_PIXELS, TOKEN_PIXELS, TOKENS
from inpaintbench.models.weights import Brought
from inpaintbench.view import ItemView


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class Cfd(SingleRegionMetric):
    """Context-aware feature deviation of what fills the hole, averaged over frames that have one, 0..4; lower is better.

    Yu et al. (OmniPaint), 2025. Its code has no licence, so nothing of it is built here: ``INPAINTBENCH_CFD`` is a command that
    writes ``numbers.json``, ``{"scores": [...]}`` with a number or null for each frame, for frames and their masks
    (docs/metrics.md). Known of the released code: the mask of DINOv2's tokens is off by one, and resized otherwise than the
    picture; an empty mask divides by zero, so such frames are left out here.
    """

    name = "cfd"
    version = "1"
    follows = "OmniPaint (no licence file)"
    brings = "a program with its code, `INPAINTBENCH_CFD`"
    brought = BroughtProgram(
        "INPAINTBENCH_CFD",
        'writes the CFD of every frame, {"scores": [...]}',
        "the code of CFD has no licence and is not part of this program",
    )
    diagnostic = "it knows no truth, and a flat fill has no part that could be taken for an object"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 4.0)
    needs = ("composite", "hole")

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames with a hole; those that the program gives no number for are left out and counted.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """
        with_hole = view.hole.any(axis=(1, 2))
        if not with_hole.any():
            return Measurement(None, "no frame has a hole")
        written = self.brought.numbers(
            view.composite[with_hole], view.hole[with_hole], fps=view.fps, item_id=view.item_id
        ).get("scores")  # fmt: skip
        count = int(with_hole.sum())
        if (
            not isinstance(written, list)
            or len(written) != count
            or not all(one is None or (_is_number(one) and 0 <= one <= 4) for one in written)
        ):
            raise Unavailable(f"the program of {self.brought.variable} wrote no list of {count} scores of 0..4 or null")
        values = [float(value) for value in written if value is not None]
        found = mean_over_clip(values, parts="frames", missing="the program has a score for no frame")
        return Measurement(found.value, found.reason, {**found.details, "frames_without_value": view.frames - len(values)})


# Beyond it a logistic function overflows; below it the value is 0 to 300 digits.
_MOST_LOGIT = 700.0
# Of each branch: weight, mean and deviation.
TECHNICAL, AESTHETIC = (0.6104, 0.1107, 0.07355), (0.3896, -0.08285, 0.03774)


class Dover(SingleRegionMetric):
    """Quality of a clip by DOVER's technical and aesthetic branches together, 0..1; higher is better.

    Wu et al., ICCV 2023. Code and parameters are of the S-Lab licence (non-commercial), so they come from the user:
    ``INPAINTBENCH_DOVER`` is a command that writes ``numbers.json``, ``{"technical": t, "aesthetic": a}``, the raw answers of the
    branches, for a folder of frames (docs/metrics.md). Fused as in the released code:
    sigmoid(.6104 (t - .1107) / .07355 + .3896 (a + .08285) / .03774). The released code draws its fragments without a seed, so
    that two runs differ: the program should seed PyTorch. The raw answers are in the details.
    """

    name = "dover"
    version = "1"
    follows = "DOVER (S-Lab, non-commercial)"
    brings = "a program with its code and parameters (S-Lab, non-commercial), `INPAINTBENCH_DOVER`"
    brought = BroughtProgram(
        "INPAINTBENCH_DOVER",
        'writes the raw answers of DOVER\'s two branches, {"technical": t, "aesthetic": a}',
        "DOVER's code and parameters are of the S-Lab licence, non-commercial, and not part of this program",
    )
    diagnostic = "it knows no truth, and a frozen fill repeats a frame that may be one of the better ones"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("composite",)

    def measurement(self, view: ItemView) -> Measurement:
        """The fused value.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """
        written = self.brought.numbers(view.composite, fps=view.fps, item_id=view.item_id)
        raw = [written.get(name) for name in ("technical", "aesthetic")]
        if not all(map(_is_number, raw)):
            raise Unavailable(f"the program of {self.brought.variable} wrote no numbers technical and aesthetic")
        return Measurement(fused(*raw), details={"technical": raw[0], "aesthetic": raw[1]})  # type: ignore[arg-type]


def fused(technical: float, aesthetic: float) -> float:
    """Both raw answers as one value in 0..1."""
    parts = zip((technical, aesthetic), (TECHNICAL, AESTHETIC), strict=True)
    logit = sum(weight * (value - mean) / deviation for value, (weight, mean, deviation) in parts)
    return 1 / (1 + math.exp(min(-logit, _MOST_LOGIT)))


Rule = Literal["as-published", "corrected"]
Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Encoder = Literal["program", "sam-vit-h"]
MARGIN_PIXELS = 16
# Maps of so many frames are held at once, 4 MiB each.
_FRAMES_AT_ONCE = 32


class Given(NamedTuple):
    """What one frame's score is of."""

    picture: Picture
    """Crop, or the whole frame, for the program."""
    inside: Mask
    """Tokens of the mask, ``bool[64, 64]``."""
    outside: Mask
    """Tokens of what surrounds it."""


class Remove(SingleRegionMetric):
    """Cosine of the mean features of SAM inside and outside the hole, averaged over frames, in -1..1; higher is better.

    ReMOVE (Chandrasekar et al., CVPR workshops 2024; code MIT). No truth is needed; blur is rewarded. The encoder is ViT-H of SAM
    (Apache-2.0, 2.6 GB). Frames without mask or background are left out and counted.

    Args:
        rule: ``"as-published"``: masks are stretched to 64x64 by Pillow's bicubic filter and count where they are whole, though
            SAM pads frames to a square; a square crop near the border is cut off. ``"corrected"``: a token counts that half
            lies in the mask, at its place; a crop is filled up with the nearest pixels.
        crop: look at a square around the mask with 16 px of margin; published both ways.
        encoder: ``"sam-vit-h"``, the network of this program, or ``"program"``, one of the user's: ``INPAINTBENCH_REMOVE`` is a
            command that writes ``array.npy``, ``float32[T, 256, 64, 64]``, for the crops of frames (docs/metrics.md).
    """

    name = "remove"
    version = "1"
    label = "ReMOVE"
    follows = "ReMOVE (MIT)"
    brings = "where a protocol says so a program with the image encoder of SAM ViT-H (Apache-2.0), `INPAINTBENCH_REMOVE`"
    brought = BroughtProgram(
        "INPAINTBENCH_REMOVE",
        f"writes the maps that SAM's image encoder gives of frames, {CHANNELS} channels of {TOKENS}x{TOKENS}",
        "this protocol leaves SAM's encoder (Apache-2.0) to a program",
    )
    diagnostic = "it knows no truth, and a flat or blurred fill resembles much of what surrounds it"
    higher_is_better = True
    decimals = 4
    bounds = (-1.0, 1.0)
    needs = ("composite", "hole")

    def __init__(self, *, rule: Rule, crop: bool, encoder: Encoder, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("rule", rule, get_args(Rule))
        self.rule: Rule = rule
        self.crop = crop
        self.encoder = known_name("encoder", encoder, get_args(Encoder))

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """SAM's, unless a program of the user's has them."""
        return (SAM,) if constants["encoder"] == SAM else ()

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames that have a mask and a background.

        Raises:
            NotMeasurable: the weights are not there; or there is no program, or it fails.
            MissingExtraError: PyTorch is not installed.
        """
        every = [self.given(frame, mask) for frame, mask in zip(view.composite, view.hole, strict=True) if mask.any()]
        kept = [one for one in every if one.inside.any() and one.outside.any()]
        values: list[float] = []
        for some in (kept[begin : begin + _FRAMES_AT_ONCE] for begin in range(0, len(kept), _FRAMES_AT_ONCE)):
            pictures = [one.picture for one in some]
            if self.encoder == SAM:
                maps = [sam.maps(picture, view.shared.compute) for picture in pictures]
            else:
                shape = (len(some), CHANNELS, TOKENS, TOKENS)
                maps = list(self.brought.array(shape, pictures, fps=view.fps, item_id=view.item_id))
            values += [likeness(features, one.inside, one.outside) for features, one in zip(maps, some, strict=True)]
        found = mean_over_clip(values, parts="frames", missing="no frame has both a hole and background around it")
        if len(values) == view.frames:
            return found
        return replace(found, details={**found.details, "frames_without_value": view.frames - len(values)})

    def given(self, frame: Picture, mask: Mask) -> Given:
        """What is looked at of a frame whose mask is not empty."""
        published = self.rule == "as-published"
        height, width = mask.shape
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        top, bottom, left, right = int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])
        side = max(right - left, bottom - top) + 1
        if self.crop and published:
            # The released code's square: from the tight box's upper left, with a margin where it fits, cut off by the frame.
            room = min(left, top, height - bottom, width - right)
            margin = MARGIN_PIXELS if room >= MARGIN_PIXELS else max(room, 0)
            top, left, side = top - margin, left - margin, side + 2 * margin
            part = slice(top, top + side), slice(left, left + side)
            frame, mask = frame[part], mask[part]
        elif self.crop:
            # The square around the middle of the tight box, with a margin; beyond the frame the nearest pixels, no mask.
            side += 2 * MARGIN_PIXELS
            down = np.arange(side) + (top + bottom + 1 - side) // 2
            across = np.arange(side) + (left + right + 1 - side) // 2
            near = np.ix_(np.clip(down, 0, height - 1), np.clip(across, 0, width - 1))
            real = ((down >= 0) & (down < height))[:, None] & ((across >= 0) & (across < width))[None]
            frame, mask = frame[near], mask[near] & real
        if published:
            small = Image.fromarray(mask.astype(np.uint8) * 255).resize((TOKENS, TOKENS))
            inside = np.asarray(small) == 255
            return Given(frame, inside, ~inside)
        inside, valid = _tokens(mask)
        return Given(frame, inside, valid & ~inside)


def likeness(features: npt.NDArray[np.float32], inside: Mask, outside: Mask) -> float:
    """Cosine of the mean features of two sets of tokens of a map ``float32[channels, 64, 64]``."""
    one, other = (features[:, tokens].astype(np.float64).mean(axis=1) for tokens in (inside, outside))
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-8))


def _tokens(mask: Mask) -> tuple[Mask, Mask]:
    """Tokens half of which lies in a mask, and tokens that lie in the picture; SAM brings its longer side to 1024 pixels."""
    scale = SIDE_PIXELS / max(mask.shape)
    height, width = sam.scaled_size(*mask.shape)
    rows, columns = ((np.arange(count) + 0.5) / scale for count in (height, width))
    large = mask[np.minimum(rows.astype(int), mask.shape[0] - 1)][:, np.minimum(columns.astype(int), mask.shape[1] - 1)]
    padded, real = (np.zeros((SIDE_PIXELS, SIDE_PIXELS)) for _ in range(2))
    padded[:height, :width], real[:height, :width] = large, 1
    inside, valid = (part.reshape(TOKENS, TOKEN_PIXELS, TOKENS, TOKEN_PIXELS).mean(axis=(1, 3)) >= 0.5 for part in (padded, real))
    return inside, valid


Tracks = npt.NDArray[np.float64]


class MotionFidelity(SingleRegionMetric):
    """How well the tracks of points in an edit go along with those in its source, in -1..1; higher is better.

    Yatim et al. (diffusion-motion-transfer), CVPR 2024, as FiVE (2025) measures it on a grid of 55x55 points. The cosine of two
    tracks is the mean over time of the cosines of their steps. The tracker, CoTracker's in print, comes from the user:
    ``INPAINTBENCH_TRACKS`` is a command that writes ``array.npy``, ``float32[points, T, 2]``, the places x, y of points in the
    frames of a clip, the same grid for every clip (docs/metrics.md).

    Args:
        rule: ``"as-published"``: the mean over the edit's tracks of the largest cosine with one of the source's, less 1 for that
            of the same point, so that the right partner never counts and a clip has less than 1 with itself; a point that stands
            still leaves the clip without a value. ``"corrected"``: half the sum of that mean, nothing subtracted, and of that
            over the source's tracks; steps of none have the cosine 1 with each other, and 0 with others.
    """

    name = "motion_fidelity"
    version = "1"
    follows = "diffusion-motion-transfer, FiVE (no licence files)"
    brings = "a program that tracks points, such as CoTracker (non-commercial), `INPAINTBENCH_TRACKS`"
    brought = BroughtProgram(
        "INPAINTBENCH_TRACKS",
        "writes the places of points in the frames of a clip, an array of points, frames and two",
        "trackers of points are not part of this program",
    )
    higher_is_better = True
    decimals = 4
    bounds = (-1.0, 1.0)
    fewest_frames = 2
    needs = ("truth", "composite")

    def __init__(self, *, rule: Rule, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("rule", rule, get_args(Rule))
        self.rule: Rule = rule

    def measurement(self, view: ItemView) -> Measurement:
        """The value of the clip.

        Raises:
            NotMeasurable: there is one frame only, there is no program, or it fails.
        """
        check_next_frame(view.frames)

        def tracks(frames: Picture) -> npt.NDArray[np.float32]:
            return self.brought.array((None, view.frames, 2), frames, fps=view.fps, item_id=view.item_id)

        source = view.shared.stored(view.truth, f"tracks {self.brought.state()} at {view.fps!r}", lambda: tracks(view.truth))
        edit = tracks(view.composite)
        if edit.shape != source.shape or not len(edit):
            raise Unavailable(
                f"the program of {self.brought.variable} gave {len(edit)} tracks of a clip, {len(source)} of its source"
            )
        value = along(edit.astype(np.float64), source.astype(np.float64), rule=self.rule)
        if math.isnan(value):
            return Measurement(None, "a point stands still between two frames, of which the released code makes no number")
        return Measurement(value, details={"points": len(edit)})


def along(edit: Tracks, source: Tracks, *, rule: Rule) -> float:
    """The value of tracks ``float64[points, T, 2]``; NaN where it is published so."""
    directions, still = [], []
    for tracks in (edit, source):
        steps = np.diff(tracks, axis=1)
        lengths = np.linalg.norm(steps, axis=2, keepdims=True)
        with np.errstate(invalid="ignore"):
            unit = steps / lengths
        directions.append(unit if rule == "as-published" else np.where(lengths > 0, unit, 0))
        still.append((lengths[..., 0] == 0).astype(np.float64))
    pairs, times = len(edit), edit.shape[1] - 1
    cosines = directions[0].reshape(pairs, -1) @ directions[1].reshape(pairs, -1).T / times
    if rule == "as-published":
        return float((cosines - np.eye(pairs)).max(axis=1).mean())
    cosines += still[0] @ still[1].T / times
    return float((cosines.max(axis=1).mean() + cosines.max(axis=0).mean()) / 2)


# Of the channels in 0..1, that pictures are brought to.
MEAN, DEVIATION = (123.675 / 255, 116.28 / 255, 103.53 / 255), (58.395 / 255, 57.12 / 255, 57.375 / 255)


class Par(SingleRegionMetric):
    """Perceived artefact ratio: the share of hole pixels that a network marks as an artefact, averaged over frames; 0..1.

    Zhang et al., "Perceptual Artifacts Localization for Inpainting", ECCV 2022. Its network may be neither used commercially nor
    passed on, so nothing of it comes with this package: ``INPAINTBENCH_PAR_NETWORK`` names a file of TorchScript that takes
    ``float32[N, 3, H, W]`` (RGB of 0..255 less 123.675, 116.28, 103.53, over 58.395, 57.12, 57.375) and gives
    ``[N, 2, H, W]``, the second channel larger where there is an artefact. Its code is run, so it has to come from people one
    trusts. The SHA-256 of the file is in the details. Frames without a hole are left out.
    """

    name = "par"
    version = "1"
    brings = "the network of PAL4Inpaint (Adobe, non-commercial), `INPAINTBENCH_PAR_NETWORK`"
    brought = Brought(
        "INPAINTBENCH_PAR_NETWORK", "its file of TorchScript", "the network of PAR may not be shipped: get it from its authors"
    )  # fmt: skip
    diagnostic = "it knows no truth, and a flat fill has nothing that looks like an artefact"
    higher_is_better = False
    decimals = 4
    answers = ("hole",)
    needs = ("composite", "hole")

    def measurement(self, view: ItemView) -> Measurement:
        """The share; None where no frame has a hole.

        Raises:
            NotMeasurable: no network was given, or what was given cannot be used.
        """
        path = Par.brought.path()
        with torch_networks.running(view.shared.compute) as device:
            module = _network(str(path), Par.brought.changed(), str(device))
            pairs = zip(view.composite, view.hole, strict=True)
            values = [float(_artefacts(module, frame, device)[hole].mean()) for frame, hole in pairs if hole.any()]
        mean = mean_over_clip(values, parts="frames", missing="no frame has a hole")
        return replace(mean, details={**mean.details, "network_sha256": Par.brought.sha256()})


@lru_cache(maxsize=1)
def _network(path: str, changed: int, device: str) -> Any:  # noqa: ARG001 - the time is part of what is remembered
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch_networks.torch().jit.load(path, map_location=device).eval()
    except RuntimeError as error:
        raise NotMeasurable(f"{Par.brought.variable} names {Path(path).name!r}, which is no file of TorchScript") from error


def _artefacts(module: Any, frame: npt.NDArray[np.uint8], device: Any) -> npt.NDArray[np.bool_]:
    """Return where the network sees an artefact, ``bool[H, W]``."""
    try:
        answer = module(normalised(torch_networks.pictures(frame[None], device), MEAN, DEVIATION))
    except RuntimeError as error:
        raise NotMeasurable(f"the network of PAR failed on a frame of {frame.shape[1]}x{frame.shape[0]}") from error
    expected, shape = (1, 2, *frame.shape[:2]), tuple(getattr(answer, "shape", ()))
    if shape != expected:
        raise NotMeasurable(f"the network of PAR gave {shape or type(answer).__name__} for a frame, not {expected}")
    marked: npt.NDArray[np.bool_] = answer.argmax(dim=1)[0].bool().cpu().numpy()
    return marked
