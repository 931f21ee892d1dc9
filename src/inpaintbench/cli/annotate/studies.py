"""`annotate studies`, `new`, `prepare`, `upload`, `plan`, before anybody is asked; `crowd`, `withdraw`, `close`, `space`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Le

from inpaintbench.annotate import media, rehearsal, shipped
from inpaintbench.annotate.preparing.prepare import prepare as prepare_study
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.records import Proportion
from inpaintbench.annotate.space import write_space
from inpaintbench.annotate.statistics import planning
from inpaintbench.annotate.study import load, read_study_file
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, InStudy, answers_stored, opened
from inpaintbench.cli.annotate.running import Name
from inpaintbench.cli.console import Answer, AsJson, Processes, Running, Table, records
from inpaintbench.cli.options import Among, Natural, read_option
from inpaintbench.errors import InputError, UsageError
from inpaintbench.files import write_atomically
from inpaintbench.pages.words import count, percent


def crowd(study: InStudy, *, database: Database = None, csv: Path | None = None) -> Answer:
    """Whom to pay or to refuse of those that a platform sent. The platform is told by you.

    Args:
        csv: Write the table in the form of the platform here.

    Example: inpaintbench annotate crowd STUDY --csv payments.csv
    """
    from inpaintbench.annotate.outcomes.payments import as_csv

    with opened(study, database) as open_study:
        platform, rows = open_study.crowd().platform, list(open_study.payments().values())
    if csv is not None:
        write_atomically(csv, as_csv(rows, platform).encode())
    columns = ["person", "participant", "state", "decision", "minutes", "answers", "gold right", "of", "why"]
    cells = [
        (row.person, row.participant_id, row.state, row.decision, row.minutes, row.answers, row.gold_right, row.gold_asked,
         row.message)
        for row in rows
    ]  # fmt: skip
    written = [f"{len(rows)} people in {console.shown(csv)}"] if csv is not None else []
    decided = [f"{decision}: {many}" for decision, many in Counter(row.decision for row in rows).most_common()]
    return Answer({"people": rows}, *written, Table("crowd", columns, cells), *decided)


def withdraw(study: InStudy, name: Name, *, database: Database = None, keep_votes: bool = False, paid: bool = False) -> Answer:
    """Erase a person: name, platform's ids, free words, links. Answers are excluded unless they are to be kept.

    Args:
        keep_votes: What they answered still counts, under a pseudonym.
        paid: The platform knows the decision on somebody who came to an end; until then its record of them stays.

    Example: inpaintbench annotate withdraw STUDY Ada
    """
    with opened(study, database) as open_study:
        rater_id = open_study.rater(name).rater_id
        open_study.desk.withdraw(rater_id, keep_votes=keep_votes)
        counts = open_study.desk.state().excluded(rater_id) is None
        kept = not paid and open_study.desk.is_owed(rater_id)
        erased = open_study.participants.erase(open_study.study_id, rater_id, keep_payment=kept)
    stays = ["The platform's record stays until you have paid or refused them: then say --paid"] if kept else []
    return Answer(
        {**asdict(erased), "answers_count": counts},
        f"{erased.name}: erased {erased.participants} of the platform's records, {erased.words} free words, "
        f"{erased.links} links; answers {'count' if counts else 'are excluded'}. Backups that you made before still hold them",
        *stays,
    )


def close(study: InStudy, *, database: Database = None) -> Answer:
    """End a study with a crowd: links to people are deleted. Pay everybody before.

    Example: inpaintbench annotate close STUDY
    """
    with opened(study, database) as open_study:
        open_study.crowd()
        many = open_study.participants.forget(open_study.study_id)
    sentence = f"{many} people can no longer be linked to their answers, and nobody can arrive any more"
    return Answer({"unlinked": many, "open": False}, sentence)


def space(study: InStudy, *, out: Path, wheel: Path | None = None) -> Answer:
    """Write what serves a study in a container or a Space. Nothing is sent anywhere.

    Args:
        out: Folder of the files; new or empty.
        wheel: Wheel of this package; else put one into wheels/.

    Example: inpaintbench annotate space STUDY --out SPACE
    """
    written = write_space(out, title=load(study).file.title, wheel=wheel)
    lines = [f"wrote {console.shown(path)}" for path in written]
    if wheel is None:
        wheels = shlex.quote(console.shown(out / "wheels"))
        lines.append(f"The image needs a wheel of this program: pip wheel --no-deps --wheel-dir {wheels} PATH_TO_CLONE")
    lines.append(
        f"Next: hf upload OWNER/NAME {shlex.quote(console.shown(out))} --repo-type=space, into a Space of the kind Docker"
    )
    return Answer({"files": written}, "\n".join(lines))


def list_shipped() -> Answer:
    """List the studies and questions that come with the program.

    Example: inpaintbench annotate studies
    """
    rows = []
    for name in shipped.names():
        file = shipped.read(name, folder=Path())
        rows.append((name, file.title, ", ".join(question.label for question in file.questions)))
    kinds = [(name, QUESTIONS.get(name).subject, QUESTIONS.get(name).scale) for name in QUESTIONS]
    return Answer(
        {"studies": records(["name", "title", "questions"], rows), "questions": records(["name", "subject", "scale"], kinds)},
        Table("studies", ["name", "title", "questions"], rows),
        Table("questions", ["name", "a task shows", "scale"], kinds),
    )


def new(name: Annotated[str, Among(shipped.names())], *, out: Path = Path("study.toml")) -> Answer:
    """Write a shipped study as a file to complete and change.

    Args:
        name: A shipped study (`annotate studies` lists them).
        out: The file to write.

    Example: inpaintbench annotate new devil_labels --out study.toml
    """
    written = shipped.write(name, out)
    path = console.shown(written)
    sentence = f"{path}: set its paths, then `inpaintbench annotate prepare {path} --out STUDY`"
    return Answer({"file": written}, sentence)


def prepare(
    file: Path, *, out: Path, database: Database = None, rehearse: str | None = None, running: Processes = Running(),
    as_json: AsJson = False,
) -> Answer:  # fmt: skip
    """Make the tasks of a study and the videos that browsers play. Run it again to go on after an interruption.

    Args:
        file: The study file.
        out: Folder of the study.
        rehearse (KIND=PEOPLE,...): Then let simulated people work through all of it over HTTP, and say what would come out:
            honest, minority, clicker, coin, program.

    Example: inpaintbench annotate prepare study.toml --out STUDY --rehearse honest=20,minority=5,clicker=3,coin=2
    """
    people = read_option(_people, rehearse) if rehearse else {}
    asked = read_study_file(file)
    study = prepare_study(
        asked, out, executor_of=running.on, answers_of=answers_stored(out, database), log=console.note if as_json else console.say
    )
    invite = "" if study.file.crowd else f"`inpaintbench annotate invite {console.shown(out)} NAME` and "
    tried = _rehearsal(out, people, tell=console.note if as_json else console.say) if people else Answer(None)
    return Answer(
        {
            "study_id": study.study_id, "folder": out, "tasks": len(study.tasks), "proxies": len(study.proxies),
            "rehearsal": tried.facts,
        },
        *tried.shown,
        f"{len(study.tasks)} tasks, {len(study.proxies)} proxies in {console.shown(out)}; "
        f"next: {invite}`inpaintbench annotate serve {console.shown(out)}`",
    )  # fmt: skip


def upload(study: InStudy, *, to: str = "") -> Answer:
    """Bring what browsers play to a bucket.

    What is there already stays. The bucket has to let the study's origin read (CORS).

    Args:
        to: Bucket and folder, `s3://BUCKET/FOLDER`, where [media] names none: a CDN has one behind it.

    Example: inpaintbench annotate upload STUDY --to s3://bucket/study
    """
    made = load(study)
    sent, place = media.upload(made, study, to)
    there = len(media.sizes(made, study))
    return Answer({"sent": sent, "files": there, "address": place}, f"{count(len(sent), 'file')} of {there} sent to {place}")


def _people(text: str) -> dict[rehearsal.Kind, int]:
    """``honest=20,coin=3``."""
    given = [(name.strip(), many.strip()) for name, _, many in (one.partition("=") for one in text.split(","))]
    said = dict(given)
    if wrong := [name for name, many in given if name not in rehearsal.KINDS or not (many.isascii() and many.isdecimal())]:
        raise InputError(
            f"{wrong[0]!r} is no kind of people with their number; "
            f"kinds are {', '.join(rehearsal.KINDS)}: write {rehearsal.KINDS[0]}=20"
        )
    if len(said) < len(given):
        raise InputError(f"{text!r} names a kind of people twice; name each once")
    if not any(map(int, said.values())):
        raise InputError(f"{text!r} is nobody; at least one person has to come")
    return {kind: int(said[kind]) for kind in rehearsal.KINDS if int(said.get(kind, 0))}


def _rehearsal(folder: Path, people: Mapping[rehearsal.Kind, int], *, tell: Callable[[str], None]) -> Answer:
    """What the study would say of simulated people, after its rules have left out whom they flag."""
    from inpaintbench.annotate.screening.base import proposals
    from inpaintbench.cli.annotate.results import agreement, ranking, screen

    with rehearsal.rehearsed(folder, people, tell=tell) as tried:
        if tried.study.file.screening:
            screen(tried.folder, apply=True)
        with opened(tried.folder, None) as open_study:
            state, paid = open_study.desk.state(), Counter[tuple[rehearsal.Kind, str]]()
            found = {one.rater_id for one in proposals(open_study.study, state.votes(excluded=True))}
            for rater_id, row in open_study.payments().items() if open_study.study.file.crowd else ():
                paid[tried.kind_of[rater_id], row.decision] += 1
        rows = []
        for kind in people:
            ours = [rater_id for rater_id, of in tried.kind_of.items() if of == kind]
            gold = [right for rater_id in ours for right in state.rater(rater_id).gold]
            ends = Counter(tried.ended[rater_id].replace("_", " ") for rater_id in ours)
            rows.append((
                kind, len(ours), sum(state.rater(rater_id).answered for rater_id in ours), percent(Proportion.of(gold).value),
                ", ".join(f"{end}: {many}" for end, many in ends.most_common()),
                len(found.intersection(ours)), sum(state.excluded(rater_id) is not None for rater_id in ours),
                ", ".join(f"{decision}: {many}" for (of, decision), many in paid.items() if of == kind),
            ))  # fmt: skip
        columns = ["kind", "people", "answers", "gold right", "ended", "proposed", "left out", "payment"]
        compares = any(task.candidates for task in tried.study.tasks)
        parts = {"agreement": agreement(tried.folder), **({"ranking": ranking(tried.folder)} if compares else {})}
        order = rehearsal.order_of(tried.study, "honest")
    held = " > ".join(sorted(order, key=lambda name: -order[name]))
    facts = {"people": records(columns, rows), "order": order, **{name: part.facts for name, part in parts.items()}}
    sentence = [f"The order that honest ones hold, and the minority in reverse: {held}"] if order else []
    return Answer(
        facts, Table("rehearsal", columns, rows), *sentence, *(shown for part in parts.values() for shown in part.shown)
    )


def plan(
    *,
    kind: Literal["pairwise", "labels", "best_of"] = "pairwise",
    methods: Annotated[int, Ge(2)] = 5,
    difference: Annotated[float, Ge(0.01), Le(0.45)] = 0.1,
    ties: Annotated[float, Ge(0), Le(0.9)] = 0.15,
    raters: Annotated[int, Ge(2)] = 30,
    sources: Annotated[int, Ge(3)] = 40,
    power: Annotated[float, Ge(0.5), Le(0.99)] = 0.9,
    items: Annotated[int, Ge(2)] = 100,
    options: Annotated[int, Ge(2)] = 7,
    spread: Annotated[float, Ge(0.05), Le(10)] = 0.5,
    half_width: Annotated[float, Ge(0.001), Le(0.49)] = 0.05,
    seconds: Annotated[float, Ge(0.5)] = 8.0,
    seed: Natural = 0,
    as_json: AsJson = False,
) -> Answer:
    """Say how many votes a study needs, before it starts.

    Args:
        kind: What is asked: pairs, labels, or the best of several.
        methods: Pairwise: to be compared.
        difference: Pairwise: smallest that matters; 0.1 = 60 % of the votes for the better one.
        ties: Pairwise: expected share of `hard to distinguish`.
        raters: Pairwise: people who take part.
        sources: Pairwise: films or pictures that are compared.
        power: Pairwise: chance that all differences are found.
        items: Labels: to be labelled.
        options: Labels: steps of the scale.
        spread: Labels: spread of the raters around an item, in steps.
        half_width: Labels, best_of: of the interval that is wanted, as a share.
        seconds: For one answer.
        seed: Of the simulation.

    Example: inpaintbench annotate plan --methods 5 --raters 30 --sources 40
    """
    facts: planning.LabelPlan | planning.SelectionPlan | planning.Plan
    rows: list[tuple[str, object]]
    notes: Sequence[str] = ()
    if kind == "labels":
        labels = planning.plan_labels(
            items=items, options=options, spread=spread, half_width=half_width, seed=seed, seconds_per_answer=seconds
        )
        if labels.raters_per_item is None and not as_json:
            raise InputError(f"no number of raters is enough: {labels.reason}")
        facts, title = labels, f"{items} items, {options} options"
        rows = [
            ("raters_per_task in the study file", labels.raters_per_item), ("votes", labels.votes),
            ("hours of all raters together", labels.hours), ("expected agreement of two raters", labels.agreement),
            ("its interval, to each side", labels.half_width), ("share of labels that are right", labels.right),
        ]  # fmt: skip
    elif kind == "best_of":
        chosen = planning.plan_selection(half_width=half_width, seconds_per_answer=seconds)
        facts, title = chosen, f"selection frequency within {half_width:g}"
        rows = [("tasks", chosen.tasks), ("votes, one a task", chosen.votes), ("hours of all raters together", chosen.hours)]
    else:
        if difference >= (1 - ties) / 2:
            wins = 0.5 + difference
            raise UsageError(f"with {percent(ties)} ties nobody wins {percent(wins)} of the votes; lower --ties or --difference")
        smallest = planning.difference_of(0.5 + difference, ties=ties)
        with console.busy(f"simulating studies of {methods} methods"):
            pairs = planning.plan(
                methods=methods, ties=ties, raters=raters, sources=sources, smallest_difference=smallest, power=power, seed=seed,
                seconds_per_answer=seconds, tell=_tried,
            )  # fmt: skip
        if pairs.votes is None and not as_json:
            raise InputError(f"no number of votes is enough: {pairs.reason}")
        facts, title, notes = pairs, f"{methods} methods, {sources} sources, {raters} raters", pairs.notes
        rows = [
            ("votes", pairs.votes), ("votes on each pair of methods", pairs.per_pair),
            ("raters_per_task in the study file", pairs.raters_per_task), ("hours of all raters together", pairs.hours),
            ("share of simulated studies that found all differences", pairs.power),
        ]  # fmt: skip
    return Answer(facts, Table(title, ["what", "needed"], rows), *notes)


def _tried(of: planning.Tried) -> None:
    lies = [f"more than {of.above:,}"] if of.above else []
    lies += [f"at most {of.at_most:,}"] if of.at_most else []
    where = f"; {' and '.join(lies)} are needed" if lies else ""
    console.note(f"{count(of.votes, 'vote')}: enough in {percent(of.enough)} of {of.studies} simulated studies{where}")
