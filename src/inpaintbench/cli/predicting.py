"""`eval run --for predictions`: run methods over a frozen dataset."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, Named, Run, any_method
from inpaintbench.cli.options import Among, Folder, Positive, Seconds, option, takes_addresses
from inpaintbench.cli.watching import programs_watched
from inpaintbench.cli.words import check_name, pair
from inpaintbench.errors import InputError, RunError, TooManyFailures, UsageError
from inpaintbench.eval.adapters.layouts import layout_of, layouts
from inpaintbench.eval.methods.brought import strangers
from inpaintbench.eval.scoring.check import Verdict, check, is_brought
from inpaintbench.eval.scoring.effort import beware_words
from inpaintbench.eval.scoring.parts import items_of_slices
from inpaintbench.eval.scoring.predict import LOGS, SECONDS, MethodSpec, build, labelled, why_not, without_holes
from inpaintbench.eval.scoring.predict import predict as predict_method
from inpaintbench.eval.scoring.run_folder import BETWEEN, bind, not_run, not_run_words, remembered
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.executors.unfinished import stopped
from inpaintbench.manifest import column
from inpaintbench.pages.words import span
from inpaintbench.steps import predict_step
from inpaintbench.storage import place
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

_GRACE_SECONDS = 60.0
_FAILURES_SHOWN, _OFTEN = 5, 3
# The log that a reason names, below the run folder.
_LOGGED = re.compile(r" \(log: [^()]*\)$")
# Values that reasons of one cause differ in: numbers, and what stands between quotation marks.
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|[-+]?\d[\d,.]*(e[-+]?\d+)?")


def _pair(text: str) -> tuple[str, str]:
    return pair(text, f"{text!r} has no label; write LABEL=FOLDER or LABEL=COMMAND, such as ours={text}")


@takes_addresses
def parse_saved(text: str) -> str:
    """``LABEL=FOLDER`` with the whole path of the folder, or with its address; raises what ``place`` raises."""
    label, folder = _pair(text)
    where = place(folder)
    return f"{label}={where.absolute() if isinstance(where, Path) else where}"


Saved = Annotated[
    list[str] | None,
    option(
        "Predictions made elsewhere: files ITEM.mp4, .mkv, .png, .jpg, .jpeg, .bmp, .webp, .tif or .tiff, "
        "or a folder ITEM of numbered images.",
        parser=parse_saved,
        metavar="LABEL=PATH|ADDRESS",
    ),
]
Commands = Annotated[
    list[str] | None, option("Any program; it gets an input folder and an output folder.", "--command", metavar="LABEL=PROGRAM")
]
Layout = Annotated[str, Among(layouts())]


def with_references(specs: Sequence[MethodSpec], labels: Sequence[str]) -> list[MethodSpec]:
    """``specs``, those with the ``labels`` as references.

    Raises:
        UnknownNameError: a label that no method has.
    """
    known = [spec.label for spec in specs]
    for label in labels:
        check_name("label of a method for --reference", label, known)
    return [replace(spec, reference=spec.reference or spec.label in labels) for spec in specs]


def check_labels(specs: Sequence[MethodSpec]) -> None:
    """Raise ``UsageError`` where two methods have one label; their files are one where a file system ignores case."""
    labels = [unicodedata.normalize("NFC", spec.label).casefold() for spec in specs]
    if double := [spec.label for spec, label in zip(specs, labels, strict=True) if labels.count(label) > 1]:
        raise UsageError(f"two methods are called {double[0]!r}; give each its own label, such as --method other=NAME")


def predict_all(
    executor: Executor,
    dataset: Dataset,
    root: Path,
    specs: Sequence[MethodSpec],
    *,
    full: bool,
    seconds: float | None = None,
    oracle_mask: bool = False,
    remarks: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, TooManyFailures]:
    """Run methods over every item, one after the other; ``full``, ``seconds`` and the ``remarks`` of a label as for ``predict``.

    Returns:
        Label of each method that came to the end of the executor's failure budget -> how; the others go on.
    """
    ended = {}
    for spec in specs:
        try:
            predict_method(
                executor, dataset, root=root, method=spec, keep_full_frames=full, oracle_mask=oracle_mask,
                time_limit_seconds=limit_of(spec, seconds), remarks=remarks.get(spec.label, ()),
            )  # fmt: skip
        except TooManyFailures as error:
            ended[spec.label] = error
    return ended


def limit_of(spec: MethodSpec, seconds: float | None) -> float:
    """Time for one item of a method, in seconds, where ``seconds`` were asked for."""
    # A program is stopped by its own clock first, which tells more than a killed worker.
    return build(spec).time_limit_seconds + _GRACE_SECONDS if spec.leaf == "command" else seconds or SECONDS


@dataclass(frozen=True)
class Wanted:
    """Options of `eval run --for predictions` and `eval run` besides the methods.

    Attributes:
        reference (LABEL): A method of this call that is a floor to see others against, as blank is: it is shown and never
            ranked. May be given again. [default: blank alone]
        divisor: Pad the input of programs to multiples of this. [default: that of the layout]
        keep_full_frames: Keep pixels outside the hole too.
        oracle_mask: Show methods the hole of a benchmark that hides it; their labels say so.
        time_limit: Seconds for one item; without worker processes programs alone are stopped. [default: 3600, or that of the
            layout]
        own_folder --program: Folder of the program of a preset (see `eval layouts`), such as a clone of its repository. [default:
            none]
        despite_check: Run methods that the check before the run refuses; what it found stands beside their scores.
    """

    reference: list[str] | None = None
    divisor: Positive | None = None
    keep_full_frames: bool = False
    oracle_mask: bool = False
    time_limit: Seconds | None = None
    own_folder: Folder | None = None
    despite_check: bool = False
    slices: tuple[str, ...] = ()
    """Only items of these; () = all."""
    called: Mapping[str, str] = field(default_factory=dict)
    """Ids of items and folders of links -> what people call them, in what is told of failures."""

    def program(self, layout: str, folder: Path | None = None) -> dict[str, Any]:
        """Constants of the method ``command`` besides the command; the divisor is the layout's unless it is given.

        Programs run in ``folder``; None = a temporary one, for presets that of ``--program``.
        """
        places, own = [place for place in (folder, self.own_folder) if place is not None], layout_of(layout).divisor
        return {
            **({"time_limit_seconds": self.time_limit} if self.time_limit else {}),
            "divisor": self.divisor or (own if isinstance(own, int) else list(own)),
            "layout": layout,
            **({"folder": str(places[0].absolute())} if places else {}),
        }


@dataclass(frozen=True)
class Programs:
    """How programs of one's own are called.

    Attributes:
        command_layout: File names for programs: {names}, or a file of yours that ends in .toml.
        command_folder: Where programs run. [default: a temporary folder]
    """

    command_layout: Layout = "plain"
    command_folder: Folder | None = None


def predict(
    dataset: InDataset,
    *,
    run: Run,
    method: Annotated[list[str] | None, Named] = None,
    saved: Saved = None,
    command: Commands = None,
    layout: Layout = "plain",
    wanted: Wanted = Wanted(),
    running: console.EachLocally = console.Running(),
) -> None:
    """Run methods over every item; what is done already is kept.

    Args:
        layout: File names for programs: {names}, or a file of yours that ends in .toml.

    Example: inpaintbench eval run --for predictions DATASET --run RUN --method telea --saved mine=FOLDER
    """
    program = wanted.program(layout)
    specs = [any_method(text, program=program) for text in method or ()]
    specs += [MethodSpec(label, "saved_folder", {"folder": folder}) for label, folder in map(_pair, saved or ())]
    specs += [MethodSpec(label, "command", {"command": value, **program}) for label, value in map(_pair, command or ())]
    if not specs:
        raise UsageError("no method: give --method, --saved or --command")
    check_labels(specs)
    failed = predict_and_tell(dataset, run, specs, wanted, running)
    console.tell_next("eval", "run", dataset, "--run", run, "--for", "scores")
    raise_for(failed)


def raise_for(failed: Sequence[str]) -> None:
    """Raise ``RunError`` for methods that did not come to their end, where there are any, once the others are done with."""
    if failed:
        raise RunError("; ".join(failed))


def predict_and_tell(root: Path, run: Path, specs: Sequence[MethodSpec], wanted: Wanted, running: console.Running) -> list[str]:
    """Run methods over the items of a dataset, into a run folder, and print what came of it.

    Returns:
        A sentence for each method that did not come to its end or made no prediction, for ``raise_for``.

    Raises:
        InputError: what cannot run. RunError: not one prediction was made.
    """
    specs = with_references(specs, wanted.reference or ())
    check_labels(specs)
    loaded = frozen.load(root)
    specs = _that_can_run(specs, loaded, oracle_mask=wanted.oracle_mask)
    if wanted.oracle_mask and not any(map(frozen.has_hole, loaded.items)):
        raise InputError(f"{loaded.name!r} has no holes to show: {without_holes(loaded)}; leave out --oracle-mask")
    chosen = items_of_slices(loaded, wanted.slices) if wanted.slices else None
    workspace = Workspace(run)
    if words := bind(workspace, root):
        console.say(words)
    with running.on(workspace) as executor, programs_watched(workspace.path / LOGS, specs):
        bind(workspace, root)  # at an address another machine may have begun it meanwhile
        refused, remarks = _checked(executor, loaded, root, specs, wanted, among=chosen)
        specs = [spec for spec in specs if spec.label not in refused]
        labels = [labelled(spec.label, loaded, oracle_mask=wanted.oracle_mask) for spec in specs]
        predictions = ((label, workspace.table("predictions", Prediction, step=predict_step(label))) for label in labels)
        before = {label: {row.item_id for row in rows} for label, rows in predictions}
        executor.only = chosen
        ended = predict_all(
            executor, loaded, root, specs, full=wanted.keep_full_frames, seconds=wanted.time_limit,
            oracle_mask=wanted.oracle_mask, remarks=remarks,
        )  # fmt: skip
    if ended:
        stopped(workspace)  # writes the tables of what they had done
    made = [
        _tell(workspace, loaded, spec, label, before[label], wanted.called) for spec, label in zip(specs, labels, strict=True)
    ]
    if wanted.oracle_mask and loaded.items[0]["hole_is_given"]:
        console.warn("this benchmark gives methods the hole anyway; --oracle-mask changed nothing")
    failed = list(refused.values())
    for label, error in ended.items():
        reason, where = _LOGGED.sub("", error.reason), _log_of([error.subject_id], label, workspace.path)
        failed.append(
            f"{label} was ended after more than {error.most} failures, the last one on item {error.subject_id}: {reason}{where}"
        )
    if not sum(made):
        raise_for(["not one prediction was made", *failed])
    without = [label for spec, label, count in zip(specs, labels, made, strict=True) if not count and spec.label not in ended]
    return failed + [f"{label} made no prediction" for label in without]


def _checked(
    executor: LedgeredExecutor,
    dataset: Dataset,
    root: Path,
    specs: Sequence[MethodSpec],
    wanted: Wanted,
    *,
    among: Collection[str] | None,
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Try the methods that are not of this package and say what was found.

    Returns:
        Label -> why the method is not run; label -> sentences that stand beside its scores.
    """
    refused, remarks = {}, {}
    for spec in filter(is_brought, specs):
        limit = limit_of(spec, wanted.time_limit)
        verdict = check(
            executor, spec, dataset=dataset, root=root, among=among, oracle_mask=wanted.oracle_mask, time_limit_seconds=limit
        )
        label = labelled(spec.label, dataset, oracle_mask=wanted.oracle_mask)
        reasons, told = tell_verdict(label, verdict, executor.workspace.path, wanted.called)
        remarks[spec.label] = [f"Tried before the run, it {words}." for words in told]
        if reasons and not wanted.despite_check:
            refused[spec.label] = f"{spec.label} is not run, for it {'; '.join(reasons)}: --despite-check runs it all the same"
            console.warn(refused[spec.label])
    return refused, remarks


def tell_verdict(
    label: str, verdict: Verdict, folder: Path, called: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], list[str]]:
    """Print what the check of a method noted or warns of, and on what it could not be tried.

    Args:
        label: of the method.
        verdict: of the check.
        folder: the run folder, with the logs.
        called: as of ``Wanted``.

    Returns:
        Why it should not run; what stands beside its scores.
    """
    late = []
    for rows in _causes(verdict.untried, called):
        clip = f"the clip {called.get(rows[0].subject_id, rows[0].subject_id)!r}"
        where = clip if len(rows) == 1 else f"{len(rows)} clips, such as {clip}"
        log = _log_of([row.subject_id for row in rows], label, folder)
        if verdict.timed_out:
            late.append(f"{rows[0].reason} on {where}{log}")
        else:
            console.note(f"{label} could not be tried on {where}: {rows[0].reason}{log}")
    for finding in verdict.findings:
        if finding.weight != "refused":
            (console.warn if finding.weight == "warned" else console.note)(f"{label} {finding.told}")
    refused = [one.told for one in verdict.findings if one.weight == "refused"]
    return late + refused, refused + [one.told for one in verdict.findings if one.weight == "warned"]


def _that_can_run(specs: Sequence[MethodSpec], dataset: Dataset, *, oracle_mask: bool) -> list[MethodSpec]:
    """The methods that this benchmark gives what they need, known before anything runs; says why the others are left out.

    Raises:
        InputError: there is none, one that cannot be built, or whose predictions lie nowhere. NetworkError: for now.
    """
    reasons = {spec.label: why_not(spec, dataset, oracle_mask=oracle_mask) for spec in specs}
    able = [spec for spec in specs if reasons[spec.label] is None]
    refused = list(dict.fromkeys(filter(None, reasons.values())))
    if not able:
        raise InputError("; ".join(refused))
    for reason in refused:
        console.warn(f"left out: {reason}")
    for spec in able:
        build(spec).content(column(dataset, "item_id")[0])  # or there would be a run folder already when nothing is found
    return able


def _tell(
    workspace: Workspace, dataset: Dataset, spec: MethodSpec, label: str, before: set[str], called: Mapping[str, str]
) -> int:
    """Print what became of one method; how many predictions it has."""
    step = predict_step(label)
    made, failed = workspace.table("predictions", Prediction, step=step), workspace.table("rejected", Rejection, step=step)
    console.say(f"{label}: {len(made)} predictions, {len(failed)} failed")
    if ceilings := [row.ceiling_db for row in made if row.ceiling_db is not None]:
        kept = span(f"{min(ceilings):.1f}", f"{max(ceilings):.1f}")
        console.say(f"  read from lossy files: the inputs, written alike, keep {kept} dB")
    if known := [row.known_db for row in made if row.known_db is not None]:
        away = span(f"{min(known):.1f}", f"{max(known):.1f}")
        console.say(
            f"  known pixels of {len(known)} came back {away} dB from the input; they are put back for all but whole frames"
        )
    _tell_failures(failed, label, workspace.path, called)
    if failed:
        console.say("  --retry-rejected tries these again, once what kept them is mended")
    ids = column(dataset, "item_id") if failed and spec.leaf == "saved_folder" else []
    if ids and (names := strangers(place(str(spec.constants["folder"])), set(ids))):
        many = "1 file or folder has" if len(names) == 1 else f"{len(names)} files and folders have"
        console.say(f"  {many} the name of no item, such as {names[0]!r}; items are called like {ids[0]!r}")
    if words := not_run_words(workspace, dataset, label):
        console.say(f"  {words}")
    if words := beware_words(remembered(workspace, BETWEEN).get(label, "")):
        console.warn(f"{label} {words}")
    if dropped := before.intersection(not_run(workspace, dataset, label)):
        text = f"  {len(dropped)} earlier predictions were of another version or other constants of {label}, and are left out"
        console.say(text)
    return len(made)


def _tell_failures(failed: Sequence[Rejection], label: str, run: Path, called: Mapping[str, str]) -> None:
    """Print the causes that several items share in one line, whatever values they name, then some others, each with one item and
    its log."""
    causes = _causes(failed, called)
    often = [rows for rows in causes if len(rows) >= _OFTEN]
    others = [[row] for rows in causes if len(rows) < _OFTEN for row in rows]
    for rows in [*often, *others[:_FAILURES_SHOWN]]:
        first = called.get(rows[0].subject_id, rows[0].subject_id)
        which = first if len(rows) == 1 else f"{len(rows)} items, such as {first}"
        console.say(f"  {which}: {rows[0].reason}{_log_of([row.subject_id for row in rows], label, run)}")
    if len(others) > _FAILURES_SHOWN:
        console.say(f"  and {len(others) - _FAILURES_SHOWN} more")


def _causes(failed: Sequence[Rejection], called: Mapping[str, str]) -> list[list[Rejection]]:
    """Failures of one cause together, whatever values their reasons name; reasons in one line, without their logs."""
    names = {repr(name): repr(word) for name, word in called.items()}
    alike: dict[str, list[Rejection]] = {}
    for row in failed:
        reason = " ".join(_LOGGED.sub("", row.reason).split())
        alike.setdefault(_VALUES.sub("#", reason.replace(row.subject_id, "#")), []).append(
            replace(row, reason=re.sub("'[^']+'", lambda quoted: names.get(quoted[0], quoted[0]), reason))
        )
    return list(alike.values())


def _log_of(items: Sequence[str], label: str, run: Path) -> str:
    """Where it stands what the method said of the first of some items that left a log, also where its process died of it."""
    log = next((log for item in items if (log := run / LOGS / label / f"{item}.txt").exists()), None)
    return "" if log is None else f" (log: {log})"
