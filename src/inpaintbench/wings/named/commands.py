"""`bench`: a published benchmark from its data to a table with its printed rows, and what each of them needs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.catalogue import attribute_at, known_name
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Build, Described, make_recipe
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, EachLocally, Running, Table
from inpaintbench.cli.evaluate_options import Named as AnyMethod
from inpaintbench.cli.evaluate_options import SomeSlices, any_method, results_of
from inpaintbench.cli.options import Among, bundle, option
from inpaintbench.cli.predicting import Saved, Wanted, check_labels, predict_and_tell, raise_for
from inpaintbench.cli.reporting import report as write_report
from inpaintbench.cli.scoring import score
from inpaintbench.cli.words import pair
from inpaintbench.curation.sources.base import unquoted_path
from inpaintbench.curation.sources.edit_prompts import read_prompts
from inpaintbench.curation.sources.removal_layouts import GENERIC
from inpaintbench.errors import InputError, NotMeasurable, RunError, UsageError
from inpaintbench.eval.hub import folder_or_hub
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.files import write_atomically
from inpaintbench.models.weights import known, state
from inpaintbench.pages.tables import comma_separated, latex
from inpaintbench.pages.words import count
from inpaintbench.recipes import RECIPES
from inpaintbench.recipes.options import read_size
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset
from inpaintbench.wings.named.definition import Located, Named, named, names
from inpaintbench.wings.named.standing import Films, differences_of_columns, differences_of_data, standing
from inpaintbench.workspace import Workspace

app = group(
    {
        "run": "inpaintbench.wings.named.commands:run",
        "list": "inpaintbench.wings.named.commands:list_benchmarks",
        "show": "inpaintbench.wings.named.commands:show",
    },
    help="A published benchmark: from its data to its table.",
    usual="run",
)
_WRITERS = {".tex": latex, ".csv": comma_separated}
BenchmarkName = Annotated[str, Among(names())]


def run(
    name: BenchmarkName,
    *,
    data: str,
    method: Annotated[list[str] | None, AnyMethod] = None,
    saved: Saved = None,
    out: Path,
    workspace: Path | None = None,
    only: SomeSlices = None,
    allow_unmatched: bool = False,
    options: list[str] | None = None,
    report: Annotated[bool, option("Write the report of the run, too.", "--report/--no-report")] = True,
    wanted: Annotated[Wanted, bundle(Wanted, "divisor", "time_limit", "own_folder", "despite_check")] = Wanted(),
    described: Described = Described(),
    running: EachLocally = Running(),
) -> console.Next:
    """Build a benchmark of its data, run methods, write its table. The printed rows stand in it, too.

    What is done already is kept. A column whose data, size, frames, masks, colours or network differ from the paper's is marked,
    and nobody is best in it.

    Args:
        name (NAME): Which: {names}.
        data (FOLDER): Its data, as they were downloaded and unpacked (`bench show NAME` tells the tree), or OWNER/NAME[@REVISION]
            of the Hub.
        out (TABLE): The table to write: its name ends in .tex or .csv.
        workspace: Where all of it is built and run. [default: bench/NAME]
        allow_unmatched: Leave out films that have no partner of their name.
        options --set (OPTION=VALUE): An option of the build in the place of the benchmark's own, such as size=432x240; may be
            given again. [default: none]

    Example: inpaintbench bench run davis-432 --data DAVIS --method telea --out table.tex
    """
    of = named(name)
    if out.suffix not in _WRITERS:
        raise UsageError(f"--out is {str(out)!r}; its name has to end in {' or '.join(_WRITERS)}")
    specs = [any_method(text, program=wanted.program("plain")) for text in method or ()]
    folders = dict(pair(text, f"{text!r} has no label; write LABEL=FOLDER") for text in saved or ())
    if not (specs or folders):
        raise UsageError("no method: give --method or --saved")
    for label, folder in folders.items():
        if not Path(folder).is_dir():
            raise InputError(f"no folder {folder!r} of results of {label}")
    given = {**of.options.given(), **_options(of, options or ())}
    root, place = folder_or_hub(data), workspace or Path("bench", name)
    located = of.locate(root)
    recipe = _recipe(of, located, given, described)
    source = SourceSpec(*_source(recipe, located, root, given, allow_unmatched=allow_unmatched))
    Build(described, running=running).run(recipe, [source], place)
    dataset, results = place / "exports" / of.recipe, place / "run"
    specs += _saved(frozen.load(dataset), folders, place / "saved")
    check_labels(specs)
    failed = predict_and_tell(dataset, results, specs, replace(wanted, slices=tuple(only or ()), keep_full_frames=True), running)
    tables, unmeasured = dict[str, Results](), dict[str, str]()
    for protocol, metrics in of.measured.items():
        try:
            score(dataset, run=results, protocol=protocol, metric=metrics, running=running)
        except (NotMeasurable, RunError) as error:  # a program or network that is not here; other columns have theirs
            unmeasured[protocol] = str(error)
        try:
            tables[protocol] = results_of(results, dataset, protocol)
        except InputError as error:
            unmeasured.setdefault(protocol, str(error))
    if not tables:  # what people or a model that is not here rate: the run has the numbers that can be had all the same
        protocol = usual(frozen.load(dataset))
        score(dataset, run=results, protocol=protocol, running=running)
        tables[protocol] = results_of(results, dataset, protocol)
    if report:
        write_report(dataset, run=results, protocol=next(iter(tables)))
    _write(of, out, tables, unmeasured, Workspace(place), only or ())
    raise_for(failed)
    return console.Next("view", place)


def _saved(dataset: Dataset, folders: Mapping[str, str], into: Path) -> list[MethodSpec]:
    """Results made elsewhere, label -> folder. They may be called as the clips are; then links called as items stand for them.

    A clip that has several items, such as edits by several prompts, has no result of its own name.
    """
    names: dict[str, list[str]] = {}
    for row in dataset.items:
        names.setdefault(str(row["attributes"].get("item_name") or unquoted_path(row["source_uri"])), []).append(row["item_id"])
    alone = {Path(name).name: items[0] for name, items in names.items() if len(items) == 1}
    specs = []
    for label, folder in folders.items():
        called = {name: path for path in sorted(Path(folder).iterdir()) for name in (path.name, path.stem)}
        links = {item_id: called[name] for name, item_id in alone.items() if name in called}
        place = Path(folder)
        if links:
            place = into / label
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            for item_id, path in links.items():
                (place / f"{item_id}{path.suffix if path.is_file() else ''}").symlink_to(path.absolute())
        specs.append(MethodSpec(label, "saved_folder", {"folder": str(place.absolute())}))
    return specs


def _options(of: Named, given: Sequence[str]) -> dict[str, Any]:
    """``size=432x240`` -> name and value of options of the recipe; raises ``UsageError`` for what is none."""
    found = {}
    for text in given:
        option, value = pair(text, f"{text!r} is not OPTION=VALUE, such as size=432x240")
        known_name("option", option, type(of.options).model_fields)
        found[option] = console.value(value)
    return found


def _recipe(of: Named, located: Located, given: Mapping[str, Any], described: Described) -> Any:
    """The recipe of a benchmark by its own options and those that were given."""
    kind: Any = RECIPES.get(of.recipe)
    if of.recipe == "editing" and "masks" in located.places:  # every edit has one, whatever its task is called
        edits, _ = read_prompts(located.places["prompts"], fewest=1, columns=located.tree.columns)
        given = {**given, "mask_tasks": tuple(dict.fromkeys(edit.task for edit in edits))}
    chosen = {
        "name": of.title,
        **described.choices,
        **{name: value for name, value in given.items() if name in kind.model_fields},
    }
    if isinstance(size := chosen.get("size"), str):
        chosen["size"] = read_size(size)
    return make_recipe(kind, chosen)


def _source(
    recipe: Any, located: Located, data: Path, given: Mapping[str, Any], *, allow_unmatched: bool
) -> tuple[str, dict[str, Any]]:
    """Name and constants of the source leaf that reads the data, which were looked at."""
    tree, places = located.tree, located.places
    masks, truth = (str(places[side]) if side in places else None for side in ("masks", "truths"))
    if recipe.kind == "editing":
        constants: dict[str, Any] = {
            "folder": str(places["inputs"]), "prompts": str(places["prompts"]), "masks": masks, "fewest_prompts": 1,
            "columns": dict(tree.columns), "mask_tasks": list(recipe.mask_tasks),
        }  # fmt: skip
        attribute_at("inpaintbench.curation.sources.edit_clips:EditClips")(**constants).checked()
        return "edit_clips", constants
    constants = {
        "folder": str(places.get("inputs", data)), "layout": tree.layout or GENERIC, "masks": masks, "truth": truth,
        "allow_unmatched": allow_unmatched,
        "masks_of_any_size": recipe.kind == "benchmark" and given.get("fit", "stretch") == "stretch",
        **({"mask_values": given["mask_values"]} if "mask_values" in given else {}),
    }  # fmt: skip
    attribute_at("inpaintbench.curation.sources.removal_folders:RemovalFolders")(**constants).found()
    return "removal_folders", constants


def _write(
    of: Named,
    out: Path,
    tables: Mapping[str, Results],
    unmeasured: Mapping[str, str],
    workspace: Workspace,
    slices: Sequence[str],
) -> None:
    """The table, and on the console what does not compare with print."""
    dataset = next(iter(tables.values())).dataset
    of_data = differences_of_data(of, dataset, Films.of(workspace), slices=slices)
    of_columns = differences_of_columns(of, tables, unmeasured)
    drawn = standing(of, tables, of_columns, of_data)
    told = [f"{of.title}: {of.source.paper} ({of.source.authors}, {of.source.venue})", f"dataset {frozen.dataset_id(dataset)}"]
    told += [f"protocol {name}, fingerprint {results.fingerprint}" for name, results in tables.items()]
    text = latex(drawn, comment="\n".join(told)) if out.suffix == ".tex" else comma_separated(drawn)
    write_atomically(out, text.encode())
    for words in of_data:
        console.warn(f"warning: no column compares with print: {words}")
    for label, words in of_columns.items():
        if words:
            console.say(f"{label} does not compare with print: {words}")
    console.say(f"Table: {console.shown(out)}")


def list_benchmarks() -> Answer:
    """List the benchmarks, with what each needs.

    Example: inpaintbench bench list
    """
    known_ones = [named(name) for name in names()]
    rows = [(of.name, of.title, of.about, _same(of), ", ".join(_absent(of)) or "nothing", of.source.licence) for of in known_ones]
    facts = [
        {"name": of.name, "title": of.title, "about": of.about, "data": of.source.data, "licence": of.source.licence,
         "columns": [column.label for column in of.column], "same": [column.label for column in of.column if column.same],
         "networks_absent": _absent(of), "inferred": list(of.inferred)}
        for of in known_ones
    ]  # fmt: skip
    return Answer(
        facts, Table("Benchmarks", ["name", "benchmark", "about", "columns as printed", "networks absent", "data"], rows)
    )


def _same(of: Named) -> str:
    return f"{sum(column.same for column in of.column)} of {len(of.column)}"


def _absent(of: Named) -> list[str]:
    """Files of networks that its columns need and that are not here."""
    wanted = {
        weight for column in of.column if column.metric
        for weight in METRICS.get(column.metric).weights_of(PROTOCOLS.get(column.protocol).metrics[column.metric])
    }  # fmt: skip
    return sorted(name for name in wanted if state(known()[name]) != "here")


def show(name: BenchmarkName) -> Answer:
    """Tell how its data lie and what is measured. What of that is inferred, too.

    Args:
        name (NAME): Which: {names}.

    Example: inpaintbench bench show davis-432
    """
    of = named(name)
    source, where = of.source, f", arXiv {of.source.arxiv}" if of.source.arxiv else ""
    licence = f"{source.licence}{f' ({source.licence_note})' if source.licence_note else ''}"
    said = [
        f"{of.title}. {of.about}", f"Paper: {source.paper} ({source.authors}, {source.venue}{where})",
        f"Data: {source.data}; licence: {licence}", *([f"Evaluation read: {source.code}"] if source.code else []),
    ]  # fmt: skip
    trees = [(side, " or ".join(places), tree.note) for tree in of.tree for side, places in tree.sides().items()]
    examples = [path for tree in of.tree for path in tree.example]
    columns = [
        (one.label, one.metric and f"{one.metric} in {one.region}", one.protocol, "yes" if one.same else one.why)
        for one in of.column
    ]
    printed = [
        f"Printed: {table.source}, {count(len(table.rows), 'row')}{f' ({table.note})' if table.note else ''}"
        for table in of.printed
    ]
    prepared = ", ".join(f"{option} {value}" for option, value in of.options.given().items()) or "as the data come"
    return Answer(
        of.model_dump(mode="json"), *said, Table("Tree", ["what", "folder or file", "remark"], trees),
        *([f"Such as: {', '.join(examples)}"] if examples else []), f"Prepared: {prepared}",
        Table("Columns", ["printed", "measured here", "protocol", "same number"], columns),
        *printed,
        *(f"Inferred: {words}" for words in of.inferred),
    )  # fmt: skip
