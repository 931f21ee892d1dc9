"""Records that flow between the rooms, and the conventions that hold everywhere.

Conventions
-----------
* A *hole* is ``bool[T, H, W]`` and **True means hole** (missing), everywhere inside the package.
* Frames are ``uint8[T, H, W, 3]`` RGB. A still image is a clip of one frame.
* Frame ranges are half open, ``[start_frame, end_frame)``; frame indices count from 0.
* Missing is ``None`` with a reason, never 0, -1 or NaN.
* Floats in facts are rounded to 12 significant digits (``stated``): further digits depend on the versions of packages, which
  identity must not.
* Records hold ids, names and numbers, never pixels. Pixels lie in blobs, named by their SHA-256.
* Ids are derived from content, so they do not depend on order, worker count or machine.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # numpy costs a third of what a command takes to answer, and most records need none of it
    import numpy as np
    import numpy.typing as npt

    # `uint8[T, H, W, 3]`, RGB.
    Frames = npt.NDArray[np.uint8]
    # `uint8[T, H, W]`, the coded luma plane as stored (usually limited range, 16..235).
    Luma = npt.NDArray[np.uint8]
    # `bool[T, H, W]`, True = hole.
    Hole = npt.NDArray[np.bool_]

    # `uint8[T, H, W]`, opacity of an overlay: 0 = nothing, 255 = opaque.
    Alpha = npt.NDArray[np.uint8]
else:
    Frames = Luma = Hole = Alpha = Any

# `Corruption.generator` of edits: nothing is missing, the clip itself is the input, and a prompt says what to make of it.
EDIT = "edit_prompt"
# `Corruption.generator` of clips that nobody has without their object: the clip itself is the input, and there is no truth.
UNPAIRED = "unpaired"
# Single object and single attribute; style; single object and several attributes; several objects and attributes. Source:
# EditBoard, AAAI 2025.
EDIT_TASKS = ("SOSA", "SE", "SOMA", "MOA")

# JSON-able data: strings, finite numbers, booleans, None, lists and string-keyed mappings.
Plain = Mapping[str, Any]


# Digits kept of numbers in facts: four fewer than float64 holds, so that sums in another order and functions of another library,
# which differ in the last two or three, give the same number. Numbers at a rounding boundary can still differ.
SIGNIFICANT_DIGITS = 12


def stated(value: Any) -> Any:
    """``value`` with every float in it rounded to ``SIGNIFICANT_DIGITS``; mappings become dicts, the rest stays as it is."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: stated(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(map(stated, value))
    return value


def canonical_json(value: Any) -> str:
    """Serialise ``value`` as canonical JSON: sorted keys, no spaces, ASCII; NaN and infinities raise ``ValueError``."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def content_id(*parts: Any) -> str:
    """First 16 hex digits of the SHA-256 of the canonical JSON of ``parts``."""
    # 64 bits: among a million ids two are equal with a chance of 3e-8, and names of files stay short.
    return hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()[:16]


def hash_of(*parts: Any) -> int:
    """The number of 64 bits that ``content_id`` writes: for choices that follow from content alone, whatever else is there."""
    return int(content_id(*parts), 16)


def item_rng(seed: int, step: str, item_id: str) -> np.random.Generator:
    """Random generator of one item in one step; independent of order and worker count."""
    import numpy as np

    digest = hashlib.sha256(canonical_json([seed, step, item_id]).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


@dataclass(frozen=True)
class Joint:
    """One labelled joint of one person. Coordinates are pixels; the centre of the upper left pixel is (0, 0)."""

    person: int
    """Number of the person in the picture, from 0."""
    name: str
    """``ankle``, ``knee``, ``hip``, ``pelvis``, ``thorax``, ``upper_neck``, ``head_top``, ``wrist``, ``elbow``, ``shoulder``,
    ``eye``, ``nose``, ``ear`` or ``head``, the same on both sides."""
    side: str | None
    """``left`` or ``right``; None for joints in the middle of the body."""
    x: float
    y: float
    visible: bool | None = None
    """False = labelled though occluded; None = not stated."""
    side_of: str = "person"
    """Viewpoint of ``side``: ``person``, or ``image`` for annotations that say what the viewer sees."""


@dataclass(frozen=True)
class TextEvent:
    """A text that is on screen for a while."""

    start_seconds: float
    end_seconds: float
    text: str
    """Lines divided by ``\\n``; may carry ASS override tags such as ``{\\i1}``."""
    style: Plain | None = None
    """Style fields that the subtitle file states (ASS); None when it states none."""


# Questions that a data set puts about an edit: of yes and no about the source and the target, and a choice whose b is right.
QUESTIONS = ("source_yes_no_question", "target_yes_no_question", "multiple_choice_question")
# What it says of an object that is to be removed: its name, and the kinds of its after-effects.
ABOUT_OBJECTS = ("object_name", "after_effects")
TOLD = (*QUESTIONS, *ABOUT_OBJECTS)


class Prompts(NamedTuple):
    """What an edit is asked for by: a description of the clip before and after it, an instruction, or both; or what people say
    of a clip with a hole."""

    source: str | None
    """Description of the clip; None where the source of the data has none."""
    target: str
    """Description of the edited or the whole clip; empty where there is an instruction alone."""
    instruction: str | None = None
    """What is to be done to the clip; None where there are descriptions alone."""
    hole: str | None = None
    """Description of what fills the hole; None where nobody says it."""
    more: Mapping[str, str] | None = None
    """What else a data set says to whoever judges an item, by the names of ``TOLD``; methods are never given it."""


@dataclass(frozen=True)
class Source:
    """A file as obtained. ``uri`` is relative to where it was found and percent-encoded."""

    source_id: str
    uri: str
    sha256: str
    bytes: int
    origin: str
    """The source leaf that found it, e.g. ``folder``."""
    licence: str | None = None
    author: str | None = None
    page_url: str | None = None
    blob: str | None = None
    """Blob name, when the workspace itself holds the file (rendered or downloaded)."""
    parts: Plain = field(default_factory=dict)
    """Further pictures of something rendered, such as a print before its elastic field: part of the view -> blob name."""


@dataclass(frozen=True)
class Download:
    """Row of the download ledger: one request and its outcome."""

    name: str
    """Unique among the rows of one fetcher."""
    fetcher: str
    """The fetcher leaf, such as that of a site."""
    url: str
    """Requested address, without keys or signatures."""
    final_url: str | None
    """After redirects, without its query."""
    status: str
    """``obtained``; ``gone`` (a tombstone: upstream has it no longer); ``refused`` (by us, or by its contents); ``failed`` (for
    now; the next run tries again)."""
    reason: str | None
    """Reason why there is no file; None when there is one."""
    http_status: int | None
    tries: int
    bytes: int | None
    sha256: str | None
    etag: str | None
    media_type: str | None
    blob: str | None
    retrieved_at: str | None
    """UTC, ISO 8601, to the second; of the tombstone when there never was a file."""
    licence: str | None = None
    """A name or SPDX id such as ``CC-BY-2.0``, as the fetcher states it."""
    licence_url: str | None = None
    licence_history: Plain = field(default_factory=dict)
    """``{"changes": [{"at": ..., "old": ..., "new": ...}], "checked_at": ...}``: the proof of the licence, of tombstones too."""
    author: str | None = None
    page_url: str | None = None
    title: str | None = None
    rendition: str | None = None
    """Rendition that was downloaded, of several on offer, e.g. ``HD MP4 1920x1080``."""
    details: Plain = field(default_factory=dict)
    """Further facts of the listing that rules can use, such as ``uploaded``."""


@dataclass(frozen=True)
class Answer:
    """Majority answer of raters about one subject; a row of the table ``answers``."""

    subject_id: str
    question: str
    """Catalogue name, e.g. ``keep_reject``."""
    answer: str | None
    """None with a reason where votes did not agree."""
    reason: str | None
    votes: int
    agreement: float | None
    """Share of the votes that gave ``answer``, 0..1; on a scale of numbers, of those within one step of it."""


@dataclass(frozen=True)
class Selection:
    """Verdict of one rule on one clip."""

    clip_id: str
    rule: str
    value: float | str | None
    keep: bool
    reason: str | None
    """Reason why the clip is dropped."""


@dataclass(frozen=True)
class Clip:
    """A span of one source after normalisation, encoded once; what decoding the blob gives is the truth, if there is one."""

    clip_id: str
    source_id: str
    start_frame: int
    """First frame in the source, counted over the frames that decode, at the clip's rate where the source was retimed."""
    end_frame: int
    fps: float
    width: int
    height: int
    frames: int
    blob: str
    """Blob name of the encoded clip."""
    yuv_sha256: str
    """Hash of the decoded planes, fixed by the standard of the codec, equal with any decoder."""
    rgb_sha256: str
    """Hash of the RGB frames as ``video`` decodes them."""
    encode_crf: int | None
    """Quality factor on the encoder's own scale; 0 is lossless, None where a bit rate was asked for."""
    encode_psnr_db: float
    """PSNR of the encoded against the normalised frames, over all YUV values."""
    encoder: str | None = None
    """FFmpeg's name of the encoder where it is another than libx264."""


@dataclass(frozen=True)
class Attribute:
    """One measured or human fact about a subject (source, clip, corruption ...); its number is ``stated``."""

    subject_id: str
    name: str
    value: float | str | None
    reason: str | None
    """Reason why ``value`` is None; None when there is a value."""
    producer: str
    producer_version: str
    blob: str | None = None
    """Blob name, for facts that are data (joints, timed text, homographies)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", stated(self.value))


@dataclass(frozen=True)
class Corruption:
    """Degradation that turns the truth of one clip into the input of one item."""

    corruption_id: str
    clip_id: str
    generator: str
    parameters: Plain
    seed: int
    parent_id: str | None
    hole: str | None
    """Blob name of the lossless hole track."""
    hole_sha256: str | None
    """Hash of the hole as ``bool[T, H, W]`` bytes."""
    alpha: str | None = None
    """Blob name of the overlay's opacity track, for corruptions that paint over pixels."""
    input: str | None = None
    """Blob name of the corrupted frames, where they are more than the truth with its hole filled."""
    input_sha256: str | None = None
    """Hash of the input's decoded RGB frames."""
    object_mask: str | None = None
    """Blob name of the lossless track of the object that an edit is about, or that is to be removed."""
    object_mask_sha256: str | None = None
    """Hash of the object mask as ``bool[T, H, W]`` bytes."""
    effect_mask: str | None = None
    """Blob name of the lossless track of what the object changes outside itself, such as its shadow."""
    effect_mask_sha256: str | None = None
    """Hash of the effect mask as ``bool[T, H, W]`` bytes."""
    facts: Plain = field(default_factory=dict)
    """Parameters drawn by the generator, ``stated``; measuring turns them into attributes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", stated(self.facts))


@dataclass(frozen=True)
class Item:
    """One clip with one corruption: the unit that is predicted and scored."""

    item_id: str
    clip_id: str
    corruption_id: str
    split: str = "test"


@dataclass(frozen=True)
class Slice:
    """A named subset of items with its frozen membership, in order."""

    name: str
    rule: str
    """The predicate in words, e.g. ``camera_motion_level == 'high'``."""
    item_ids: Sequence[str]


@dataclass(frozen=True)
class Dataset:
    """The frozen manifest: what ``dataset.json`` and the tables beside it hold."""

    name: str
    recipe: Plain
    items: Sequence[Plain]
    """One row an item: ids, media paths in the dataset, geometry, decoded hashes, attributes, licence."""
    slices: tuple[Slice, ...]
    left_out: Mapping[str, str]
    """Slices without items, with the reason."""
    files: Mapping[str, str]
    """Path in the dataset -> SHA-256 of the file."""
    versions: Mapping[str, str]
    format_version: int = 4
    about: str = ""
    """Description of the benchmark for its card, in Markdown."""
    version: str = "1.0.0"
    """Version of the dataset, numbered by its publisher."""
    removed: tuple[Plain, ...] = ()
    """Tombstones: ``item_id`` and ``reason`` of items that an earlier version had; their ids are never given again."""
    facts: Plain = field(default_factory=dict)
    """Facts for the card besides the rows: raters and their agreement, calibration of rules, licences that a publisher
    stated, what is held back, the whole that this is a part of."""
    manifest_sha256: str = ""
    """SHA-256 that the manifest states of itself; empty of a dataset that was not read."""


@dataclass(frozen=True)
class Prediction:
    """Output of a method for one item: its hole pixels on black, or whole frames."""

    method: str
    method_version: str
    item_id: str
    blob: str
    full_frames: bool
    largest_change_outside: int
    """Largest difference of a known pixel from the input, 0..255: metrics ignore it, honest methods leave 0."""
    ceiling_db: float | None = None
    """PSNR of the input, all samples, written as the program writes its results; None where that loses nothing."""
    known_db: float | None = None
    """PSNR in dB of known pixels against the input; None where none changed, and of earlier releases."""


@dataclass(frozen=True)
class Score:
    """One measurement with everything that identifies it."""

    method: str
    item_id: str
    metric: str
    region: str
    protocol: str
    fingerprint: str
    """Hash of the protocol: of every constant that can change the number."""
    value: float | None
    """May be infinite (identical frames); never NaN. None also where the metric compares sets of items: see ``features``."""
    reason: str | None
    details: Plain = field(default_factory=dict)
    features: str | None = None
    """Blob name of the prediction's feature vectors, ``float32[n, d]``, for metrics that compare sets of items."""
    truth_features: str | None = None
    """Blob name of the truth's feature vectors, ``float32[n, d]``."""
    measured: Mapping[str, str] | None = None
    """SHA-256 of the files that it was measured of, as these were read: ``truth``, ``hole``, ``input``, ``prediction``, as many
    as there are. None where nobody recorded it, as in release 0.2."""


@dataclass(frozen=True)
class SliceScore:
    """One number for all items of a slice, by a metric that compares sets of items."""

    method: str
    slice: str
    metric: str
    region: str
    protocol: str
    fingerprint: str
    value: float | None
    reason: str | None
    """Reason why ``value`` is None, or None."""
    standard_error: float | None
    interval_low: float | None
    interval_high: float | None
    details: Plain = field(default_factory=dict)
    """Among others ``n``, the vectors in the smaller set, ``d``, their length, ``items`` and ``missing`` items."""
