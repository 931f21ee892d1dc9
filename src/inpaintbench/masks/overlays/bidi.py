"""Unicode bidirectional algorithm (annex 9): embedding levels of a paragraph, and the visual order of its pieces.

Explicit embeddings and isolates are not among the characters that are drawn, so that only the implicit rules W, N and I apply.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")

_BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "「": "」", "『": "』", "【": "】", "《": "》", "〈": "〉"}
_CLOSING = frozenset(_BRACKETS.values())
_NEUTRAL = frozenset({"B", "S", "WS", "ON"})
# Direction of letters and numbers beside neutrals (rule N1).
_STRONG = {"L": "L", "R": "R", "EN": "R", "AN": "R"}
# Size of the stack of open brackets (BD16).
_MOST_OPEN = 63


def base_level(text: str) -> int:
    """Paragraph level by its first letter with a direction: 0 = left to right, 1 = right to left."""
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in ("L", "R", "AL"):
            return int(kind != "L")
    return 0


def levels(text: str) -> list[int]:
    """Embedding level of each character of a paragraph: even = left to right, odd = right to left."""
    base = base_level(text)
    direction = "R" if base else "L"
    kinds = _weak([unicodedata.bidirectional(letter) or "L" for letter in text], direction)
    _pair_brackets(text, kinds, direction)
    _neutral(kinds, direction)
    raised = {"L": base % 2, "R": 1 - base % 2, "EN": 2 - base % 2, "AN": 2 - base % 2}
    return [base + raised[kind] for kind in kinds]


def seen_order(pieces: Sequence[T], level_of: Callable[[T], int]) -> list[T]:
    """Visual order, left to right, of the pieces of a line: runs are reversed from the highest level down to 1 (rule L2)."""
    ordered = list(pieces)
    highest = max(map(level_of, pieces), default=0)
    for level in range(highest, 0, -1):
        runs = [(inside, list(run)) for inside, run in groupby(ordered, lambda piece: level_of(piece) >= level)]  # noqa: B023
        ordered = [piece for inside, run in runs for piece in (reversed(run) if inside else run)]
    return ordered


def _weak(kinds: list[str], paragraph: str) -> list[str]:
    """Resolve weak types (rules W1 to W7): marks, numbers, and separators in and beside numbers."""
    before = strong = paragraph
    for index, kind in enumerate(kinds):
        if kind in ("NSM", "BN"):
            kind = before
        elif kind == "EN" and strong == "AL":
            kind = "AN"
        kinds[index] = before = kind
        strong = kind if kind in ("L", "R", "AL") else strong
    kinds[:] = ["R" if kind == "AL" else kind for kind in kinds]
    for index in range(1, len(kinds) - 1):
        left, kind, right = kinds[index - 1 : index + 2]
        if left == right and ((kind == "CS" and left in ("EN", "AN")) or (kind == "ES" and left == "EN")):
            kinds[index] = left
    _terminators(kinds)
    strong = paragraph
    for index, kind in enumerate(kinds):
        strong = kind if kind in ("L", "R") else strong
        kinds[index] = "ON" if kind in ("ES", "ET", "CS") else "L" if kind == "EN" and strong == "L" else kind
    return kinds


def _terminators(kinds: list[str]) -> None:
    """Attach percent and currency signs to a number beside them (rule W5)."""
    start = 0
    for kind, run in groupby(list(kinds)):
        end = start + len(list(run))
        beside = {kinds[start - 1] if start else "", kinds[end] if end < len(kinds) else ""}
        if kind == "ET" and "EN" in beside:
            kinds[start:end] = ["EN"] * (end - start)
        start = end


def _pair_brackets(text: str, kinds: list[str], paragraph: str) -> None:
    """Resolve pairs of brackets (rule N0): both take the direction of their content, else of the text before them."""
    for opening, closing in _bracket_pairs(text, kinds):
        inside = {_STRONG.get(kind, "") for kind in kinds[opening + 1 : closing]} - {""}
        if paragraph in inside:
            kinds[opening] = kinds[closing] = paragraph
        elif inside:
            before = next((_STRONG[kind] for kind in reversed(kinds[:opening]) if kind in _STRONG), paragraph)
            kinds[opening] = kinds[closing] = before


def _bracket_pairs(text: str, kinds: Sequence[str]) -> list[tuple[int, int]]:
    waiting: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for index, letter in enumerate(text):
        if kinds[index] != "ON":
            continue
        if letter in _BRACKETS:
            if len(waiting) == _MOST_OPEN:
                return sorted(pairs)
            waiting.append((_BRACKETS[letter], index))
        elif letter in _CLOSING:
            depth = next((at for at in reversed(range(len(waiting))) if waiting[at][0] == letter), None)
            if depth is not None:
                pairs.append((waiting[depth][1], index))
                del waiting[depth:]
    return sorted(pairs)


def _neutral(kinds: list[str], paragraph: str) -> None:
    """Resolve neutrals (rules N1 and N2): between two letters of one direction they take it, else the paragraph's."""
    start, before = 0, paragraph
    for neutral, run in groupby(list(kinds), lambda kind: kind in _NEUTRAL):
        letters = list(run)
        end = start + len(letters)
        if neutral:
            after = _STRONG[kinds[end]] if end < len(kinds) else paragraph
            kinds[start:end] = [before if before == after else paragraph] * (end - start)
        else:
            before = _STRONG[letters[-1]]
        start = end
