"""How answers were seen: facts that browsers tell with them, conditions on these, and the section of the report."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from inpaintbench.annotate.records import Standing, Vote
from inpaintbench.annotate.report.records import Material
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, number, percent, span

_NUMBERS = ("width", "scale", "pixel_ratio", "zoom", "hidden_seconds", "dropped_frames")
_YES_OR_NO = ("full_screen", "portrait")
_WORDS = ("browser", "frame_source")
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<|=)\s*(\S.*?)\s*")
# A fact that is a problem, in words, and when it is one.
_PROBLEMS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("fewer pixels of the screen than of the proxy", lambda seen: seen["scale"] < 1),
    ("enlarged by two fingers", lambda seen: seen["zoom"] > 1.01),
    ("page hidden for a second or longer", lambda seen: seen["hidden_seconds"] >= 1),
    ("more than 5 % of the frames dropped", lambda seen: seen["dropped_frames"] > 0.05 * max(1, seen["watched_frames"])),
    ("a browser that does not tell its frames", lambda seen: seen["frame_source"] == "poll"),
    ("held upright", lambda seen: bool(seen["portrait"])),
    ("not in full screen", lambda seen: not seen["full_screen"]),
)


def condition(text: str) -> Callable[[Vote], bool]:
    """The answers that were seen so, such as ``width>=200``, ``full_screen=yes``, ``browser=Chrome``; others do not fulfil it.

    Raises:
        InputError: no such fact, or a value that it cannot have.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no condition; write FACT>=NUMBER, FACT=yes or FACT=WORD, such as width>=200")
    name, sign, said = match.groups()
    if name in _NUMBERS:
        try:
            limit = float(said)
        except ValueError as error:
            raise InputError(f"{text!r}: {said!r} is no number") from error
        return lambda vote: vote.seen is not None and _COMPARED[sign](vote.seen[name], limit)
    if name not in (*_YES_OR_NO, *_WORDS):
        raise InputError(unknown_name("fact", name, [*_NUMBERS, *_YES_OR_NO, *_WORDS]))
    if sign != "=" or (name in _YES_OR_NO and said not in ("yes", "no")):
        raise InputError(f"{text!r}: {name} takes {'=yes or =no' if name in _YES_OR_NO else '= and a word'}")
    if name in _YES_OR_NO:
        return lambda vote: vote.seen is not None and vote.seen[name] == (said == "yes")
    # Chrome, or Chrome 130.
    return lambda vote: vote.seen is not None and said in (vote.seen[name], vote.seen[name].split()[0])


def seen_so(standing: Standing, conditions: Sequence[str]) -> Standing:
    """The answers that fulfil all ``conditions``; see ``condition``.

    Raises:
        InputError: as ``condition``.
    """
    held = [condition(text) for text in conditions]

    def of(votes: Sequence[Vote]) -> list[Vote]:
        return [vote for vote in votes if all(holds(vote) for holds in held)]

    return replace(standing, votes=of(standing.votes), everything=of(standing.everything), excluded=of(standing.excluded))


def viewing_parts(material: Material) -> tuple[object, ...]:
    """Sizes, problems and browsers of the answers, and what encoding the proxies lost."""
    seen = [vote.seen for vote in material.votes if vote.seen is not None]
    parts: list[object] = [_losses(material)]
    if seen:
        parts += [_table("Problem", _problems(seen), len(seen)), _table("Browser", _browsers(seen), len(seen))]
    widths, scales = [one["width"] for one in seen], [one["scale"] for one in seen]
    sizes = f"Smallest pictures: {min(widths)} CSS pixels wide, median {median(widths):.0f}; " if seen else ""
    scaled = (
        f"{span(number(min(scales), 2), number(max(scales), 2))} pixels of the screen for each of the proxy. " if seen else ""
    )
    told = f"Told with {len(seen):,} of {count(len(material.votes), 'answer')}. "
    note = f"{sizes}{scaled}{told}A report of some of them: `annotate report --seen width>=200`."
    return (*[part for part in parts if part], note)


def _problems(seen: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter({words: sum(map(holds, seen)) for words, holds in _PROBLEMS})


def _browsers(seen: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter(str(one["browser"]).split()[0] for one in seen)


def _table(heading: str, counted: Counter[str], of: int) -> Table:
    rows = tuple(Row((Cell(words), Cell(f"{n:,}"), Cell(percent(n / of)))) for words, n in counted.most_common())
    return Table((Column(heading), Column("Answers", numeric=True), Column("Share", numeric=True)), rows, label=heading)


def _losses(material: Material) -> str:
    """What encoding did to the proxies, in a sentence; empty where nobody measured it."""
    known = [proxy for proxy in material.study.proxies.values() if proxy.psnr_db is not None]
    added = [proxy.flicker_added for proxy in known if proxy.flicker_added is not None]
    if not known:
        return ""
    sharp = [proxy.psnr_db for proxy in known if proxy.psnr_db is not None]
    flicker = f", flicker {median(added):+.3f} levels of 255 (most {max(added, key=abs):+.3f})" if added else ""
    return f"Proxies against what was made: {median(sharp):.1f} dB PSNR of luma (least {min(sharp):.1f}){flicker}."
