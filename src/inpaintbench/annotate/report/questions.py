"""The section of each question, which labels clips, grades predictions or compares methods; and how dimensions go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inpaintbench.annotate.questions import base
from inpaintbench.annotate.questions.base import Part, Question
from inpaintbench.annotate.questions.leaves import BOTH_BAD, TIE
from inpaintbench.annotate.records import ANCHORED, Proportion, Vote
from inpaintbench.annotate.report import agreement
from inpaintbench.annotate.report.groups import groups_panel
from inpaintbench.annotate.report.material import Material, Outcomes, left_choices, outcomes, place_choices, selection
from inpaintbench.annotate.statistics.agreement import Answers, Scheme, answers_of, confusion_with, scheme_of
from inpaintbench.annotate.statistics.standings import mean_opinion, opinions_of
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.colours import COLOURS
from inpaintbench.pages.panels import Bar, Bars, Caution, Gauge, Panel, Portion, Scale, Stack, Statement
from inpaintbench.pages.words import count, number, percent, span

# The section of a question that labels clips or grades single predictions.

# Answers that get colours of their own; more are told apart by shades.
_MOST_COLOURED = 4
_ANCHORED = Caution(
    "The machine’s answer was seen beforehand: raters may have been led by it, so this is no proof that it is right."
)
_MODES = {False: "shown after the answer or never", True: "seen beforehand"}


def labelling_panels(material: Material, label: str) -> list[Panel]:
    """Distribution, agreement, confusion, the machine's answers and disputed tasks."""
    question, votes = material.study.question_of[label], material.by_question[label]
    main, *further = question.parts()
    scheme, answers = scheme_of(question), answers_of(votes, label)
    clusters = {task.task_id: task.cluster for task in material.tasks[label]}
    names = {option.value: option.label for option in main.options}
    reference = suggestions(material, label)
    machine = []
    for anchored in (False, True):
        some = [vote for vote in votes if vote.task_id in reference and (vote.suggestion_shown in ANCHORED) == anchored]
        if some:
            machine.append(_suggestion_panel(some, question, reference, names=names, anchored=anchored))
    # Panels stand in twos: beside an odd number of the machine's the confusion has one of its own.
    apart = len(machine) % 2 == 1
    between = agreement.confusion_parts(answers, scheme, names=names, caption="" if apart else "Between raters")
    panels = list(_grades(votes, question)) if question.subject == "one" else []
    panels.append(_distribution(main, answers, title="Answers", below=() if apart else between))
    panels.append(agreement.agreement_panel(answers, scheme, clusters=clusters))
    panels += [Panel("Between raters", between)] if apart and between else []
    panels += machine
    for part in further:
        if given := answers_of(votes, label, part=part.name):
            name, of_part = part.name.replace("_", " "), scheme_of(question, part=part.name)
            panels.append(_distribution(part, given, title=f"Also asked: {name}"))
            panels.append(agreement.agreement_panel(given, of_part, clusters=clusters, title=f"Agreement on {name}"))
    values = [value for value in scheme.values or () if value not in scheme.missing]
    shaded = scheme.scale != "nominal" or len(values) > _MOST_COLOURED
    colours = agreement.ordered_colours(values) if shaded else dict(zip(values, COLOURS, strict=False))
    tasks, picture_of = material.study.task_of, material.picture_of
    return [*panels, agreement.disputed_panel(answers, scheme, tasks=tasks, names=names, colours=colours, picture_of=picture_of)]


def _distribution(part: Part, answers: Answers, *, title: str, below: Sequence[object] = ()) -> Panel:
    votes = Counter(value for given in answers.values() for value in given.values())
    bars = agreement.count_bars([(option.label, votes[option.value]) for option in part.options], label=part.prompt)
    note = f"{part.prompt} {count(votes.total(), 'vote')} on {count(len(answers), 'task')}."
    return Panel(title, (bars, note, *below))


def suggestions(material: Material, label: str) -> dict[str, str]:
    """Task -> option that the machine would choose; numbers become the nearest option that is one."""
    values = [option.value for option in material.study.question_of[label].parts()[0].options]
    numbers = {value: numeric for value in values if (numeric := base.number(value)) is not None}
    suggested: dict[str, str] = {}
    for task in material.tasks[label]:
        answer: Any = task.suggestion
        answer = str(material.automatic.get((task.subject_id, label), "") if answer is None else answer)
        wanted = base.number(answer)
        if answer in values:
            suggested[task.task_id] = answer
        elif wanted is not None and numbers:
            suggested[task.task_id] = min(numbers, key=lambda value: abs(numbers[value] - wanted))
    return suggested


def _suggestion_panel(
    votes: Sequence[Vote], question: Question, reference: Mapping[str, str], *, names: Mapping[str, str], anchored: bool
) -> Panel:
    answers = answers_of(votes, votes[0].question)
    matrix = confusion_with(answers, Scheme(values=tuple(names)), reference=reference)
    totals = matrix.counts.sum(axis=1)
    used = np.flatnonzero(totals)
    labels = list(names.values())
    table = agreement.heat(
        [f"{labels[row]}\nn {totals[row]:,.0f}" for row in used], labels, matrix.counts[used] / totals[used, None],
        corner="machine said", label="Machine against people", written=agreement.per_hundred,
    )  # fmt: skip
    same = Proportion(int(np.trace(matrix.counts)), int(totals.sum()))
    sentence = f"of {count(same.whole, 'vote')} are what the machine says."
    pairs = [(base.number(vote.choice), base.number(reference[vote.task_id])) for vote in votes]
    off = np.array([person - machine for person, machine in pairs if person is not None and machine is not None])
    if question.scale == "interval" and len(off):
        mean, side = float(off.mean()), "above" if off.mean() >= 0 else "below"
        sentence += f" On average people answer {number(abs(mean), 1)} {side} it; the mean distance is "
        sentence += f"{number(float(np.abs(off).mean()), 1)}."
    statement = Statement(sentence, value=percent(same.value), interval=" to ".join(map(percent, same.interval)))
    note = f"Per hundred votes of each row. The machine’s answer was {_MODES[anchored]}; the interval takes votes as independent."
    caution = (_ANCHORED,) if anchored else ()
    return Panel("Machine against people", (statement, *caution, table, note), tag="seen beforehand" if anchored else "")


def _method_row(name: str, whisker: tuple[float, float | None, float | None], *cells: Cell, below: str = "") -> Row:
    """A method, its number on the scale that all methods of a table share, and further cells."""
    return Row((Cell(name, method=name, below=below), Cell(whisker=whisker, method_colour=name), *cells))


def _grades(votes: Sequence[Vote], question: Question) -> tuple[Panel, ...]:
    grades = mean_opinion(opinions_of(votes, question), scale=question.ends())
    if not grades:
        return ()
    values = [option.value for option in question.parts()[0].options]
    ticks = {grade: value for value in values if (grade := question.number(value)) is not None}
    scale = Scale(min(ticks), max(ticks))
    rows = [
        _method_row(
            method, scale.ends(mean.value, mean.low, mean.high), Cell(number(mean.value, 2)),
            below=f"{number(mean.low, 2)} to {number(mean.high, 2)} · n {mean.n:,}",
        )
        for method, mean in sorted(grades.items(), key=lambda entry: (-entry[1].value, entry[0]))
    ]  # fmt: skip
    columns = (Column("Method"), Column("Grade, with its interval", ticks=scale.ticks(ticks)), Column("Mean", numeric=True))
    table = Table(columns, tuple(rows), label="Mean opinion")
    return (Panel("Mean opinion", (table, "Mean grade of all votes; 95 % interval by Student’s t over sources."), wide=True),)


_NAMES = {TIE: "Hard to distinguish", BOTH_BAD: "Both bad"}
_TIE, _BAD = "var(--waiting)", "var(--high)"
# Share of the axis that is left free beyond the outermost interval.
_MARGIN = 0.06


def comparison_panels(material: Material, label: str) -> list[Panel]:
    """Ranking, wins, rates, sides, agreement and disputed tasks."""
    question, votes = material.study.question_of[label], material.by_question[label]
    own, ranking = outcomes(votes), material.rankings.get(label)
    if question.kind == "pair":
        groups = groups_panel(material, label)
        panels = [ranking_panel(ranking, own), *([groups] if groups else ()), _wins(own), _rates(material, votes, own)]
        panels += _sides(votes, ranking)
    else:
        panels = [_selection(votes), *_places(votes)]
    answers = answers_of(votes, label, pairs=question.kind == "pair")
    clusters = {task.task_id: task.cluster for task in material.tasks[label]}
    colours = {method: material.colour(method) for method in material.methods} | {TIE: _TIE, BOTH_BAD: _BAD}
    disputed = agreement.disputed_panel(
        answers, scheme_of(question), tasks=material.study.task_of, names=_NAMES, colours=colours, reads=answers_of(votes, label),
        picture_of=material.picture_of,
    )  # fmt: skip
    return [*panels, agreement.agreement_panel(answers, scheme_of(question), clusters=clusters, of_choices=True), disputed]


def ranking_panel(ranking: Mapping[str, Any] | None, own: Outcomes) -> Panel:
    """Strengths with intervals, best first; of the fitted ranking where there is one, else the plain win ratios."""
    said = [str(note) for note in (ranking or {}).get("notes", ())]
    notes = " ".join(f"{note[:1].upper()}{note[1:]}{'' if note.endswith('.') else '.'}" for note in said)
    if not ranking or any(row.get("strength") is None for row in ranking["methods"]) or not ranking["methods"]:
        return _plain_ranking(own, notes=notes or "No ranking was fitted.")
    fitted = sorted(ranking["methods"], key=lambda row: (row.get("rank") or len(own.methods), -row["strength"], row["name"]))
    ends = [row[key] for row in fitted for key in ("low", "strength", "high") if row.get(key) is not None]
    margin = _MARGIN * (max(ends) - min(ends)) or 0.5
    scale = Scale(min(ends) - margin, max(ends) + margin)
    columns = (
        Column("Method"), Column("Strength, with its interval", ticks=scale.ticks(scale.round_values())),
        Column("Rank", numeric=True), Column("Win ratio", numeric=True),
    )  # fmt: skip
    rows = []
    for row in fitted:
        strength, low, high = row["strength"], row.get("low"), row.get("high")
        ranks = (row.get("rank_low"), row.get("rank_high"))
        interval = "" if low is None else f" ({number(low, 2)} to {number(high, 2)})"
        rows.append(_method_row(
            str(row["name"]), scale.ends(strength, low, high),
            Cell(row.get("rank") or "–", note=f"{ranks[0]}–{ranks[1]}" if None not in ranks and ranks[0] != ranks[1] else ""),
            Cell(percent(row.get("win_share")), note=f"n {row['votes']:,}" if row.get("votes") is not None else ""),
            below=f"{number(strength, 2)}{interval}",
        ))  # fmt: skip
    parts: list[object] = [Table(columns, tuple(rows), label="Ranking")]
    if ranking.get("stable"):
        parts.insert(0, Statement("The order of neighbours is settled.", state="stable"))
    elif ranking.get("stable") is not None:
        words = "The order is not settled yet: neighbours may still change places."
        parts.insert(0, Statement(words, state="open", good=False))
    note = f"A difference of 1 in strength wins 73 % of the votes that are no ties. {notes}"
    return Panel("Ranking", (*parts, note), wide=True)


def _plain_ranking(own: Outcomes, *, notes: str) -> Panel:
    ratios = {method: ratio for method in own.methods if (ratio := own.win_ratio(method)) is not None}
    rows = [
        _method_row(method, (ratio, None, None), Cell(percent(ratio)))
        for method, ratio in sorted(ratios.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
    columns = (Column("Method"), Column("Win ratio", ticks=((0, "0"), (0.5, "50 %"), (1, "100 %"))), Column("", numeric=True))
    note = f"Win ratio: wins and half of the ties over comparisons, without intervals. {notes}"
    return Panel("Win ratios", (Table(columns, tuple(rows), label="Win ratios") if rows else "No votes yet.", note), wide=True)


def _wins(own: Outcomes) -> Panel:
    order = sorted(own.methods, key=lambda method: (-(own.win_ratio(method) or 0), method))
    size = len(order)
    shares, totals = np.full((size, size), np.nan), np.zeros((size, size), int)
    for row, method in enumerate(order):
        for column, other in enumerate(order):
            won, lost, tied = own.wins.get((method, other), 0), own.wins.get((other, method), 0), own.ties.get((method, other), 0)
            totals[row, column] = won + lost + tied
            if row != column and won + lost + tied:
                shares[row, column] = (won + tied / 2) / (won + lost + tied)
    table = agreement.heat(
        order, order, 2 * shares - 1, corner="beats", label="Win matrix", written=lambda lead: f"{50 + 50 * lead:.0f}"
    )
    met = totals[np.triu_indices(size, 1)]
    fewest = (
        f" Each pair has {span(f'{met.min():,}', f'{met.max():,}')} {'vote' if met.max() == 1 else 'votes'}." if len(met) else ""
    )
    return Panel("Who beats whom", (table, f"Per hundred comparisons, ties as half a win each; best first.{fewest}"))


def _rates(material: Material, votes: Sequence[Vote], own: Outcomes) -> Panel:
    bars = tuple(
        Bar(method, share.value or 0, percent(share.value), f"{share.part:,} of {share.whole:,}", material.colour(method), True)
        for method, share in sorted(own.chosen.items(), key=lambda entry: (-(entry[1].value or 0), entry[0]))
    )
    verdicts = (
        Portion("one is better", len(votes) - own.tie.part - own.both_bad.part, "var(--fill)"),
        Portion("hard to distinguish", own.tie.part, _TIE),
        Portion("both bad", own.both_bad.part, _BAD),
    )
    note = "Choices of the times a method was shown. Both bad is a verdict of its own: neither a tie nor a comparison."
    frequency = "Selection frequency"
    return Panel(frequency, (Bars(frequency, bars), Stack("Verdicts", verdicts, key=True), note))


def _selection(votes: Sequence[Vote]) -> Panel:
    shares, chosen = selection(votes), outcomes(votes).chosen
    widths = [len(vote.candidates) for vote in votes]
    chance = sum(1 / width for width in widths) / len(widths)  # of a vote, whatever is shown
    scale = Scale(0, min(1.0, 1.1 * max([chance, *(share.high or share.value for share in shares.values())])))
    rows = []
    for method, share in sorted(shares.items(), key=lambda entry: (-entry[1].value, entry[0])):
        interval = "no interval" if share.low is None else f"{percent(share.low)} to {percent(share.high)}"
        below, whisker = f"{interval} · n {chosen[method].whole:,}", scale.ends(share.value, share.low, share.high)
        rows.append(_method_row(method, whisker, Cell(percent(share.value)), below=below))
    ticks = scale.ticks({0.0: "0", chance: f"{percent(chance)} by chance"})
    columns = (Column("Method"), Column("Share, with its interval", ticks=ticks), Column("Chosen", numeric=True))
    note = "Share of the votes that chose a method; 95 % interval, clustered by source."
    return Panel("Selection frequency", (Table(columns, tuple(rows), label="Selection frequency"), note), wide=True)


def _sides(votes: Sequence[Vote], ranking: Mapping[str, Any] | None) -> tuple[Panel, ...]:
    left = left_choices(votes)
    if not left.whole or left.value is None:
        return ()
    low, high = left.interval
    verdict = "No preference for a side is to be seen."
    if not low <= 0.5 <= high:
        verdict = f"Raters prefer the {'left' if low > 0.5 else 'right'}: order matters here."
    # Drawn so that the left end of the line is the left of the screen.
    gauge = Gauge((1 - left.value, 1 - high, 1 - low), ((0, "all left"), (0.5, "half"), (1, "all right")))
    sentence = f"of {count(left.whole, 'choice')} fell on the left. {verdict}"
    statement = Statement(sentence, value=percent(left.value), interval=f"{percent(low)} to {percent(high)}")
    known = [vote for vote in votes if len(vote.shown) == 2]
    lefts = Proportion.of([vote.shown == vote.candidates for vote in known])
    balance = f"The first method of each pair stood on the left in {percent(lefts.value)} of {count(len(known), 'vote')}."
    note = f"95 % interval of Wilson, votes taken as independent. {balance}"
    if bias := (ranking or {}).get("position_bias"):
        added, least, most = (number(end, 2) for end in bias)
        note += f" In the ranking’s model, being shown first adds {added} to a strength ({least} to {most})."
    return (Panel("Position", (gauge, statement, note)),)


def _places(votes: Sequence[Vote]) -> tuple[Panel, ...]:
    places = place_choices(votes)
    if not places:
        return ()
    most = max(share.value or 0 for share in places) or 1
    bars = tuple(
        Bar(f"Place {place}", (share.value or 0) / most, percent(share.value), " to ".join(map(percent, share.interval)))
        for place, share in enumerate(places, 1)
    )
    note = (
        f"{count(len(votes), 'vote')}; places from the left. Without a preference each place has {percent(1 / len(places))}. "
        "95 % intervals of Wilson, votes taken as independent."
    )
    return (Panel("Position", (Bars("Choices by place", bars), note)),)


def dimensions_parts(dimensions: Mapping[str, Any], *, titles: Mapping[str, str]) -> tuple[object, ...]:
    """Return how far the dimensions order methods and items alike."""
    numbers = np.array([[np.nan if cell is None else cell for cell in row] for row in dimensions["correlation"]], float)
    names = [titles.get(label, label) for label in dimensions["questions"]]
    table = agreement.heat(
        names, names, numbers, corner="", label="Correlation of dimensions", written=lambda value: number(value, 2)
    )
    over = f"n {dimensions['n']:,}. " if dimensions.get("n") is not None else ""
    return table, over + " ".join(map(str, dimensions.get("notes", ())))
