"""Groups of raters who order methods differently: what each prefers, by method and by metric, and what hangs on whom one asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from inpaintbench.annotate.outcomes.preferences import METRIC
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.statistics import standings
from inpaintbench.annotate.statistics.orders import COIN, OWN, Held, held_by
from inpaintbench.annotate.study import Study
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.panels import Panel, Statement
from inpaintbench.pages.words import count, number, percent
from inpaintbench.types import Score
from inpaintbench.workspace import Workspace

# Choices of a group between two values of a metric, below which no share is told.
_FEWEST_CHOICES = 20
_NOTE = (
    "Each rater’s choices and repeats are held against a coin, an order of their own and up to three orders that groups share; "
    "cross-validation over sources says how many. A rater counts where their answers are most probable. Strengths are "
    "those of the model, around 0."
)


def groups_panel(material: Material, label: str) -> Panel | None:
    """What raters of a question about pairs prefer, where at least one group can be told; None without choices."""
    held = held_by(material.votes, label)
    if held is None or len(held.raters) < 3:
        return None
    # Column of the evidence that each rater's answers are most probable under, by the shares of the panel.
    belongs: list[int] = np.argmax(held.orders.evidence + np.log(held.orders.shares), axis=1).tolist()
    names = [f"Group {place}" for place in range(1, len(held.orders.strengths) + 1)]
    sizes = Counter(belongs)
    told = [
        f"{count(sizes[2 + place], 'rater')} {'is' if sizes[2 + place] == 1 else 'are'} in {name}"
        for place, name in enumerate(names)
    ]
    others = f"{count(sizes[OWN], 'rater')} with an order of their own, {count(sizes[COIN], 'rater')} nearest to a coin"
    parts: list[object] = []
    if len(names) > 1:
        parts += _depends(material, label, held, belongs, names)
    else:
        parts.append(Statement("One order fits the raters: no second one foretells their answers better.", state="one order"))
    parts.append(_strengths(held, names))
    if table := _metrics(material, label, held, belongs, names):
        parts.append(table)
    return Panel("Who prefers what", (*parts, f"{', '.join(told)}; {others}. {_NOTE}"), wide=True)


def _depends(material: Material, label: str, held: Held, belongs: Sequence[int], names: Sequence[str]) -> list[object]:
    """Verdicts that are clear in one group and the opposite in another or over all raters."""
    of_group: dict[str, dict[str, standings.Score]] = {"all raters": material.counted.scores()[label]} if material.counted else {}
    for place, name in enumerate(names):
        inside = {rater for rater, of in zip(held.raters, belongs, strict=True) if of == 2 + place}
        own = [vote for vote in material.by_question[label] if vote.rater_id in inside]
        if own:
            of_group[name] = standings.results_of(material.study, own).scores()[label]
    rows = []
    for first, second in combinations(sorted(held.methods), 2):
        said: dict[str, list[str]] = {"first": [], "second": []}
        for name, scores in of_group.items():
            if first in scores and second in scores and (of := standings.verdict(scores[first], scores[second])) != "open":
                said[of].append(name)
        if said["first"] and said["second"]:
            by = (Cell(", ".join(said[which])) for which in ("first", "second"))
            rows.append(Row((Cell(first, method=first), Cell(second, method=second), *by)))
    if not rows:
        words = "Raters order the methods differently, but no two groups are clear on two methods in opposite ways."
        return [Statement(words, state="one ranking")]
    words = f"The ranking depends on whom one asks: groups are clear, and disagree, on {count(len(rows), 'pair')} of methods."
    columns = (Column("Method"), Column("and"), Column("The first is better by"), Column("The second by"))
    return [Statement(words, state="depends", good=False), Table(columns, tuple(rows), label="Pairs that groups disagree on")]


def _strengths(held: Held, names: Sequence[str]) -> Table:
    strengths = held.orders.strengths
    order = sorted(range(len(held.methods)), key=lambda place: -strengths[0][place])
    places = [np.argsort(np.argsort(-own)) + 1 for own in strengths]
    rows = [
        Row((
            Cell(held.methods[at], method=held.methods[at]),
            *(Cell(number(float(own[at]), 2), note=f"place {rank[at]}") for own, rank in zip(strengths, places, strict=True)),
        ))
        for at in order
    ]  # fmt: skip
    heads = (Column(name, numeric=True) for name in names)
    return Table((Column("Method"), *heads), tuple(rows), label="Strengths by group")


def _metrics(material: Material, label: str, held: Held, belongs: Sequence[int], names: Sequence[str]) -> Table | None:
    """Share of each group's choices that fell on the larger value of a metric, where the runs of the study have any."""
    of = dict(zip(held.raters, belongs, strict=True))
    rows = []
    for metric, values in sorted(material.measured.items()):
        cells = []
        for place in range(len(names)):
            larger = [found for vote in material.by_question[label] if of.get(vote.rater_id) == 2 + place
                      and (found := _larger(vote, values)) is not None]  # fmt: skip
            share = sum(larger) / len(larger) if len(larger) >= _FEWEST_CHOICES else None
            cells.append((share, len(larger)))
        if any(share is not None for share, _ in cells):
            rows.append((
                max((abs(one - other) for one, other in combinations([s for s, _ in cells if s is not None], 2)), default=0.0),
                Row((Cell(metric), *(Cell(percent(share), share, note=f"of {n:,}") for share, n in cells))),
            ))  # fmt: skip
    if not rows:
        return None
    rows.sort(key=lambda row: -row[0])
    columns = (Column("Choices of the larger value of"), *(Column(name, numeric=True) for name in names))
    return Table(columns, tuple(row for _, row in rows), label="Choices by metric")


def _larger(vote: Vote, values: Mapping[tuple[str, str], float]) -> bool | None:
    """Whether the larger value was chosen; None of ties, and where the two are equal or one is missing."""
    if vote.choice not in vote.candidates:
        return None
    (other,) = (name for name in vote.candidates if name != vote.choice)
    one, two = values.get((vote.choice, vote.subject_id)), values.get((other, vote.subject_id))
    return None if one is None or two is None or one == two else one > two


def measured_by(study: Study) -> dict[str, dict[tuple[str, str], float]]:
    """Metric (and region) -> (method, item) -> score, in the runs of a study that are there; people's own apart."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for run in map(Path, study.file.subjects.runs):
        if not (run / "workspace.json").is_file():
            continue
        names = ("metric", "region", "method", "item_id", "value")
        for row in Workspace(run, create=False).columns("scores", Score, columns=names).to_pylist():
            if row["value"] is not None and row["metric"] != METRIC:
                of_metric = found.setdefault(f"{row['metric']} ({row['region']})", {})
                of_metric[row["method"], row["item_id"]] = float(row["value"])
    return found
