"""Font lookup by fontconfig's programs where they are installed, else the bundled DejaVu Sans."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from PIL import ImageFont, features

from inpaintbench.errors import InputError

# Family name of the DejaVu Sans in this package: one upright face, from which bold and italic ones are synthesised.
BUNDLED = "bundled"
FAMILIES = ("DejaVu Sans", "Liberation Sans", "Liberation Serif", "Liberation Mono", "Noto Sans")

_BUNDLED_PATH = str(Path(__file__).parent / "fonts" / "DejaVuSans.ttf")
# Weights in fontconfig's units.
_REGULAR, _BOLD = 80, 200
# Size at which glyphs are compared with the one for missing characters.
_PROBE_PIXELS = 24
# Not a character, so that every font draws its glyph for missing ones.
_NO_CHARACTER = "\uffff"


@dataclass(frozen=True)
class FontFile:
    """Font file with the styles to synthesise."""

    path: str
    index: int = 0
    embolden: bool = False
    """Synthesise bold: the family has no bold face."""
    slant: bool = False
    """Synthesise italic: the family has no italic face."""


class _Face(NamedTuple):
    families: tuple[str, ...]
    path: str
    number: int
    weight: float
    slant: float
    width: float


def find_font(
    family: str, *, bold: bool = False, italic: bool = False, characters: str = "", substitute: bool = False
) -> FontFile:
    """Find the face of ``family`` for ``characters``, or another installed one that has those the family lacks.

    ``substitute`` accepts fontconfig's substitute for a missing family (families named by subtitle files); where there is none,
    and for ``"bundled"``, the bundled DejaVu Sans is used.

    Raises:
        InputError: the family is not installed or, without fontconfig, cannot be looked up; or no installed font has all
            ``characters``.
    """
    primary = _family_face(family, bold, italic, substitute)
    lacking = missing(primary, characters)
    if not lacking:
        return primary
    codes = " ".join(f"{ord(letter):x}" for letter in sorted(set(lacking)))
    faces = _listed(f":outline=true:variable=false:charset={codes}")
    if not faces and not _faces():
        faces = (_Face((BUNDLED,), _BUNDLED_PATH, 0, _REGULAR, 0, 100),)
    for face in _closest(faces, bold=bold, italic=italic):
        fallback = _font_file(face, bold=bold, italic=italic)
        if not missing(fallback, characters):
            return fallback
    named = ", ".join(f"{letter!r} (U+{ord(letter):04X})" for letter in sorted(set(lacking))[:8])
    raise InputError(
        f"no installed font has the characters {named}: install one, e.g. fonts-noto-cjk or fonts-noto-core on Debian"
    )


def split_by_font(text: str, family: str, *, bold: bool, italic: bool, substitute: bool) -> list[tuple[str, FontFile]]:
    """Split ``text`` into pieces, each with its face: that of ``family`` wherever it has the characters.

    Raises:
        InputError: as ``find_font``.
    """
    primary = _family_face(family, bold, italic, substitute)
    lacking = set(missing(primary, text))
    pieces: list[tuple[str, FontFile]] = []
    for foreign, group in groupby(text, lambda letter: letter in lacking):
        letters = "".join(group)
        font = find_font(family, bold=bold, italic=italic, characters=letters, substitute=substitute) if foreign else primary
        # Spaces, marks and punctuation stay with the word before them; otherwise right-to-left text would be split.
        joined = _joining(letters, pieces[-1][1]) if pieces and not foreign else 0
        if joined:
            pieces[-1] = (pieces[-1][0] + letters[:joined], pieces[-1][1])
        if letters[joined:] and pieces and pieces[-1][1] == font:
            pieces[-1] = (pieces[-1][0] + letters[joined:], font)
        elif letters[joined:]:
            pieces.append((letters[joined:], font))
    return pieces


def _joining(letters: str, font: FontFile) -> int:
    """Number of characters at the start of ``letters`` that are neither letters nor digits and can be drawn with ``font``."""
    for count, letter in enumerate(letters):
        kind = unicodedata.category(letter)[0]
        if kind in "LN" or (kind != "M" and not _is_drawn(font.path, font.index, letter)):
            return count
    return len(letters)


def installed_families(families: Sequence[str] = FAMILIES) -> tuple[str, ...]:
    """Installed families among ``families``; ``("bundled",)`` when there are none."""
    known = {name.casefold() for face in _faces() for name in face.families}
    return tuple(family for family in families if family.casefold() in known) or (BUNDLED,)


@lru_cache(maxsize=256)
def load(font: FontFile, pixels: float) -> ImageFont.FreeTypeFont:
    """Load the face at ``pixels`` per em."""
    engine = ImageFont.Layout.RAQM if features.check("raqm") else ImageFont.Layout.BASIC
    return ImageFont.truetype(font.path, pixels, index=font.index, layout_engine=engine)


def missing(font: FontFile, characters: str) -> str:
    """Characters that the face has no glyph for."""
    # Control characters, spaces and marks draw no glyph of their own.
    drawn = (letter for letter in characters if unicodedata.category(letter)[0] not in "CZM")
    return "".join(letter for letter in drawn if not _is_drawn(font.path, font.index, letter))


def _is_drawn(path: str, index: int, letter: str) -> bool:
    return _glyph(path, index, letter) != _glyph(path, index, _NO_CHARACTER)


@lru_cache(maxsize=100_000)
def _glyph(path: str, index: int, letter: str) -> tuple[tuple[int, int], bytes]:
    """Bitmap of one character: size and bytes; all missing characters have the same."""
    mask = _probe(path, index).getmask(letter, mode="L")
    return mask.size, bytes(mask)


@lru_cache(maxsize=64)
def _probe(path: str, index: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, _PROBE_PIXELS, index=index, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=256)
def _family_face(family: str, bold: bool, italic: bool, substitute: bool) -> FontFile:
    if family == BUNDLED:
        return FontFile(_BUNDLED_PATH, embolden=bold, slant=italic)
    faces = _faces()
    matching = [face for face in faces if family.casefold() in {name.casefold() for name in face.families}]
    if not matching and substitute and not family.startswith("-"):
        escaped = "".join("\\" + letter if letter in "\\-:," else letter for letter in family)
        names = set(_run("fc-match", "--format=%{family}", escaped).casefold().split(","))
        matching = [face for face in faces if names & {name.casefold() for name in face.families}]
    if not matching and substitute:
        return _family_face(BUNDLED, bold, italic, False)
    if not matching:
        raise _not_installed(family)
    return _font_file(_closest(matching, bold=bold, italic=italic)[0], bold=bold, italic=italic)


def _not_installed(family: str) -> InputError:
    if shutil.which("fc-list") is None:
        return InputError(
            f"the font family {family!r} cannot be looked for, because fontconfig's program fc-list is missing: install it "
            f"(Debian: apt install fontconfig, macOS: brew install fontconfig), or choose {BUNDLED!r}, which always works"
        )
    names = sorted({name for face in _faces() for name in face.families})
    if not names:
        return InputError(f"the font family {family!r} is not installed; no font is, so choose {BUNDLED!r}, which always works")
    near = difflib.get_close_matches(family, names, n=3, cutoff=0.4) or names[:5]
    words = family.lower().split()
    packages = " or ".join(dict.fromkeys(["fonts-" + "-".join(words[:1]), "fonts-" + "-".join(words)]))
    return InputError(
        f"the font family {family!r} is not installed; installed are e.g. {', '.join(map(repr, near))}, and {BUNDLED!r} always "
        f"works. On Debian a package such as {packages} may bring it"
    )


def _closest(faces: Sequence[_Face], *, bold: bool, italic: bool) -> list[_Face]:
    """Sort faces, best first: normal width, right weight, right slant; then in the order of ``FAMILIES``, then by path."""
    weight = _BOLD if bold else _REGULAR

    def distance(face: _Face) -> tuple[float, float, bool, int, str, int]:
        known = [FAMILIES.index(name) for name in face.families if name in FAMILIES]
        rank = min(known, default=len(FAMILIES))
        return abs(face.width - 100), abs(face.weight - weight), (face.slant > 0) != italic, rank, face.path, face.number

    return sorted(faces, key=distance)


def _font_file(face: _Face, *, bold: bool, italic: bool) -> FontFile:
    return FontFile(face.path, face.number, embolden=bold and face.weight < 150, slant=italic and face.slant == 0)


def _faces() -> tuple[_Face, ...]:
    """Installed outline fonts that are not variable fonts; none without fontconfig."""
    return _listed(":outline=true:variable=false")


@lru_cache(maxsize=1000)
def _listed(pattern: str) -> tuple[_Face, ...]:
    output = _run("fc-list", "--format=%{file}\t%{index}\t%{family}\t%{weight}\t%{slant}\t%{width}\n", pattern)
    faces = []
    for line in output.splitlines():
        path, index, families, weight, slant, width = line.split("\t")
        if weight.replace(".", "").isdecimal() and width.replace(".", "").isdecimal():
            names = tuple(name.strip() for name in families.split(","))
            faces.append(_Face(names, path, int(index), float(weight), float(slant or 0), float(width)))
    return tuple(sorted(faces, key=lambda face: (face.path, face.number)))


def _run(program: str, *arguments: str) -> str:
    """Output of a program of fontconfig; empty where it is not installed or fails."""
    try:
        completed = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout if completed.returncode == 0 else ""
