"""The sheet of clips that other thresholds would gain and lose: what its template shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inpaintbench.curation.facts import Flags
from inpaintbench.curation.funnel.page import NOTE
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import drawable, of_attribute
from inpaintbench.curation.what_if import WhatIf
from inpaintbench.pages import Link, Tile, page

_LINKS = tuple(Link(f"#{title.lower()}", title) for title in ("Counts", "Gained", "Lost"))


@dataclass(frozen=True)
class _Moved:
    """Clips on one side of the change."""

    total: int
    tiles: tuple[Tile, ...]
    which: str
    """The threshold that they are ordered by."""
    why: str
    """What their lines tell."""


def what_if_page(change: WhatIf, thumbnails: Thumbnails, *, title: str, subtitle: Sequence[str], shown: int) -> str:
    """The whole page as text."""
    told = [("kept now", change.now.kept), ("kept then", change.then.kept), ("gained", change.gained), ("lost", change.lost)]
    bounds: dict[str, list[float]] = {}
    for rule in change.rules:
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    gained = _tiles(change, change.gained, thumbnails, shown=shown, state="kept")
    lost = _tiles(change, change.lost, thumbnails, shown=shown, state="dropped")
    return page(
        "curation/funnel/what_if.html", title=title, subtitle=subtitle, links=_LINKS, rules=thumbnails.rules(), note=NOTE,
        n=len(change.now.facts),
        counts=[(name, int(flags.sum())) for name, flags in told],
        rules_asked=[(subject, *_asked(change, subject)) for subject in bounds],
        staying=len(change.now.verdicts) - len(change.replaced),
        legend=legend(waiting=bool(change.then.waiting.any()), other=True),
        # The new thresholds, coloured by what would become of the clips.
        distributions=[of_attribute(change.then, subject, bounds=limits) for subject, limits in bounds.items()],
        gained=_Moved(int(change.gained.sum()), gained, "that lets them in", "with why they are dropped now"),
        lost=_Moved(int(change.lost.sum()), lost, "that drops them", "with every reason then"),
    )  # fmt: skip


def _asked(change: WhatIf, subject: str) -> tuple[list[str], list[str]]:
    """What is asked of an attribute now and then."""
    now = [one.label for one in change.now.verdicts if one.rule and one.rule.subject == subject]
    return now, [rule.words for rule in change.rules if rule.subject == subject]


def _tiles(change: WhatIf, moved: Flags, thumbnails: Thumbnails, *, shown: int, state: str) -> tuple[Tile, ...]:
    places = change.places(moved)[:shown]
    return tuple(thumbnails.tile(place, lines=_lines(change, place), state=state) for place in places)


def _lines(change: WhatIf, place: int) -> list[str]:
    """Every reason, and the values of what no reason tells."""
    reasons = change.why(place)
    values = [f"{name} {value}" for name, value in change.values(place)]
    return [*reasons, *(told for told in values if not any(why.startswith(told.partition(" ")[0]) for why in reasons))]
