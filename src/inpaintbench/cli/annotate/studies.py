"""`annotate studies`, `new`, `prepare`, `plan`: before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Le

from inpaintbench.annotate import shipped
from inpaintbench.annotate.preparing.prepare import prepare as prepare_study
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.statistics.planning import LabelPlan, Plan, Tried, difference_of, plan_labels, plan_selection
from inpaintbench.annotate.statistics.planning import plan as plan_votes
from inpaintbench.annotate.study import read_study_file
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, answers_stored
from inpaintbench.cli.console import AsJson, Processes, Running, print_json, records
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import Among, Natural
from inpaintbench.errors import InputError
from inpaintbench.pages.words import count, percent


def list_shipped(*, as_json: AsJson = False) -> None:
    """List the studies and questions that come with the program.

    Example: inpaintbench annotate studies
    """
    rows = []
    for name in shipped.names():
        file = shipped.read(name, folder=Path())
        rows.append((name, file.title, ", ".join(question.label for question in file.questions)))
    kinds = [(name, QUESTIONS.get(name).subject, QUESTIONS.get(name).scale) for name in QUESTIONS]
    if as_json:
        shown = records(["name", "subject", "scale"], kinds)
        print_json({"studies": records(["name", "title", "questions"], rows), "questions": shown})
        return
    console.print_table("studies", ["name", "title", "questions"], rows)
    console.print_table("questions", ["name", "a task shows", "scale"], kinds)


def new(name: Annotated[str, Among(shipped.names())], *, out: Path = Path("study.toml"), as_json: AsJson = False) -> None:
    """Write a shipped study as a file to complete and change.

    Args:
        name: A shipped study (`annotate studies` lists them).
        out: The file to write.

    Example: inpaintbench annotate new devil_labels --out study.toml
    """
    written = shipped.write(name, out)
    path = console.shown(written)
    sentence = f"{path}: set its paths, then `inpaintbench annotate prepare {path} --out STUDY`"
    console.tell(sentence, {"file": written}, as_json=as_json)


def prepare(file: Path, *, out: Path, database: Database = None, running: Processes = Running(), as_json: AsJson = False) -> None:
    """Make the tasks of a study and the videos that browsers play. Run it again to go on after an interruption.

    Args:
        file: The study file.
        out: Folder of the study.

    Example: inpaintbench annotate prepare study.toml --out STUDY
    """
    asked = read_study_file(file)
    study = prepare_study(
        asked, out, executor_of=running.on, answers_of=answers_stored(out, database), log=console.note if as_json else console.say
    )
    invite = "" if study.file.crowd else f"`inpaintbench annotate invite {console.shown(out)} NAME` and "
    console.tell(
        f"{len(study.tasks)} tasks, {len(study.proxies)} proxies in {console.shown(out)}; "
        f"next: {invite}`inpaintbench annotate serve {console.shown(out)}`",
        {"study_id": study.study_id, "folder": out, "tasks": len(study.tasks), "proxies": len(study.proxies)}, as_json=as_json,
    )  # fmt: skip


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
) -> None:
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
    if kind == "labels":
        of_labels = plan_labels(
            items=items, options=options, spread=spread, half_width=half_width, seed=seed, seconds_per_answer=seconds
        )
        if as_json:
            print_json(of_labels)
            return
        _print_labels(of_labels, title=f"{items} items, {options} options")
    elif kind == "best_of":
        chosen = plan_selection(half_width=half_width, seconds_per_answer=seconds)
        if as_json:
            print_json(chosen)
            return
        rows = [("tasks", chosen.tasks), ("votes, one a task", chosen.votes), ("hours of all raters together", chosen.hours)]
        console.print_table(f"selection frequency within {half_width:g}", ["what", "needed"], rows)
    else:
        if difference >= (1 - ties) / 2:
            wins = 0.5 + difference
            raise UsageError(f"with {percent(ties)} ties nobody wins {percent(wins)} of the votes; lower --ties or --difference")
        smallest = difference_of(0.5 + difference, ties=ties)
        with console.busy(f"simulating studies of {methods} methods"):
            plan = plan_votes(
                methods=methods, ties=ties, raters=raters, sources=sources, smallest_difference=smallest, power=power, seed=seed,
                seconds_per_answer=seconds, tell=_tried,
            )  # fmt: skip
        if as_json:
            print_json(plan)
            return
        _print_pairs(plan, title=f"{methods} methods, {sources} sources, {raters} raters")


def _tried(of: Tried) -> None:
    lies = [f"more than {of.above:,}"] if of.above else []
    lies += [f"at most {of.at_most:,}"] if of.at_most else []
    where = f"; {' and '.join(lies)} are needed" if lies else ""
    console.note(f"{count(of.votes, 'vote')}: enough in {percent(of.enough)} of {of.studies} simulated studies{where}")


def _print_labels(plan: LabelPlan, *, title: str) -> None:
    if plan.raters_per_item is None:
        raise InputError(f"no number of raters is enough: {plan.reason}")
    rows = [
        ("raters_per_task in the study file", plan.raters_per_item), ("votes", plan.votes),
        ("hours of all raters together", plan.hours), ("expected agreement of two raters", plan.agreement),
        ("its interval, to each side", plan.half_width), ("share of labels that are right", plan.right),
    ]  # fmt: skip
    console.print_table(title, ["what", "needed"], rows)


def _print_pairs(plan: Plan, *, title: str) -> None:
    if plan.votes is None:
        raise InputError(f"no number of votes is enough: {plan.reason}")
    rows = [
        ("votes", plan.votes), ("votes on each pair of methods", plan.per_pair),
        ("raters_per_task in the study file", plan.raters_per_task), ("hours of all raters together", plan.hours),
        ("share of simulated studies that found all differences", plan.power),
    ]  # fmt: skip
    console.print_table(title, ["what", "needed"], rows)
    for note in plan.notes:
        console.say(note)
