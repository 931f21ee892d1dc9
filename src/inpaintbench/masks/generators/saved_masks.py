"""Saved masks from folders in the layouts of DAVIS, YouTube-VOS, LaMa and ProPainter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from inpaintbench import regions, video
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.masks import saved_folder
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.masks.generators.devil_blobs import playing_order
from inpaintbench.ranges import Whole, WholeLevel
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

Lengthen = Literal["reject", "hold", "to_and_fro"]
Neighbourhood = Literal["square", "cross"]
# Tolerance of floating-point ratios that should be whole numbers.
_SLACK = 1e-6


class SavedMasks(Generator):
    """The hole of one sequence, or one image, of a folder of masks; ``rng`` is not used.

    Values are numbers of objects (palette images, or greys of at most 31) or grey levels; ``facts`` tell how they were read:
    ``sequence``, ``mask_frames``, ``polarity``, ``polarity_guessed`` (``yes`` or ``no``), ``objects`` and ``resized``. A
    longer sequence than the clip gives its first frames.
    """

    name = "saved_masks"
    version = "2"
    needs = ()

    def __init__(
        self,
        *,
        folder: str,
        sequence: str | Whole | None = None,
        layout: saved_folder.Layout = "auto",
        objects: Literal["all"] | Whole = "all",
        polarity: saved_folder.Polarity = "detect",
        threshold: WholeLevel | None = None,
        dilation_pixels: Whole = 0,
        neighbourhood: Neighbourhood = "square",
        resize: bool | Literal["cover"] = False,
        first_frame: Whole = 0,
        lengthen: Lengthen = "reject",
        content: str | None = None,
        folder_says: saved_folder.Vote | None = None,
    ) -> None:
        """Location and interpretation of the masks.

        Args:
            folder: in one of the layouts of ``saved_sequences.sequence_files``.
            sequence: its name in ``list_sequences``; None = the only one.
            layout: see ``saved_sequences.sequence_files``.
            objects: ``all``, or the number of the object to remove.
            polarity: ``white_is_hole``, ``black_is_hole`` or ``detect``: that of the folder as a whole, see
                ``saved_folder.folder_polarity``.
            threshold: values above it are white; by default 127, or 0 for object numbers.
            dilation_pixels: radius of a dilation of the hole. ProPainter's preparation is 4 with a ``cross``.
            neighbourhood: ``square`` (in all directions alike) or ``cross`` (that many times by a 3x3 cross: a diamond).
            resize: resize masks of another size to the clip's by nearest neighbour, instead of rejecting them; ``cover`` keeps
                their aspect ratio and crops the centre, as the normalizer ``cover`` does with frames.
            first_frame: frame of the sequence, counted from 0, that belongs to the first frame of the clip.
            lengthen: treatment of clips longer than the masks: ``reject``, ``hold`` the last one, or ``to_and_fro``.
            content: ``saved_sequences.content_of`` of the files, so that other files under the same names are another
                corruption; the masks are rejected where it differs.
            folder_says: an earlier result of ``saved_folder.folder_polarity``, so that files beside these masks cannot change
                them; None computes it.

        Raises:
            InputError: no such folder or sequence, or a number out of range.
            UnknownNameError: a choice that is not listed here.
        """
        known_name("mask polarity", polarity, saved_folder.POLARITIES)
        known_name("neighbourhood", neighbourhood, get_args(Neighbourhood))
        known_name("way to lengthen masks", lengthen, get_args(Lengthen))
        known_name("polarity of a folder", folder_says or "unclear", saved_folder.VOTES)
        if resize not in (True, False, "cover"):
            raise InputError(f"resize is {resize!r}, it must be true, false or cover")
        if first_frame < 0:
            raise InputError(f"first_frame is {first_frame}, it must be 0 or more")
        if dilation_pixels < 0:
            raise InputError(f"dilation_pixels is {dilation_pixels}, it must be 0 or more")
        if threshold is not None and not 0 <= threshold <= 254:
            raise InputError(f"threshold is {threshold}, it must be a grey level from 0 to 254")
        if objects != "all" and (isinstance(objects, str) or not 0 <= objects <= 255):
            raise InputError(f'objects is {objects!r}, it must be "all" or the number of an object, 0 to 255')
        self.sequences, self.folder_says = saved_folder.sequence_files(folder, layout=layout), folder_says
        if sequence is None and len(self.sequences) > 1:
            raise InputError(
                f"{folder} holds {len(self.sequences)} sequences of masks: name one of them as `sequence` "
                f"({', '.join(list(self.sequences)[:3])} ...)"
            )
        name = next(iter(self.sequences)) if sequence is None else str(sequence)
        self.sequence = known_name("sequence of masks", name, self.sequences)
        self.paths = self.sequences[self.sequence]
        self.objects, self.polarity, self.threshold = objects, polarity, threshold
        self.dilation_pixels, self.neighbourhood = dilation_pixels, neighbourhood
        self.resize, self.first_frame, self.lengthen, self.content = resize, first_frame, lengthen, content

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:  # noqa: ARG002 - leaf signature
        """Hole of the sequence, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: masks of another size or too few, an empty or full hole, or an unclear polarity.
            MediaError: a file is not a mask.
        """
        if self.content is not None and self.content != (content := saved_folder.content_of(self.paths)):
            raise Rejected(f"masks {self.sequence!r} have changed: their content is {content}, not {self.content}")
        order = self._order(view.frames)
        values, resized = self._values(view, sorted(set(order)))
        read = saved_folder.read_hole_from(
            values, polarity=self.polarity, objects=self.objects, threshold=self.threshold, detect=self._detect
        )
        if not read.hole.any():
            raise Rejected(f"masks {self.sequence!r} are empty: no pixel of {len(values)} frames is a hole")
        if not self.dilation_pixels or self.neighbourhood == "square":
            dilated = regions.dilate(read.hole, radius=self.dilation_pixels)
        else:
            dilated = regions.dilate_by_cross(read.hole, times=self.dilation_pixels)
        hole = dilated[np.searchsorted(sorted(set(order)), order)]
        if hole.all():
            raise Rejected(f"masks {self.sequence!r} are full: every pixel of {len(hole)} frames is a hole")
        facts = {
            "sequence": self.sequence,
            "mask_frames": len(self.paths),
            "polarity": read.polarity,
            "polarity_guessed": "yes" if read.guessed else "no",
            "objects": list(read.objects),
            "resized": "yes" if resized else "no",
        }
        return Drawn(hole, facts)

    def _detect(self, white: Hole) -> saved_folder.Polarity:
        """Polarity of the folder; unclear masks follow it, and none may contradict it."""
        folder = self.folder_says or saved_folder.folder_polarity(self.sequences, threshold=self.threshold)
        vote = saved_folder.vote_of(white)
        if folder == "unclear":
            others = ", and the other masks of the folder do not tell" if len(self.sequences) > 1 else ""
            look = f"cannot tell whether white or black is the hole ({saved_folder.look_of(white)})"
            raise Rejected(f"masks {self.sequence!r}: {look}{others}: {saved_folder.STATE_IT}")
        if vote not in (folder, "unclear"):
            raise Rejected(
                f"masks {self.sequence!r} look like {vote}, but those of the folder like {folder}: {saved_folder.STATE_IT}"
            )
        return folder

    def _values(self, view: ItemView, places: Sequence[int]) -> tuple[saved_folder.Values, bool]:
        """Values of the masks with indices ``places``, ``uint8[T, H, W]``, and True if they were resized."""
        images = [video.read_index_image(self.paths[place]) for place in places]
        misfits = [image.shape for image in images if image.shape != (view.height, view.width)]
        if misfits and not self.resize:
            raise Rejected(
                f"masks {self.sequence!r} are {misfits[0][1]}x{misfits[0][0]}, the clip {view.width}x{view.height}: "
                "resize them with `resize=true`, or take a clip of that size"
            )
        fitted = [self._fitted(image, view.width, view.height) if misfits else image for image in images]
        return np.asarray(np.stack(fitted), np.uint8), bool(misfits)

    def _fitted(self, image: saved_folder.Values, width: int, height: int) -> saved_folder.Values:
        rows, columns = height, width
        if self.resize == "cover":
            # The same integers as in the normalizer `cover`; the slack keeps exact multiples exact.
            ratio = max(width / image.shape[1], height / image.shape[0])
            columns, rows = (math.ceil(side * ratio - _SLACK) for side in image.shape[::-1])
        scaled = cv2.resize(image, (columns, rows), interpolation=cv2.INTER_NEAREST_EXACT)
        left, top = (columns - width) // 2, (rows - height) // 2
        return np.asarray(scaled[top : top + height, left : left + width], np.uint8)

    def _order(self, frames: int) -> list[int]:
        """Index of the mask of each frame of the clip."""
        end = self.first_frame + frames
        if len(self.paths) < end and self.lengthen == "reject":
            need = f"the clip {frames}" if not self.first_frame else f"the clip is of the frames {self.first_frame}..{end - 1}"
            raise Rejected(
                f"masks {self.sequence!r} have {len(self.paths)} frames, {need}: "
                "lengthen them with `lengthen=hold` or `lengthen=to_and_fro`"
            )
        known = min(len(self.paths), end)
        if self.lengthen == "to_and_fro":
            return playing_order(end, base_frames=known, reverse=False)[self.first_frame :]
        return [min(frame, known - 1) for frame in range(self.first_frame, end)]
