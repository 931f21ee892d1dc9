"""Side effects of objects that people state of their clips, in a table or by the names of folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.table_files import read_rows

KINDS = ("shadow", "reflection", "mirror", "translucency", "light")
STRENGTHS = ("low", "mid", "high")
# Without a side effect, and with several.
COMMON, COMBINED = "common", "combined"
CLIP, KIND, STRENGTH = "clip", "side_effect", "strength"
# Between several side effects of one clip.
_AND = "+"
# Words in the names of folders that say which side effect an object has.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "shadow": ("shadow",), "reflection": ("reflection", "reflecting"), "mirror": ("mirror",),
    "translucency": ("translucent", "translucency"), "light": ("light", "light_source"), COMMON: (COMMON,),
}  # fmt: skip


@dataclass(frozen=True)
class Stated:
    """What is stated of a clip's side effect."""

    kind: str | None = None
    """One of ``KINDS``, ``COMMON`` or ``COMBINED``; None where nothing is stated."""
    strength: str | None = None
    """One of ``STRENGTHS``; None where nobody says it."""
    several: tuple[str, ...] = ()
    """The kinds of a combined one."""


def by_folders(name: str) -> Stated:
    """What the folders of a clip are named after: ``shadow/high/dog`` has a strong shadow."""
    words = {part.lower() for part in Path(name).parts}
    kind = next((kind for kind, names in _WORDS.items() if words & set(names)), None)
    levels = words.intersection(STRENGTHS)
    strong = kind in KINDS and len(levels) == 1
    return Stated(kind, levels.pop() if strong else None)


def read_effects(path: Path) -> dict[str, Stated]:
    """Clip -> what a table with the columns ``clip``, ``side_effect`` and, if need be, ``strength`` states of it.

    Raises:
        InputError: not such a table; an unknown side effect or strength; a clip twice.
    """
    stated: dict[str, Stated] = {}
    for row in read_rows(path, called="table of side effects", known=(CLIP, KIND, STRENGTH)):
        texts = {name: str(value).strip() for name, value in row.fields.items()}
        if unknown := sorted(texts.keys() - {CLIP, KIND, STRENGTH}):
            raise InputError(f"{path.name}: {unknown_name('column', unknown[0], [CLIP, KIND, STRENGTH])}")
        if CLIP not in texts or KIND not in texts:
            raise InputError(f"{row.where} needs a {CLIP} and its {KIND}")
        if texts[CLIP] in stated:
            raise InputError(f"{row.where} names the clip {texts[CLIP]!r} again")
        stated[texts[CLIP]] = _of_words(texts[KIND], texts.get(STRENGTH), where=row.where)
    if not stated:
        raise InputError(f"{path.name} has no rows: it needs the columns {CLIP}, {KIND} and, if need be, {STRENGTH}")
    return stated


def _of_words(effect: str, strength: str | None, *, where: str) -> Stated:
    kinds = tuple(dict.fromkeys(word.strip() for word in effect.split(_AND)))
    choices = KINDS if len(kinds) > 1 else (*KINDS, COMMON, COMBINED)
    for kind in kinds:
        if kind not in choices:
            raise InputError(f"{where}: {unknown_name('side effect', kind, list(choices))}")
    if strength is not None and strength not in STRENGTHS:
        raise InputError(f"{where}: {unknown_name('strength', strength, list(STRENGTHS))}")
    if strength is not None and kinds == (COMMON,):
        raise InputError(f"{where}: what has no side effect has no strength")
    return Stated(kinds[0], strength) if len(kinds) == 1 else Stated(COMBINED, strength, kinds)
