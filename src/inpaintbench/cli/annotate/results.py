"""`annotate agreement`, `ranking`, `report`, `resolve`, `export`, `import`: what answers come to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from inpaintbench.annotate.outcomes.judgements import export_judgements, import_judgements, write_gold
from inpaintbench.annotate.outcomes.label_studio import write_media
from inpaintbench.annotate.outcomes.preferences import METRIC, preferences, write_preferences
from inpaintbench.annotate.outcomes.resolve import labels, step_of, write_labels
from inpaintbench.annotate.questions.base import Kind
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.groups import measured_by
from inpaintbench.annotate.report.material import events_read, material_of
from inpaintbench.annotate.report.page import write_report
from inpaintbench.annotate.report.people import seen_so
from inpaintbench.annotate.screening.base import proposals
from inpaintbench.annotate.statistics.agreement import part_agreements
from inpaintbench.annotate.statistics.ranking import plain
from inpaintbench.annotate.statistics.standings import Results, changes, results_of
from inpaintbench.annotate.study import DEMO_WORKSPACE, Study
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, InStudy, opened
from inpaintbench.cli.console import Answer, Table, records
from inpaintbench.cli.options import Share, option
from inpaintbench.cli.words import span
from inpaintbench.errors import InputError, UsageError
from inpaintbench.pages.words import count, percent
from inpaintbench.recipes.evidence import AGREEMENT, Agreement, agreements_of
from inpaintbench.types import Clip
from inpaintbench.workspace import Workspace

Names = Annotated[bool, option("Call raters by their names, instead of rater-001 and so on.", "--names")]
# Kind of answer -> what the number of a method is.
_SHARES: Mapping[Kind, str] = {
    "grade": "mean opinion", "share": "mean share", "label": "called good", "best": "selection frequency",
}  # fmt: skip


def agreement(study: InStudy, *, confusion: bool = False, database: Database = None) -> Answer:
    """How far raters agree, question by question, part by part.

    Args:
        confusion: Also print how often two raters gave which answers to one task.

    Example: inpaintbench annotate agreement STUDY --confusion
    """
    with opened(study, database) as open_study:
        parts = part_agreements(open_study.became, open_study.votes())
    rows = [
        (part.question, part.part, part.alpha.value, part.alpha.low, part.alpha.high, part.raw.value, part.alpha.units,
         part.alpha.answers, part.alpha.left_out, part.as_named, part.alpha.reason)
        for part in parts
    ]  # fmt: skip
    keys = ["question", "part", "alpha", "low", "high", "raw", "tasks", "answers", "unsure", "alpha_as_named", "reason"]
    columns = ["question", "part", "alpha", "from", "to (95 %)", "raw", "tasks", "answers", "unsure", "elsewhere", "note"]
    counted, tables = [], [Table("agreement", columns, rows)]
    for part in parts if confusion else []:
        values, counts = part.confusion
        counted.append({"question": part.question, "part": part.part, "answers": list(values), "counts": counts.tolist()})
        crossed = [(value, *row) for value, row in zip(values, counts.tolist(), strict=True)]
        tables.append(Table(f"{part.question}, {part.part}: answers to one task, two by two", ["", *values], crossed))
    return Answer({"agreement": records(keys, rows), "confusion": counted if confusion else None}, *tables)


def ranking(study: InStudy, *, database: Database = None) -> Answer:
    """Methods in the order that raters prefer them, with intervals. With excluded answers too, where there are any.

    Example: inpaintbench annotate ranking STUDY
    """
    with opened(study, database) as open_study:
        state = open_study.state()
    votes, everything = state.votes(), state.votes(excluded=True)
    counted = results_of(open_study.became, votes)
    with_all = results_of(open_study.became, everything) if state.exclusions else None
    if not counted.rankings and not counted.shares and not (with_all and with_all.shares):
        raise InputError(f"no question of {open_study.became.file.title!r} compares methods")
    moved = changes(with_all, counted) if with_all else []
    excluded = len(everything) - len(votes)
    told, shown = {**_told(counted), "excluded": None, "with_excluded": None}, _shown(open_study.became, counted, called="")
    if with_all is not None:
        facts = {"answers": excluded, "changed_verdicts": [row._asdict() for row in moved]}
        told |= {"excluded": facts, "with_excluded": _told(with_all)}
        verdicts = count(len(moved), "verdict") if moved else "no verdict"
        shown += _shown(open_study.became, with_all, called=", with excluded answers")
        shown.append(f"{count(excluded, 'answer')} excluded; {verdicts} on methods would be another one with them")
    return Answer(told, *shown)


def _told(results: Results) -> dict[str, object]:
    shares = {label: {name: of._asdict() for name, of in rows.items()} for label, rows in results.shares.items()}
    return {"rankings": plain(results.rankings), "shares": shares}


def _shown(study: Study, results: Results, *, called: str) -> list[str | Table]:
    """A table for each question that compares methods, and below a ranking what it rests on."""
    shown: list[str | Table] = []
    for label, ranking in results.rankings.items():
        rows = [
            (row.rank, row.name, row.strength, row.low, row.high, span(row.rank_low, row.rank_high), row.win_share, row.votes)
            for row in ranking.methods
        ]
        columns = ["rank", "method", "strength", "from", "to", "ranks", "win ratio", "votes"]
        sentences = [
            f"{count(ranking.votes, 'vote')} on {count(ranking.clusters, 'source')}",
            *([f"{percent(ranking.ties)} hard to distinguish"] if ranking.ties is not None else []),
            *([f"{percent(ranking.both_bad)} both bad"] if ranking.both_bad else []),
            "the order is settled" if ranking.stable else "the order is not settled",
            *([ranking.reason] if ranking.reason else []),
            *ranking.notes,
        ]
        shown += [Table(f"{label}{called}", columns, rows), "; ".join(sentences)]
    for label, of_methods in results.shares.items():
        what = _SHARES[study.question_of[label].kind]
        ordered = sorted(of_methods.items(), key=lambda pair: -pair[1].value)
        shares = [(name, ranked.value, ranked.low, ranked.high, ranked.n, ranked.reason) for name, ranked in ordered]
        columns = ["method", what, "from", "to", "tasks" if what == "selection frequency" else "answers", "note"]
        shown.append(Table(f"{label}{called}", columns, shares))
    return shown


def screen(study: InStudy, *, apply: bool = False, database: Database = None) -> Answer:
    """Say whose answers the study's rules would not count, and why. How results move is told too. Rules with `auto = true` act.

    Args:
        apply: Exclude whom rules propose, also where none may act by itself (but not by bt500 or circular_triads alone).

    Example: inpaintbench annotate screen STUDY
    """
    with opened(study, database) as open_study:
        if not open_study.became.file.screening:
            raise InputError(f"{open_study.became.file.title!r} states no rules; its study file takes them under [screening]")
        state = open_study.state()
        answers = state.votes(excluded=True)
        found = proposals(open_study.became, answers)
        desk = open_study.desk
        for of in found:
            if of.alone and (of.auto or apply):
                desk.exclude(of.rater_id, reason=of.reason, rule=of.rule)
        left_out = {(one.rater_id, one.submission) for one in desk.exclusions()}
        called = open_study.people.names(open_study.study_id)
    total = Counter(vote.rater_id for vote in answers)
    kept = {key for key in state.included if key[1] is None}
    rows = []
    for of in found:
        whole = (of.rater_id, None)
        state_of = "excluded" if whole in left_out else "kept by a person" if whole in kept else "proposed"
        rows.append((called.get(of.rater_id, of.rater_id), of.rule, of.reason, total[of.rater_id], state_of))
    flagged = {of.rater_id for of in found} - {rater_id for rater_id, _ in kept}
    without = [vote for vote in answers if vote.rater_id not in flagged and (vote.rater_id, vote.submission_id) not in left_out]
    everything, counted = results_of(open_study.became, answers), results_of(open_study.became, without)
    moved = changes(everything, counted)
    told: dict[str, object] = {"flagged": records(["rater", "rule", "reason", "answers", "state"], rows)}
    told |= {"changed_verdicts": [row._asdict() for row in moved], "with": _told(everything), "without": _told(counted)}
    verdicts = count(len(moved), "verdict") if moved else "no verdict"
    raters = count(len(flagged), "rater")
    sentence = f"{raters} of {len(total)} flagged; without them {verdicts} on methods would be another one"
    return Answer(told, Table("screening", ["rater", "rule", "why", "answers", "is"], rows), sentence)


def report(
    study: InStudy, *, out: Path | None = None, names: Names = False, seen: list[str] | None = None, database: Database = None
) -> Answer:
    """Write a page with everything that the answers say. The judgements lie beside it as a table.

    Args:
        out: Folder of the page. [default: STUDY/report]
        seen (FACT): Only answers that were seen so: width>=200, full_screen=yes, browser=Chrome ...

    Example: inpaintbench annotate report STUDY --out report
    """
    folder = out or study / "report"
    with opened(study, database) as open_study:
        state = open_study.state()
        events = events_read(open_study.journal, open_study.study_id)
        called = open_study.people.names(open_study.study_id) if names else None
        overview = open_study.desk.overview()
    folder.mkdir(parents=True, exist_ok=True)
    standing = seen_so(state.all_answers(), seen or ())
    export_judgements(open_study.became, standing.votes, folder / "judgements.csv", names=called)
    measured = measured_by(open_study.became)
    material = material_of(open_study.became, standing, events, overview=overview, names=called or {}, measured=measured)
    page = write_report(folder, material)
    assert material.counted is not None
    numbers = {"answers": len(standing.votes), "excluded": len(standing.everything) - len(standing.votes)}
    return Answer({"page": str(page), **numbers, **_told(material.counted)}, console.shown(page))


def resolve(
    study: InStudy,
    *,
    into: list[Path] | None = None,
    least_agreement: Share = 0.5,
    override: bool = False,
    database: Database = None,
) -> Answer:
    """Turn answers into labels and scores. The other rooms read these attributes, answers and scores.

    Args:
        into: Workspace (labels) or run (comparisons) to write to. May be given again for runs. [default: the study's own]
        least_agreement: Share of a clip's votes that a label needs.
        override: Count for clips that another study answered too.

    Example: inpaintbench annotate resolve STUDY --into WORKSPACE
    """
    with opened(study, database) as open_study:
        votes = open_study.votes()
    subjects = {question.subject for question in open_study.became.question_of.values()}
    of_study = open_study.became.file.subjects
    if not into and of_study.workspace == DEMO_WORKSPACE:
        raise InputError("the demo's films lie in no workspace, so nothing can be written there; name one with --into")
    paths = into or [Path(place) for place in ([of_study.workspace] if of_study.workspace else of_study.runs)]
    targets = [Workspace(path, create=False) for path in paths]
    written: dict[str, object] = {}
    shown: list[str | Table] = []
    if "clip" in subjects:
        if len(targets) > 1:
            named = ", ".join(repr(str(target.path)) for target in targets)
            raise UsageError(f"labels go into one workspace, {len(targets)} are named: {named}; give --into once")
        columns, rows = _resolve_labels(open_study.became, votes, targets[0], least_agreement=least_agreement, override=override)
        written |= {"workspace": targets[0].path, "labels": records([name.replace(" ", "_") for name in columns], rows)}
        shown.append(Table(f"written to {console.shown(targets[0].path)}", columns, rows))
    if subjects - {"clip"}:
        scores = preferences(open_study.became, votes)
        for run in targets:
            with console.writing(run):
                write_preferences(run, scores, open_study.became, override=override)
        known = sum(row.value is not None for row in scores)
        runs = [target.path for target in targets]
        written |= {"runs": runs, "metric": METRIC, "scores": known, "without_votes": len(scores) - known}
        where = ", ".join(map(console.shown, runs))
        shown.append(f"{known} scores of {METRIC} ({len(scores) - known} without votes) written to {where}")
    return Answer(written, *shown)


def _resolve_labels(
    study: Study, votes: Sequence[Vote], workspace: Workspace, *, least_agreement: float, override: bool
) -> tuple[list[str], list[tuple[object, ...]]]:
    kept = labels(study, votes, least_agreement=least_agreement)
    known = {clip.clip_id for clip in workspace.table("clips", Clip)}
    if not known & {task.subject_id for task in study.tasks}:
        raise InputError(f"{str(workspace.path)!r} has none of the study's clips; name the workspace that they are from")
    agreements = agreements_of(study, votes)
    with console.writing(workspace):
        write_labels(workspace, kept, study, override=override)
        workspace.write_table(AGREEMENT, step_of(study), agreements, Agreement)
    decided: dict[str, list[bool]] = {}
    for row in kept.answers:
        decided.setdefault(row.question, []).append(row.answer is not None)
    alphas = {part.question: part.alpha for part in reversed(agreements)}  # of the main part, which is the first
    rows: list[tuple[object, ...]] = []
    for label, of in decided.items():
        unsure, wrong, silent = (counts.get(label, 0) for counts in (kept.unsure, kept.against_gold, kept.unanswered))
        rows.append((label, sum(of) - unsure, unsure, len(of) - sum(of) - wrong, wrong, silent, alphas[label]))
    return ["question", "decided", "unclear", "without agreement", "against gold", "no answer", "alpha"], rows


def export(
    study: InStudy,
    *,
    out: Path,
    names: Names = False,
    media: Path | None = None,
    media_url: str = "/data/local-files/?d=",
    gold: bool = False,
    database: Database = None,
) -> Answer:
    """Write every judgement that stands to one table. For Label Studio all tasks are written, with their judgements.

    Args:
        out: A .parquet, .csv or .jsonl file, or a .json file for Label Studio.
        media: Also put the videos that Label Studio plays into this folder.
        media_url: Address of that folder, as Label Studio reaches it.
        gold: For Label Studio, also known answers, as ground truth.

    Example: inpaintbench annotate export STUDY --out judgements.csv
    """
    with opened(study, database) as open_study:
        called = open_study.people.names(open_study.study_id) if names else None
        votes, skips = open_study.votes(), open_study.state().skips()
        written = export_judgements(open_study.became, votes, out, names=called, media=media_url, skips=skips, gold=gold)
    told: dict[str, object] = {"file": out, "judgements": written}
    sentences = [f"{count(written, 'judgement')} in {console.shown(out)}"]
    if media is not None:
        videos = write_media(open_study.became, study, media)
        told |= {"media": media, "videos": videos}
        sentences.append(f"{count(videos, 'video')} in {console.shown(media)}")
    return Answer(told, "\n".join(sentences))


def import_file(study: InStudy, file: Path, *, gold: Path | None = None, database: Database = None) -> Answer:
    """Bring in judgements from elsewhere. Another journal will do; twice is the same as once.

    Args:
        file: A .parquet, .csv or .jsonl file of judgements, or a .json file of Label Studio.
        gold: Write the ground truth of Label Studio to this CSV file, for `gold` under [checks].

    Example: inpaintbench annotate import STUDY judgements.csv
    """
    with opened(study, database, answers=True) as open_study:
        done = import_judgements(file, open_study.became, open_study.journal, at=time.time())
        known = 0 if gold is None else write_gold(file, open_study.became, gold)
    apart = [
        *([f"{done.cancelled} cancelled"] if done.cancelled else []),
        *([f"{done.truths} of ground truth"] if done.truths else []),
    ]
    left_out = f"; left out: {' and '.join(apart)}" if apart else ""
    if not (done.stored or done.known or known):
        raise InputError(f"{str(file)!r} holds no judgements{left_out}")
    sentences = [f"{count(done.stored, 'judgement')} stored, {done.known} were here already{left_out}"]
    if gold is not None:
        advice = "name it under [checks] and prepare the study again"
        sentences.append(f"{count(known, 'known answer')} in {console.shown(gold)}; {advice}")
    facts = {"stored": done.stored, "known": done.known, "cancelled": done.cancelled, "truths": done.truths}
    return Answer({**facts, "gold": gold, "gold_answers": known}, "\n".join(sentences))
