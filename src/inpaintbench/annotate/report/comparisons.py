"""The section of a question that compares methods, and how the dimensions go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from inpaintbench.annotate.questions.pairwise import BOTH_BAD, TIE
from inpaintbench.annotate.report.agreeing import agreement_panel, disputed_panel
from inpaintbench.annotate.report.facts import Estimate, Outcomes, Proportion, left_choices, outcomes, place_choices, selection
from inpaintbench.annotate.report.markup import colour, count, decimal, method_name, panel, percent
from inpaintbench.annotate.report.plots import axis, heat, round_marks, stacked, whisker
from inpaintbench.annotate.report.records import Material, ReportVote
from inpaintbench.annotate.statistics.ratings import answers_of, scheme_of

_NAMES = {TIE: "Hard to distinguish", BOTH_BAD: "Both bad"}
_TIE, _BAD = "var(--waiting)", "var(--bad)"
_HEAD = ("Method", "Strength, with its interval", "Rank", "Win ratio")
_MARGIN = 0.06


def comparison_panels(material: Material, label: str) -> str:
    """Ranking, wins, rates, sides, agreement and disputed tasks."""
    question, votes = material.study.question_of[label], material.by_question[label]
    pairs = question.kind == "pair"
    own, ranking = outcomes(votes), material.rankings.get(label)
    answers = answers_of(votes, label, pairs=pairs)
    clusters = {task.task_id: task.cluster for task in material.tasks[label]}
    colours = {name: colour(name, material.methods) for name in material.methods} | {TIE: _TIE, BOTH_BAD: _BAD}
    found = [
        ranking_panel(ranking, own, methods=material.methods) if pairs else _selection(votes, methods=material.methods),
        _wins(own) if pairs else "",
        _rates(votes, own, methods=material.methods) if pairs else "",
        _sides(votes, ranking) if pairs else _places(votes),
        agreement_panel(answers, scheme_of(question), clusters=clusters, of_choices=True),
        disputed_panel(
            answers,
            scheme_of(question),
            tasks=material.study.task_of,
            names=_NAMES,
            colours=colours,
            reads=answers_of(votes, label),
        ),
    ]
    return "".join(found)


def ranking_panel(ranking: Mapping[str, Any] | None, own: Outcomes, *, methods: Sequence[str]) -> str:
    """Strengths with intervals, best first; of the fitted ranking where there is one, else the plain win ratios."""
    notes = " ".join(escape(_sentence(str(note))) for note in (ranking or {}).get("notes", ()))
    if not ranking or any(row.get("strength") is None for row in ranking["methods"]) or not ranking["methods"]:
        return _plain_ranking(own, methods=methods, notes=notes or "No ranking was fitted.")
    rows = sorted(ranking["methods"], key=lambda row: (row.get("rank") or len(own.methods), -row["strength"], row["name"]))
    ends = [row[key] for row in rows for key in ("low", "strength", "high") if row.get(key) is not None]
    margin = _MARGIN * (max(ends) - min(ends)) or 0.5
    low, high = min(ends) - margin, max(ends) + margin
    drawn = "".join(_strength(row, low, high, methods) for row in rows)
    head = "".join(f"<span>{words}</span>" for words in _HEAD)
    scale = f"<span></span>{axis(low, high, marks=round_marks(low, high))}<span></span><span></span>"
    inside = f'<div class="row head">{head}</div>{drawn}<div class="row">{scale}</div>'
    note = f"A difference of 1 in strength wins 73 % of the votes that are no ties. {notes}"
    return panel("Ranking", f'{_verdict(ranking)}<div class="forest ranked">{inside}</div>', note=note, wide=True)


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}{'' if note.endswith('.') else '.'}"


def _verdict(ranking: Mapping[str, Any]) -> str:
    if ranking.get("stable") is None:
        return ""
    if ranking["stable"]:
        mark, words = '<span class="state good">stable</span>', "The order of neighbours is settled."
    else:
        mark, words = '<span class="state open">open</span>', "The order is not settled yet: neighbours may still change places."
    return f'<p class="reading">{mark} {words}</p>'


def _strength(row: Mapping[str, Any], low: float, high: float, methods: Sequence[str]) -> str:
    name = str(row["name"])
    one = Estimate(row["strength"], row.get("low"), row.get("high"))
    ranks = (row.get("rank_low"), row.get("rank_high"))
    span = f" <small>{ranks[0]}–{ranks[1]}</small>" if None not in ranks and ranks[0] != ranks[1] else ""
    interval = "" if one.low is None else f" ({decimal(one.low)} to {decimal(one.high)})"
    strength = f'<small class="under">{decimal(one.value)}{interval}</small>'
    n = f"<small>n {row['votes']:,}</small>" if row.get("votes") is not None else ""
    return (
        f'<div class="row"><span>{method_name(name, methods)}{strength}</span>'
        f"{whisker(one, low=low, high=high, marks=list(round_marks(low, high)), colour=colour(name, methods))}"
        f"<span class='n'><b>{row.get('rank') or '–'}</b>{span}</span>"
        f"<span class='n'><b>{percent(row.get('win_share'))}</b> {n}</span></div>"
    )


def _plain_ranking(own: Outcomes, *, methods: Sequence[str], notes: str) -> str:
    rows = [(method, own.win_ratio(method)) for method in own.methods]
    rows.sort(key=lambda row: (row[1] is None, -(row[1] or 0), row[0]))
    drawn = "".join(
        f'<div class="row"><span>{method_name(method, methods)}</span>'
        f"{whisker(Estimate(ratio, None, None), low=0, high=1, marks=[0.5], colour=colour(method, methods))}"
        f"<span class='n'><b>{percent(ratio)}</b></span></div>"
        for method, ratio in rows
        if ratio is not None
    )
    scale = f'<div class="row"><span></span>{axis(0, 1, marks={0: "0", 0.5: "50 %", 1: "100 %"})}<span></span></div>'
    note = f"Win ratio: wins and half of the ties over comparisons, without intervals. {notes}"
    return panel(
        "Win ratios", f'<div class="forest">{drawn}{scale}</div>' if drawn else "<p>No votes yet.</p>", note=note, wide=True
    )


def _wins(own: Outcomes) -> str:
    order = sorted(own.methods, key=lambda method: (-(own.win_ratio(method) or 0), method))
    size = len(order)
    shares, totals = np.full((size, size), np.nan), np.zeros((size, size), int)
    for row, one in enumerate(order):
        for column, other in enumerate(order):
            won, lost, tied = own.wins.get((one, other), 0), own.wins.get((other, one), 0), own.ties.get((one, other), 0)
            totals[row, column] = won + lost + tied
            if row != column and won + lost + tied:
                shares[row, column] = (won + tied / 2) / (won + lost + tied)
    names = [escape(method) for method in order]
    drawn = heat(
        names, names, 2 * shares - 1, corner="beats", label="Win matrix", share=False, diagonal=False,
        written=lambda lead: f"{50 + 50 * lead:.0f}",
    )  # fmt: skip
    met = totals[np.triu_indices(size, 1)]
    fewest = f" Each pair has {met.min():,} to {met.max():,} votes." if len(met) else ""
    return panel("Who beats whom", drawn, note=f"Per hundred comparisons, ties as half a win each; best first.{fewest}")


def _rates(votes: Sequence[ReportVote], own: Outcomes, *, methods: Sequence[str]) -> str:
    chosen = sorted(own.chosen.items(), key=lambda entry: (-(entry[1].value or 0), entry[0]))
    rows = "".join(_bar(method_name(method, methods), one, colour(method, methods)) for method, one in chosen)
    decided = len(votes) - own.tie.part - own.both_bad.part
    parts = [
        ("one is better", decided, "var(--fill)"),
        ("hard to distinguish", own.tie.part, _TIE),
        ("both bad", own.both_bad.part, _BAD),
    ]
    legend = "".join(
        f'<span style="--key:{paint}">{name} <b>{percent(Proportion(n, len(votes)).value)}</b> <small>n {n:,}</small></span>'
        for name, n, paint in parts
    )
    drawn = f'<ul class="bars rates" aria-label="Selection frequency">{rows}</ul>'
    drawn += f'<h4>Verdicts</h4>{stacked(parts, label="Verdicts")}<p class="legend">{legend}</p>'
    note = "Choices of the times a method was shown. Both bad is a verdict of its own: neither a tie nor a comparison."
    return panel("Selection frequency", drawn, note=note)


def _bar(name: str, one: Proportion, paint: str, *, most: float = 1.0, said: str = "") -> str:
    """A line of a list of rates; ``name`` is finished HTML."""
    width = 100 * (one.value or 0) / most
    words = said or f"{one.part:,} of {one.whole:,}"
    bar = f'<i><b style="width:{width:.1f}%;background:{paint}"></b></i>'
    return f"<li><span>{name}</span>{bar}<strong>{percent(one.value)}</strong><small>{words}</small></li>"


def _selection(votes: Sequence[ReportVote], *, methods: Sequence[str]) -> str:
    found, own = selection(votes), outcomes(votes).chosen
    widths = [len(vote.candidates) for vote in votes]
    chance = sum(1 / width for width in widths) / len(widths)
    high = min(1.0, 1.1 * max([chance, *(one.high or one.value for one in found.values())]))
    rows = "".join(
        f'<div class="row"><span>{method_name(method, methods)}</span>'
        f"{whisker(one, low=0, high=high, marks=[chance], colour=colour(method, methods))}"
        f"<span class='n'><b>{percent(one.value)}</b> <small>{_between(one)} · n {own[method].whole:,}</small></span></div>"
        for method, one in sorted(found.items(), key=lambda entry: (-entry[1].value, entry[0]))
    )
    scale = axis(0, high, marks={0.0: "0", chance: f"{percent(chance)} by chance"})
    drawn = f'<div class="forest">{rows}<div class="row"><span></span>{scale}<span></span></div></div>'
    note = "Share of the votes that chose a method; 95 % interval, clustered by source."
    return panel("Selection frequency", drawn, note=note, wide=True)


def _between(one: Estimate) -> str:
    return "no interval" if one.low is None else f"{percent(one.low)} to {percent(one.high)}"


def _sides(votes: Sequence[ReportVote], ranking: Mapping[str, Any] | None) -> str:
    left = left_choices(votes)
    if not left.whole or left.value is None:
        return ""
    low, high = left.interval
    verdict = "No preference for a side is to be seen."
    if not low <= 0.5 <= high:
        verdict = f"Raters prefer the {'left' if low > 0.5 else 'right'}: order matters here."
    # Drawn so that the left end of the line is the left of the screen.
    drawn = whisker(Estimate(1 - left.value, 1 - high, 1 - low), low=0, high=1, marks=[0.5])
    drawn = f'<div class="gauge">{drawn}{axis(0, 1, marks={0: "all left", 0.5: "half", 1: "all right"})}</div>'
    words = f"<b class='big'>{percent(left.value)}</b> <small>{percent(low)} to {percent(high)}</small> of "
    words = f"<p class='reading'>{words}{count(left.whole, 'choice')} fell on the left. {verdict}</p>"
    note = f"95 % interval of Wilson, votes taken as independent. {_balance(votes)}{_fitted_bias(ranking)}"
    return panel("Position", drawn + words, note=note)


def _fitted_bias(ranking: Mapping[str, Any] | None) -> str:
    bias = (ranking or {}).get("position_bias")
    if not bias:
        return ""
    value, low, high = (decimal(end) for end in bias)
    return f" In the ranking’s model, being shown first adds {value} to a strength ({low} to {high})."


def _balance(votes: Sequence[ReportVote]) -> str:
    known = [vote for vote in votes if len(vote.shown) == 2]
    lefts = Proportion(sum(vote.shown == vote.candidates for vote in known), len(known))
    return f"The first method of each pair stood on the left in {percent(lefts.value)} of {count(len(known), 'vote')}."


def _places(votes: Sequence[ReportVote]) -> str:
    found = place_choices(votes)
    if not found:
        return ""
    most = max(one.value or 0 for one in found) or 1
    rows = "".join(
        _bar(f"Place {place}", one, "var(--fill)", most=most, said=" to ".join(map(percent, one.interval)))
        for place, one in enumerate(found, 1)
    )
    words = (
        f"Without a preference each place has {percent(1 / len(found))}. 95 % intervals of Wilson, votes taken as independent."
    )
    drawn = f'<ul class="bars rates" aria-label="Choices by place">{rows}</ul>'
    return panel("Position", drawn, note=f"{count(len(votes), 'vote')}; places from the left. {words}")


def dimensions_panel(dimensions: Mapping[str, Any], *, titles: Mapping[str, str]) -> str:
    """How far the dimensions order methods and items alike."""
    labels = list(dimensions["questions"])
    numbers = np.array([[np.nan if cell is None else cell for cell in row] for row in dimensions["correlation"]], float)
    names = [escape(titles.get(label, label)) for label in labels]
    drawn = heat(
        names, names, numbers, corner="", label="Correlation of dimensions", share=False, diagonal=False,
        written=lambda value: decimal(value),
    )  # fmt: skip
    over = f"n {dimensions['n']:,}. " if dimensions.get("n") is not None else ""
    return drawn + f'<p class="note">{over}{" ".join(escape(str(note)) for note in dimensions.get("notes", ()))}</p>'
