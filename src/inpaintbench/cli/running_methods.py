"""`eval run` and `eval check`: any method on any benchmark; `eval layouts` and `eval list`: what there is to run and measure,
and what a released program is installed with.
"""

from __future__ import annotations

import math
import re
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console, predicting
from inpaintbench.cli.console import Answer, EachLocally, Running, Table
from inpaintbench.cli.evaluate_options import FORMS, InDataset, Named, ProtocolName, Run, SomeSlices, any_method
from inpaintbench.cli.options import Among, FrozenDataset, argument, bundle, joined_bundles
from inpaintbench.cli.predicting import Programs, Wanted
from inpaintbench.cli.scoring import score
from inpaintbench.cli.watching import programs_watched
from inpaintbench.cli.words import check_name
from inpaintbench.errors import InputError, RunError, UnknownNameError, UsageError
from inpaintbench.eval.adapters.environments import beside, conda_file, environments, python_of, requirements
from inpaintbench.eval.adapters.layouts import layout_of, layouts
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, Applicable, usual
from inpaintbench.eval.scoring.check import check
from inpaintbench.eval.scoring.parts import items_of_slices
from inpaintbench.eval.scoring.predict import LOGS, why_not
from inpaintbench.eval.scoring.run_folder import check_reportable
from inpaintbench.workspace import Workspace

# For signatures: options of what wings do with results in place of scoring.
OfScorers: Any = joined_bundles("options of eval run")


def run(
    dataset: InDataset,
    *,
    method: Annotated[list[str], Named],
    run: Run,
    only: SomeSlices = None,
    report: bool = False,
    protocol: ProtocolName = None,
    besides: Annotated[Any, bundle(OfScorers)] = OfScorers(),
    programs: Programs = Programs(),
    wanted: Wanted = Wanted(),
    running: EachLocally = Running(),
) -> None:
    """Run methods, and with --report score and report them. Items are all or those of some slices; predictions of other items
    stay.

    With --report one command goes from a dataset to a page: the same as `eval run --for scores` and `eval report` afterwards.

    Args:
        report: Then score all predictions of the run folder, and write its report.

    Example: inpaintbench eval run DATASET --run RUN --method telea --method 'mine=python inpaint.py {input} {output}'
    """
    if protocol is not None and not report:
        raise UsageError("--protocol is for --report: predictions are the same under all protocols")
    program = wanted.program(programs.command_layout, programs.command_folder)
    specs = [any_method(text, program=program) for text in method]
    wanted = replace(wanted, slices=tuple(only or ()))
    chosen = protocol or usual(frozen.load(dataset))
    scorer = PROTOCOLS.get(chosen).its_scorer() if report else None
    asked = {name: value for of in vars(besides).values() for name, value in vars(of).items() if value is not None}
    if asked and scorer is None:
        of = next(of for of in vars(besides).values() if asked.keys() & vars(of).keys())
        names = " and ".join(f"--{name.replace('_', '-')}" for name in vars(of))
        raise UsageError(f"{names} are for --report of {of.asked_of}")
    if scorer:
        scorer.check(**asked)
    if report:
        check_reportable(dataset, wanted.slices)  # before anything is predicted
    failed = predicting.predict_and_tell(dataset, run, specs, wanted, running)
    if scorer:
        scorer.score(dataset, run, protocol=chosen, running=running, **asked)
    elif report:
        score(dataset, run=run, protocol=chosen, running=running)
    if report:
        from inpaintbench.cli.reporting import report as write_report  # its drawing takes as long to load as all the rest

        write_report(dataset, run=run, protocol=chosen)
    else:
        console.tell_next("eval", "run", dataset, "--run", run, "--for", "scores")
    predicting.raise_for(failed)


def list_layouts(name: Annotated[str | None, Among(layouts())] = None) -> None:
    """List layouts of programs, or tell all of one. `eval check NAME --program FOLDER` tries it.

    Args:
        name (NAME): A layout. [default: all]

    Example: inpaintbench eval layouts propainter
    """
    if name is None:
        rows = [(name, leaf.title, str(leaf), leaf.licence or "") for name, leaf in layouts().items()]
        console.print_table("Layouts", ["name", "for", "input -> output", "licence"], rows)
        return
    layout = layout_of(name)
    facts = layout.model_dump(exclude_defaults=True)
    if layout.is_preset:  # these matter whatever they are
        given = [name for name, there in (("hole_level", layout.takes_hole), ("clip_fps", layout.video_in)) if there]
        told = {*facts, *_OF_A_PRESET, *given}
        facts = {name: value for name, value in layout.model_dump().items() if name in told}
        facts["lossy"] = layout.lossy or "no: its results are lossless"
    console.print_table(name, ["field", "value"], [(name, _fact(value)) for name, value in facts.items()])
    if layout.is_preset:
        takes_weights = "{weights}" in " ".join((*layout.started, *layout.files.values()))
        named = f"{name},weights=WEIGHTS" if takes_weights else name
        if name in environments():
            console.say(f"What it is installed with today: inpaintbench eval layouts env {name}")
        console.tell_next("eval", "run", "DATASET", "--method", named, "--program", "FOLDER", "--run", "RUN")


# Fields that a preset is told with where they are the defaults too.
_OF_A_PRESET = ("composites", "dilates", "device", "timeout", "lossy")


def _fact(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {told!r}" if isinstance(told, str) else f"{name} {told}" for name, told in value.items() if told
        )
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_method(
    method: Annotated[str, argument(FORMS, metavar="METHOD", among=METHODS)],
    dataset: FrozenDataset | None = None,
    *,
    programs: Programs = Programs(),
    only: SomeSlices = None,
    wanted: Annotated[Wanted, bundle(Wanted, "reference", "divisor", "oracle_mask", "time_limit", "own_folder")] = Wanted(),
) -> None:
    """Try a method on two clips, and name its mistakes.

    It runs twice on a clip that is made for it and twice on the first item of the dataset. What it gives before known pixels are
    put back tells of another order of colours, frames that are late or early, flips, transposition and shifts, floats of another
    range, another size or padding left in, holes that stay as they were or are taken the other way round, results that differ
    from call to call, an input that is written into, and known pixels that are repainted. A method that puts known pixels back
    itself hides what it does to colours and time inside its hole. `eval run` does the same before its first item, and does not
    run what is refused. Exit status 1 where anything is.

    Args:
        dataset (DATASET): A frozen dataset, as for `eval run`: its first item is tried too. [default: a made clip alone]

    Example: inpaintbench eval check mine:fill DATASET
    """
    [spec] = predicting.with_references(
        [any_method(method, program=wanted.program(programs.command_layout, programs.command_folder))], wanted.reference or ()
    )
    loaded = None if dataset is None else frozen.load(dataset)
    if loaded is None and spec.leaf == "saved_folder":
        raise UsageError("a folder of results is looked at beside a dataset: eval check saved_folder,folder=RESULTS DATASET")
    if loaded is not None and (reason := why_not(spec, loaded, oracle_mask=wanted.oracle_mask)):
        raise InputError(reason)
    log = Path(f"{spec.label}.log")
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        with Running(workers=1).on(Workspace(Path(folder))) as executor, programs_watched(Path(folder, LOGS), [spec]):
            verdict = check(
                executor, spec, dataset=loaded, root=dataset or "", oracle_mask=wanted.oracle_mask,
                among=items_of_slices(loaded, only) if loaded is not None and only else None,
                time_limit_seconds=predicting.limit_of(spec, wanted.time_limit),
            )  # fmt: skip
        said = b"".join(path.read_bytes() for path in sorted(Path(folder, LOGS).glob("*/*.txt")))
    for clip in verdict.clips:
        known = clip.known_db
        kept = "as they were" if known == math.inf else known is not None and f"{known:.1f} dB from the input"
        console.say(f"tried on {clip.clip}{f': known pixels {kept}' if kept else ''}")
    reasons, _ = predicting.tell_verdict(spec.label, verdict, Path(folder))  # whose logs are gone, and below in one file
    if verdict.clips and not verdict.findings:
        console.say("no mistake shows")
    if said:
        log.write_bytes(said)
        console.say(f"what it said is in {log}")
    if reasons:
        raise RunError(f"`eval run` would not run {spec.label}, for it {'; '.join(reasons)}")
    if not verdict.clips:
        raise RunError(f"{spec.label} gave no result")


KINDS = ("methods", "metrics", "protocols")
Row = dict[str, Any]


def list_leaves(
    kind: Annotated[str | None, Among(KINDS)] = None, word: str | None = None, *, dataset: FrozenDataset | None = None
) -> Answer:
    """List methods, metrics and protocols. Name a kind, a word to look for, or a dataset to see less.

    Args:
        kind (KIND): One of: {names}. [default: all]
        word (WORD): Only what has this in its name or sentence. [default: everything]
        dataset --for (DATASET): Only what applies to this frozen dataset.

    Example: inpaintbench eval list metrics flow
    """
    if kind is not None and kind not in KINDS:
        if word is not None:
            raise UnknownNameError(unknown_name("kind", kind, list(KINDS)))
        kind, word = None, kind
    applies = Applicable(frozen.load(dataset)) if dataset else None

    def has_it(row: Row) -> bool:
        texts = (row["name"], row.get("what", ""), *row.get("metrics", ()))
        return word is None or any(word.casefold() in text.casefold() for text in texts)

    matching = {name: list(filter(has_it, _rows_of(name, applies))) for name in KINDS if kind in (None, name)}
    if word is not None and not any(matching.values()):
        raise UnknownNameError(f"nothing has {word!r} in its name or sentence; the kinds are {', '.join(KINDS)}")
    tables = [
        Table(name.capitalize(), ["name", "metrics" if name == "protocols" else "what"], map(_shown, rows))
        for name, rows in matching.items()
        if rows
    ]
    return Answer(matching, *tables)


def _rows_of(kind: str, applies: Applicable | None) -> list[Row]:
    """What the catalogue of a kind holds that applies to a dataset, or all of it."""
    if kind == "methods":
        methods = [METHODS.get(name) for name in METHODS if applies is None or applies.method(name)]
        return [{"name": leaf.name, "what": _sentence(leaf)} for leaf in methods]
    if kind == "metrics":
        rows = []
        for leaf in (METRICS.get(name) for name in METRICS if applies is None or applies.metric(name)):
            better = "not ranked" if not leaf.ranked else "higher" if leaf.higher_is_better else "lower"
            rows.append({"name": leaf.name, "unit": leaf.unit, "better": better, "what": _sentence(leaf)})
        return rows
    protocols = [(name, PROTOCOLS.get(name)) for name in PROTOCOLS]
    return [
        {"name": name, "metrics": protocol.metrics, "fingerprint": protocol.fingerprint}
        for name, protocol in protocols
        if applies is None or applies.protocol(protocol)
    ]


def _shown(row: Row) -> tuple[str, str]:
    """Two columns, which fit a narrow terminal: the name, and the first sentence with what numbers mean."""
    if "metrics" in row:
        return row["name"], f"{', '.join(row['metrics'])} ({row['fingerprint']})"
    first = re.split(r"(?<=[^.]\.)\s(?=[A-Z])", row["what"])[0]
    if "unit" not in row:
        return row["name"], first
    better = row["better"] if row["better"] == "not ranked" else f"{row['better']} is better"
    return row["name"], f"{first.removesuffix('.')} ({', '.join(filter(None, (row['unit'], better)))})"


def _sentence(leaf: Any) -> str:
    return " ".join((leaf.__doc__ or "").split("\n\n")[0].replace("``", "").split())


# Form -> what writes it, its file, the folder that is made of it, and how, with places for both and for the Python.
_ENVIRONMENT_FORMS = {
    "uv": (
        requirements, "requirements.txt", "venv",
        "uv venv --python {2} {0} && uv pip install --python {0} --requirement {1}",
    ),
    "conda": (conda_file, "environment.yml", "conda", "conda env create --prefix {0} --file {1}"),
}  # fmt: skip


def environment(
    name: Annotated[str, Among(environments())],
    *,
    form: Annotated[str, Among(tuple(_ENVIRONMENT_FORMS))] = "uv",
    out: Path | None = None,
) -> None:
    """Print or write what a released program is installed with today, with what replaces its packages that no longer install.

    Args:
        name (NAME): One of: {names}.
        form: Of the file: {names}; uv is requirements.txt, for pip too, and conda is environment.yml, for mamba too.
        out: Folder for the file and what it names beside it. [default: it is printed]

    Example: inpaintbench eval layouts env e2fgvi-hq --out ENVIRONMENT
    """
    check_name("form of an environment", form, list(_ENVIRONMENT_FORMS))
    writer, file_name, folder, how = _ENVIRONMENT_FORMS[form]
    text, files = writer(name), beside(name)
    if out is None:
        console.say(text.rstrip("\n"))
        for module in files:
            console.say(f"# {module}, which replaces a package, is written by --out FOLDER")
        return
    made, main = out / folder, out / file_name
    written = {main: text, **{out / module: words for module, words in files.items()}}
    for file, words in written.items():  # nothing of anybody else is written over
        if file.exists() and file.read_text(encoding="utf-8") != words:
            raise InputError(f"{str(out)!r} has a {file.name} that says something else; give another --out")
    out.mkdir(parents=True, exist_ok=True)
    for file, words in written.items():
        file.write_text(words, encoding="utf-8")
        console.say(f"wrote {file}")
    quoted = [shlex.quote(console.shown(path)) for path in (made, main)]
    console.say(how.format(*quoted, python_of(name)))
    if files:
        console.say(f"export PYTHONPATH={shlex.quote(str(out.absolute()))}")
    console.tell_next("eval", "check", f"{name},python={made / 'bin' / 'python'}", "--program", "FOLDER")
