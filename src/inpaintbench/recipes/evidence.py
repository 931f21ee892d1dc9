"""Errors of a workspace's labels and of its selection, as far as it knows them: the facts that a card tells besides the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.statistics.agreement import part_agreements
from inpaintbench.annotate.study import Study
from inpaintbench.curation.calibration import calibrate_judged
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.judging import stored_selection, unasked
from inpaintbench.export.growing import appended
from inpaintbench.frozen import GROUP
from inpaintbench.manifest import column
from inpaintbench.recipes.leakage import SAME_AS, not_looked_for
from inpaintbench.steps import ALIKE
from inpaintbench.types import Answer, Attribute, Clip, Corruption, Dataset, Download, Plain, Selection, Source
from inpaintbench.workspace import Workspace

# Table of `Agreement`; one step a study.
AGREEMENT = "agreement"


@dataclass(frozen=True)
class Agreement:
    """Agreement of the raters of one study on one part of one question."""

    question: str
    part: str
    raters: int
    units: int
    """Tasks with two answers or more."""
    answers: int
    """To those tasks."""
    alpha: float | None
    """Krippendorff's."""
    alpha_low: float | None
    alpha_high: float | None
    alpha_reason: str | None
    """Reason why there is no value or no interval."""


def evidence(workspace: Workspace, recipe: BaseModel) -> dict[str, Any]:
    """Facts for ``freeze``: those of ``raters``, ``selection``, ``rules``, ``protocols``, ``titles``, ``alike`` that there are.

    The same tables give the same facts, in the same order.

    Args:
        workspace: whose tables are read; nothing is measured.
        recipe: what the items were made by.
    """
    evidence = {
        "raters": raters(workspace),
        **_of_rules(workspace),
        "protocols": protocols(workspace, recipe),
        "titles": titles(workspace),
        "alike": copies(workspace),
    }
    return {name: value for name, value in evidence.items() if value}


def raters(workspace: Workspace) -> list[dict[str, Any]]:
    """One row a question: clips, votes, clips without an answer, mean agreement; alpha and raters where they were stored.

    Clips whose answer was known beforehand do not count.
    """
    stored: dict[str, list[Agreement]] = {}
    for row in workspace.table(AGREEMENT, Agreement):
        stored.setdefault(row.question, []).append(row)
    asked: dict[str, list[Answer]] = {}
    voted = [answer for answer in workspace.table("answers", Answer) if answer.votes]
    subjects = {answer.subject_id for answer in voted}
    clips = set(workspace.columns("clips", Clip, columns=["clip_id"], where=("clip_id", subjects))["clip_id"].to_pylist())
    for answer in voted:
        if answer.subject_id in clips:
            asked.setdefault(answer.question, []).append(answer)
    made = []
    for question, answers in sorted(asked.items()):
        summary = _of_answers(question, answers)
        parts = sorted(stored.get(question, ()), key=lambda row: row.part)
        # Of two studies on one question there is no one alpha.
        if len({row.part for row in parts}) == len(parts):
            made += [summary | _of_agreement(row, several=len(parts) > 1) for row in parts] or [summary]
        else:
            made.append(summary)
    return made


def _of_answers(question: str, answers: Sequence[Answer]) -> dict[str, Any]:
    several = [row.agreement for row in answers if row.votes > 1 and row.agreement is not None]
    return {
        "question": question,
        "clips": len(answers),
        "votes": sum(row.votes for row in answers),
        "undecided": sum(row.answer is None for row in answers),
        "agreement": sum(several) / len(several) if several else None,
        "agreement_clips": len(several),
    }


def _of_agreement(row: Agreement, *, several: bool) -> dict[str, Any]:
    row_fields = asdict(row)
    named = {"part": row_fields.pop("part")} if several else {}
    return {name: row_fields[name] for name in ("raters", "alpha", "alpha_low", "alpha_high", "alpha_reason")} | named


def _of_rules(workspace: Workspace) -> dict[str, Any]:
    """Counts of clips that the rules dropped, and how often people would have."""
    if not workspace.steps("selection") or not workspace.columns("selection", Selection, columns=["clip_id"]).num_rows:
        return {}
    judged = stored_selection(workspace, Facts.of_workspace(workspace, set()))
    rules = [
        {"rule": count.label, "judged": count.judged, "dropped": count.dropped, "alone": count.dropped_alone}
        for count in judged.counts()
    ]
    lacking = [asdict(rule) for rule in unasked(workspace)]
    selection = {"clips": len(judged.clip_ids), "kept": int(judged.kept.sum()), "rules": rules}
    selection |= {"unasked": lacking} if lacking else {}
    calibrated = [
        {"rule": rule.rule, "n": rule.n, "precision": asdict(rule.precision), "recall": asdict(rule.recall)}
        for rule in calibrate_judged(judged)
    ]
    return {"selection": selection, "rules": calibrated}


def copies(workspace: Workspace) -> dict[str, Any]:
    """Clips that show what one before them shows, groups of sources that count as one, and what was not looked for."""
    rows = workspace.columns("attributes", Attribute, step=ALIKE, columns=["name", "value_text"])
    names, values = (rows[name].to_pylist() for name in ("name", "value_text"))
    groups = {value for name, value in zip(names, values, strict=True) if name == GROUP}
    lacking = not_looked_for(workspace)
    found = {"clips": names.count(SAME_AS), "groups": len(groups)} if names else {}
    return found | ({"not_looked_for": lacking} if lacking else {})


def protocols(workspace: Workspace, recipe: Any) -> list[dict[str, Any]]:
    """The protocol that the benchmark is scored under unless another is asked for, and the recipe's own besides."""
    from inpaintbench.eval.protocols import PROTOCOLS, usual

    kind = str(recipe.kind)
    stored = workspace.columns("corruptions", Corruption, columns=["hole"])["hole"]
    published = appended(workspace)
    # Where nothing new is added there are none here.
    holes = stored.null_count < len(stored) or (published is not None and any(column(published.dataset, "hole_file_name")))
    first = usual(_described(recipe, kind, holes=holes))
    own = f"{kind}/corrected"
    names = list(dict.fromkeys([first, *([own] if own in PROTOCOLS else [])]))
    return [{"name": name, "fingerprint": PROTOCOLS.get(name).fingerprint, "usual": name == first} for name in names]


def _described(recipe: BaseModel, kind: str, *, holes: bool) -> Dataset:
    """As much of a dataset as the choice of a protocol looks at."""
    row: Plain = {"hole_file_name": "hole" if holes else None}
    return Dataset(
        name="",
        recipe={"recipe": kind, **recipe.model_dump(mode="json")},
        items=(row,),
        slices=(),
        left_out={},
        files={},
        versions={},
    )


def titles(workspace: Workspace) -> Mapping[str, str]:
    """Source id -> its title, of downloads that have one; ``documents.sealed`` drops those that rows do not name."""
    named = {row.sha256: row.title for row in workspace.table("downloads", Download) if row.sha256 and row.title}
    columns = ["source_id", "sha256"]
    sources = workspace.columns("sources", Source, columns=columns, where=("sha256", named.keys())).select(columns)
    pairs = zip(*(column.to_pylist() for column in sources.columns), strict=True)
    return {source_id: named[sha256] for source_id, sha256 in sorted(pairs)}


def agreements_of(study: Study, votes: Sequence[Vote]) -> list[Agreement]:
    """Return how far raters agree on clips, for the card of the dataset that is made with their answers."""
    return [
        Agreement(question, part, raters, alpha.units, alpha.answers, alpha.value, alpha.low, alpha.high, alpha.reason)
        for question, part, alpha, _, _, raters, _ in part_agreements(study, votes)
        if study.question_of[question].subject == "clip"
    ]
