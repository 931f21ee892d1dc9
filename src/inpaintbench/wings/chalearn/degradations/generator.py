"""Generator of degraded fingerprints: worn, smeared and faded, on a background."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.files import file_sha256
from inpaintbench.lazily import lazily
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Amount, WholeLevel
from inpaintbench.types import item_rng
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.degradations import backgrounds as surfaces
from inpaintbench.wings.chalearn.degradations import corrected, published
from inpaintbench.wings.chalearn.degradations.corrected import lay_blocks
from inpaintbench.wings.chalearn.degradations.planes import Grey, Rgb
from inpaintbench.wings.chalearn.fingerprints.fields import warp
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Print
from inpaintbench.wings.chalearn.fingerprints.skin import elastic_field_of

cv2 = lazily("cv2")

Recipe = Literal["corrected", "as-published"]
# Effects of each recipe: `lines` first, the others in random order, `blocks` over everything.
EFFECTS = {"as-published": ("lines", *published.EFFECTS), "corrected": ("lines", *corrected.EFFECTS, "blocks")}
BACKGROUNDS = ("procedural", "photographs", "white", "none")
MOST_STRENGTH = 4.0
Facts = dict[str, Any]
# A degraded print and the facts of each effect.
Degraded = tuple[Grey, list[Facts]]


class FingerprintDegradation(Generator):
    """A print with worn lines and, in soft regions, blur, fading, low contrast, low resolution, rotation; on a background.

    Source: "ChaLearn Looking at People: inpainting and denoising challenges" (2021), track 3. ``as-published`` is its recipe
    with its oddities (``published``); ``corrected`` is the same idea without them, with dry and wet skin and
    opaque blocks besides (``corrected``). Lengths are those at 500 pixels per inch and grow with the
    print's. The effects are laid on the undistorted print and bent with it by its elastic field, so every ridge of the input
    lies where it does in the truth. Without effects ``corrected`` on white, and either recipe on ``none``, gives the truth
    itself. Each effect has its own random stream: neither strength nor the other effects change what is drawn for it.

    Facts: ``recipe``, ``strength``, ``background`` (its kind), ``background_file`` and ``background_sha256`` (name of a
    photograph, SHA-256 of its file), ``order`` of the effects, ``effects`` (name and parameters of each, in that order),
    ``lines`` and ``blocks`` (how many), ``jpeg_quality`` where there is one; ``wear_rms``, how far the print itself is from the
    truth before it lies on its background, and ``change_rms``, how far the input is, in grey levels (ITU-R 601), root of the
    mean square, 0..1.
    """

    name = "fingerprint_degradation"
    version = "1"
    needs = ("undistorted", "print")
    same_draw = ("recipe", "strength", "effects", "jpeg_quality")

    def __init__(
        self,
        *,
        recipe: Recipe = "corrected",
        strength: Amount = 1.0,
        effects: Sequence[str] | None = None,
        backgrounds: str | Sequence[str] = "procedural",
        jpeg_quality: WholeLevel | None = None,
        folder: str | None = None,
    ) -> None:
        """Settings of the degradation.

        Args:
            recipe: ``corrected`` or ``as-published``.
            strength: factor of every effect, 0 (none) to 4; at 1 ``as-published`` is the challenge's.
            effects: a selection of ``EFFECTS[recipe]``; None = all.
            backgrounds: ``procedural`` for any of ``masks.fingerprints.backgrounds.MATERIALS``, a list of them to draw from,
                ``photographs`` of ``folder``, ``white``, or ``none`` for the grey print as it is.
            jpeg_quality: 1 to 100 for compression with JPEG, as of the challenge's inputs (75); None = no compression.
            folder: of pictures for ``photographs``.

        Raises:
            InputError: a number out of range, an effect of another recipe, or a folder without pictures.
            UnknownNameError: a choice that is not listed here.
        """
        self.recipe = known_name("recipe of degradation", recipe, get_args(Recipe))
        if isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= MOST_STRENGTH:
            raise InputError(
                f"strength is {strength!r}, give a number from 0 (no effect) to {MOST_STRENGTH:g}; 1 is the challenge's"
            )
        self.strength = float(strength)
        if isinstance(effects, str):
            raise InputError(f"effects is {effects!r}, give a list of names, such as ['lines', 'blur']")
        for name in effects or ():
            if name in EFFECTS["corrected"] and name not in EFFECTS[recipe]:
                raise InputError(f"effect {name!r} is not one of recipe {recipe!r}: leave it out, or use recipe 'corrected'")
            known_name("effect", name, EFFECTS[recipe])
        # Each once, in the recipe's order.
        self.effects = tuple(name for name in EFFECTS[recipe] if effects is None or name in effects)
        self.kinds: tuple[str, ...]
        if isinstance(backgrounds, str):
            known_name("backgrounds", backgrounds, (*BACKGROUNDS, *surfaces.MATERIALS))
            self.kinds = tuple(surfaces.MATERIALS) if backgrounds == "procedural" else (backgrounds,)
        elif backgrounds:
            self.kinds = tuple(known_name("background", kind, surfaces.MATERIALS) for kind in backgrounds)
        else:
            known = ", ".join(surfaces.MATERIALS)
            raise InputError(f"backgrounds is {backgrounds!r}, name at least one of {known}, or say 'none'")
        if (self.kinds == ("photographs",)) != (folder is not None):
            raise InputError(
                f"backgrounds is {backgrounds!r} and folder is {folder!r}: photographs need both "
                "backgrounds 'photographs' and their folder, and nothing else takes a folder"
            )
        if jpeg_quality is not None and (isinstance(jpeg_quality, bool) or jpeg_quality not in range(1, 101)):
            raise InputError(f"jpeg_quality is {jpeg_quality!r}, give a whole number from 1 to 100, or None for no JPEG")
        self.jpeg_quality = jpeg_quality
        self.folder = folder or ""
        self.photographs = surfaces.list_photographs(folder) if folder is not None else ()

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """The degraded print as ``input``, ``uint8[1, H, W, 3]``; no hole.

        Raises:
            Rejected: more than one frame.
            InputError: a photograph cannot be read; it is named.
        """
        if view.frames != 1:
            raise Rejected(f"the clip has {view.frames} frames, but a print is one picture")
        undistorted = np.ascontiguousarray(view.undistorted[0, :, :, 0])
        print_ = Print.of_plain(view.print)
        stream = partial(item_rng, int(rng.integers(2**63)), item_id="")
        worn, effects = self._worn(undistorted, print_.finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH, stream)
        field = elastic_field_of(print_)
        truth, bent = warp(undistorted, field), warp(worn, field)
        picture, background = self._laid(bent, stream)
        if "blocks" in self.effects:
            picture, about = lay_blocks(picture, strength=self.strength, rng=stream("blocks"))
            effects.append({"name": "blocks", **about})
        if self.jpeg_quality is not None:
            quality = [cv2.IMWRITE_JPEG_QUALITY, self.jpeg_quality]
            _, encoded = cv2.imencode(".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), quality)
            picture = np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR_RGB), np.uint8)
            background["jpeg_quality"] = self.jpeg_quality
        counts = {effect["name"]: effect["count"] for effect in effects if effect["name"] in ("lines", "blocks")}
        facts = {
            "recipe": self.recipe,
            "strength": self.strength,
            **background,
            "order": [effect["name"] for effect in effects],
            "effects": effects,
            "lines": counts.get("lines", 0),
            "blocks": counts.get("blocks", 0),
            "wear_rms": _distance(bent, truth),
            "change_rms": _distance(picture, truth),
        }
        return Drawn(None, facts, input=picture[None])

    def _worn(self, picture: Grey, scale: float, stream: Callable[[str], np.random.Generator]) -> Degraded:
        """Degrade the ink of a print; return it with the facts of each effect."""
        known = published.EFFECTS if self.recipe == "as-published" else corrected.EFFECTS
        lines = published.draw_lines if self.recipe == "as-published" else corrected.draw_lines
        shuffled = [list(known)[i] for i in stream("order").permutation(len(known))]
        steps = [("lines", lines)] * ("lines" in self.effects) + [
            (name, known[name]) for name in shuffled if name in self.effects
        ]
        applied: list[Facts] = []
        for name, effect in steps:
            picture, about = effect(picture, strength=self.strength, scale=scale, rng=stream(name))
            applied.append({"name": name, **about})
        return picture, applied

    def _laid(self, picture: Grey, stream: Callable[[str], np.random.Generator]) -> tuple[Rgb, Facts]:
        """Composite of the print and a background, ``uint8[H, W, 3]``, with facts of the background."""
        kind, rng = self.kinds[int(stream("background kind").integers(len(self.kinds)))], stream("background")
        if kind == "none":
            return np.asarray(cv2.merge([picture] * 3), np.uint8), {"background": kind}
        facts, (height, width) = {"background": kind}, picture.shape
        if kind == "photographs":
            path = self.photographs[int(rng.integers(len(self.photographs)))]
            name = path.relative_to(self.folder).as_posix()
            facts |= {"background_file": name, "background_sha256": file_sha256(path)}
            smooth = self.recipe == "corrected"
            surface = surfaces.fit_photograph(surfaces.read_photograph(path), height, width, smooth=smooth, rng=rng)
        elif kind == "white":
            surface = np.full((height, width, 3), 255, np.uint8)
        else:
            surface = surfaces.draw_material(kind, height, width, rng=rng)
        lay = published.composite if self.recipe == "as-published" else corrected.composite
        return lay(picture, surface), facts


def _distance(picture: Rgb | Grey, truth: Grey) -> float:
    """Root mean squared difference of grey levels, 0..1."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture
    return float(cv2.norm(grey, truth, cv2.NORM_L2)) / math.sqrt(truth.size) / 255
