"""The sheet of clips that other thresholds would gain and lose."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from inpaintbench.curation.facts import Flags
from inpaintbench.curation.funnel.markup import breakable, count, percent, table, tile, tiles
from inpaintbench.curation.funnel.page import joined
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import drawable, figure, source_name
from inpaintbench.curation.what_if import WhatIf


def what_if_body(change: WhatIf, thumbnails: Thumbnails, names: Mapping[str, str], *, shown: int) -> tuple[str, dict[str, str]]:
    """The sections of the sheet, and their links: anchor -> title."""
    sections = {
        "counts": ("Counts", _counts(change)),
        "gained": ("Gained", _moved(change, change.gained, thumbnails, names, shown=shown, state="kept")),
        "lost": ("Lost", _moved(change, change.lost, thumbnails, names, shown=shown, state="dropped")),
    }
    return joined(sections)


def _counts(change: WhatIf) -> str:
    n = len(change.now.facts)
    told = [("kept now", change.now.kept), ("kept then", change.then.kept), ("gained", change.gained), ("lost", change.lost)]
    cards = "".join(_card(name, int(flags.sum()), n) for name, flags in told)
    colours = legend(waiting=bool(change.then.waiting.any()), other=True)
    return f'<dl class="cards">{cards}</dl>{_rules(change)}{colours}{_plots(change)}'


def _rules(change: WhatIf) -> str:
    """What is asked of each attribute now and then, side by side, and how many rules stay."""
    rows = []
    for subject in _subjects(change):
        now = [one.label for one in change.now.verdicts if one.rule and one.rule.subject == subject]
        then = [rule.words for rule in change.rules if rule.subject == subject]
        rows.append([breakable(subject), *("<br>".join(f"<code>{escape(one)}</code>" for one in told) or "no rule"
                                           for told in (now, then))])  # fmt: skip
    staying = len(change.now.verdicts) - len(change.replaced)
    more = f'<p class="note">{count(staying, "other rule")} {"stays" if staying == 1 else "stay"}.</p>' if staying else ""
    return f'<div class="asked">{table(["Attribute", "Rule now", "Rule then"], rows, label="Rules now and then")}{more}</div>'


def _subjects(change: WhatIf) -> list[str]:
    return list(dict.fromkeys(rule.subject for rule in change.rules))


def _card(name: str, found: int, n: int) -> str:
    return f'<div class="card {name}"><dt>{name}</dt><dd>{found:,}</dd><small>{percent(found, n)} of {n:,}</small></div>'


def _plots(change: WhatIf) -> str:
    """The new thresholds in the distributions, coloured by what would become of the clips."""
    bounds: dict[str, list[float]] = {}
    for rule in change.rules:
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    figures = [figure(change.then, subject, bounds=limits) for subject, limits in bounds.items()]
    return f'<div class="distributions">{"".join(figures)}</div>'


def _moved(change: WhatIf, moved: Flags, thumbnails: Thumbnails, names: Mapping[str, str], *, shown: int, state: str) -> str:
    places = change.places(moved)
    if not places:
        return '<p class="note">No clip.</p>'
    figures = [
        tile(thumbnails, place, name=source_name(change.now, place, names), lines=_lines(change, place), state=state)
        for place in places[:shown]
    ]
    rest = len(places) - shown
    more = f'<p class="note">and {rest:,} more, further from the threshold</p>' if rest > 0 else ""
    side = "that lets them in" if state == "kept" else "that drops them"
    order = f"nearest to the threshold {side} first, measured in the spread of its attribute"
    why = "with why they are dropped now" if state == "kept" else "with every reason then"
    return f'<p class="note">{count(len(places), "clip")}, {order}; {why}.</p>{tiles(figures)}{more}'


def _lines(change: WhatIf, place: int) -> list[str]:
    """Every reason, and the values of what no reason tells."""
    reasons = change.why(place)
    values = [f"{name} {value}" for name, value in change.values(place)]
    return [*reasons, *(told for told in values if not any(why.startswith(told.partition(" ")[0]) for why in reasons))]
