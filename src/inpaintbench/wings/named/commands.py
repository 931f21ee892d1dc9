"""`bench`: a published benchmark from its data to a table with its printed rows, and what each of them needs."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.benchmarks import Paper
from inpaintbench.catalogue import attribute_at, known_name
from inpaintbench.cli import console
from inpaintbench.cli.build.folders import columns_of_table
from inpaintbench.cli.build.running import Build, Described, make_recipe, tell_doubts
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, EachLocally, Running, Table
from inpaintbench.cli.evaluate_options import Named as AnyMethod
from inpaintbench.cli.evaluate_options import Networks, SomeSlices, any_method, results_of
from inpaintbench.cli.options import Among, Positive, bundle, option, read_option
from inpaintbench.cli.predicting import Wanted, check_labels, predict_and_tell, raise_for
from inpaintbench.cli.reporting import report as write_report
from inpaintbench.cli.scoring import score
from inpaintbench.cli.words import pair
from inpaintbench.curation.sources import clip_tables
from inpaintbench.curation.sources.base import unquoted_path
from inpaintbench.curation.sources.edit_prompts import read_columns, read_prompts
from inpaintbench.curation.sources.removal_layouts import GENERIC
from inpaintbench.errors import InputError, NotMeasurable, RunError, UnknownNameError, UsageError
from inpaintbench.eval.adapters.layouts import layout_of
from inpaintbench.eval.methods.brought import SUFFIXES, strangers
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring import parts
from inpaintbench.eval.scoring.parts import folder_or_hub
from inpaintbench.eval.scoring.predict import MethodSpec, build
from inpaintbench.export.licences import is_known
from inpaintbench.files import prepare_place, write_atomically
from inpaintbench.models.weights import known, lacks
from inpaintbench.pages.tables import comma_separated, escaped, latex
from inpaintbench.pages.words import count
from inpaintbench.recipes import RECIPES
from inpaintbench.recipes.dataset_table import DatasetTable
from inpaintbench.recipes.options import read_size
from inpaintbench.recipes.settings import FILE, recall
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.storage import local_path
from inpaintbench.types import Dataset
from inpaintbench.wings.named.definition import Located, Named, named, names
from inpaintbench.wings.named.standing import NOT_MEASURED, Films, differences_of_columns, differences_of_data, standing
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
# As printed numbers were made: another precision has another fingerprint.
_EXACT = Networks(precision="fp32")
# How names of slices begin that a recipe can make.
_SLICES = {
    "benchmark": "area|mask|camera_motion|frames",
    "removal": "effect|camera|object_motion|seen_elsewhere|object|effect_levels|effect_area|mask",
    "editing": "task",
}
_WRITERS = {".tex": latex, ".csv": comma_separated}
BenchmarkName = Annotated[str, Among(names())]


def run(
    name: BenchmarkName,
    *,
    data: str,
    method: Annotated[list[str] | None, AnyMethod] = None,
    saved: list[str] | None = None,
    out: Path,
    workspace: Path | None = None,
    only: SomeSlices = None,
    allow_unmatched: bool = False,
    options: list[str] | None = None,
    tree: Positive | None = None,
    columns: str | None = None,
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
            of the Hub; or a table of its clips: CSV, JSON, JSON lines or Parquet.
        saved (LABEL=FOLDER): Results made elsewhere, called as the clips are: a video or a folder of numbered pictures each.
            May be given again. [default: none]
        out (TABLE): The table to write: its name ends in .tex or .csv.
        workspace: Where all of it is built and run. [default: bench/NAME]
        allow_unmatched: Leave out films that have no partner of their name.
        options --set (OPTION=VALUE): An option of the build in the place of the benchmark's own, such as size=432x240; may be
            given again. [default: none]
        tree (N): Which of the trees that `bench show NAME` numbers. [default: the first that is there]
        columns (OURS=THEIRS,...): What the table of prompts, or of clips, calls its columns. [default: as `bench show NAME`
            tells, of clips by names and values]

    Example: inpaintbench bench run davis-432 --data DAVIS --method telea --out table.tex
    """
    of = named(name)
    if out.suffix not in _WRITERS:
        raise UsageError(f"--out is {str(out)!r}; its name has to end in {' or '.join(_WRITERS)}")
    prepare_place(out)  # what keeps a table from being written is told before anything is built
    specs = [any_method(text, program=wanted.program("plain")) for text in method or ()]
    specs += [_saved_folder(text) for text in saved or ()]
    if not specs:
        raise UsageError("no method: give --method or --saved")
    check_labels(specs)
    for spec in specs:  # a program or a module that is not there is told before anything is built
        build(spec)
    root, place = folder_or_hub(data), workspace or Path("bench", name)
    located = of.locate(root, number=tree)
    of = of.of_tree(located.tree)
    if columns or root.is_file():
        reader = read_columns if of.recipe == "editing" else clip_tables.read_columns
        films = clip_tables.FILMS if of.recipe == "removal" else clip_tables.FILMS[:2]
        named_ones = columns_of_table(root, columns, films) if root.is_file() else read_option(reader, str(columns))
        located = located._replace(tree=located.tree.model_copy(update={"columns": named_ones}))
    stated = {**of.options.given(), **located.tree.options.given()}
    given = {**stated, **_options(of, options or ())}
    recipe = _recipe(of, located, given, described)
    source = SourceSpec(*_source(recipe, located, root, given, allow_unmatched=allow_unmatched))
    if (place / FILE).exists() and recall(Workspace(place, create=False)) != recipe:
        raise InputError(f"{str(place)!r} was built with other options; give another --workspace")
    _check_slices(of, place / "exports" / of.recipe, only or (), described)
    built, dataset, whole = Build(described, stated=_stated(of), running=running).made(recipe, [source], place, {})
    tell_doubts(built, whole)
    console.say(f"Slices: {', '.join(part.name for part in whole.slices)}")
    results, linked = place / "run", [_by_item(spec, whole, place / "saved") for spec in specs]
    folders = [(of_links.constants, spec.constants) for of_links, spec in zip(linked, specs, strict=True) if of_links is not spec]
    called = _called(whole) | {links["folder"]: console.shown(Path(theirs["folder"])) for links, theirs in folders}
    how = replace(wanted, slices=tuple(only or ()), keep_full_frames=True, called=called)
    failed = predict_and_tell(dataset, results, linked, how, running)
    tables, unmeasured = _scored(of, dataset, results, running)
    if report:
        write_report(dataset, run=results, protocol=next(iter(tables)))
    of_data = differences_of_data(of, whole, Films.of(built), given=given, stated=stated, slices=only or ())
    _write(of, out, tables, unmeasured, of_data, _grown_twice(specs, whole))
    raise_for(failed)
    return console.Next("eval", "paper", dataset, "--run", results, "--protocol", next(iter(tables)), "--out", "PAPER")


def _stated(of: Named) -> DatasetTable:
    """The paper to cite and the licence, where that is one that has a name."""
    source = of.source
    fields = {"author": source.authors, "howpublished": source.venue, **({"eprint": source.arxiv} if source.arxiv else {})}
    paper = Paper("dataset", "misc", escaped(source.paper), {name: escaped(words) for name, words in fields.items()})
    return DatasetTable(citation=paper.bibtex, licence=source.licence if is_known(source.licence) else None)


def _check_slices(of: Named, dataset: Path, asked: Sequence[str], described: Described) -> None:
    """Raise ``UnknownNameError`` for a slice that the dataset has not, where it is there, or that its recipe never makes."""
    if (dataset / frozen.MANIFEST).exists():
        for name in asked:
            parts.named(frozen.load(dataset), name)
        return
    own, known = [part.slice_name for part in described.table.slices], _SLICES[of.recipe]
    if strange := [name for name in asked if name not in own and not re.fullmatch(rf"all( items)?|split-.+|({known})-.+", name)]:
        can_be = f"all, split-..., {known.replace('|', '-..., ')}-..."
        raise UnknownNameError(f"{of.title} has no slice {strange[0]!r}; those that it can have are {can_be}")


def _scored(of: Named, dataset: Path, run: Path, running: Running) -> tuple[dict[str, Results], dict[str, str]]:
    """Protocol -> scores under it, at least one; protocol -> why there are none."""
    tables, unmeasured = dict[str, Results](), dict[str, str]()
    for protocol, metrics in of.measured.items():
        try:
            score(dataset, run=run, protocol=protocol, metric=metrics, networks=_EXACT, running=running)
        except (InputError, NotMeasurable, RunError) as error:  # a program or network that is not here; other columns have theirs
            unmeasured[protocol] = str(error)
        try:
            tables[protocol] = results_of(run, dataset, protocol)
        except InputError as error:
            unmeasured.setdefault(protocol, str(error))
    if not tables:  # what people or a model that is not here rate: the run has the numbers that can be had all the same
        protocol = usual(frozen.load(dataset))
        score(dataset, run=run, protocol=protocol, running=running)
        tables[protocol] = results_of(run, dataset, protocol)
    return tables, unmeasured


def _saved_folder(text: str) -> MethodSpec:
    """``LABEL=FOLDER`` of results made elsewhere."""
    label, folder = pair(text, f"{text!r} has no label; write LABEL=FOLDER")
    if not re.fullmatch(r"[\w+][\w+.-]*", label):
        raise UsageError(f"label {label!r} cannot be a file name; use letters, digits, - and _")
    if not Path(folder).is_dir():
        raise InputError(f"no folder {folder!r} of results of {label}")
    return MethodSpec(label, "saved_folder", {"folder": str(Path(folder).absolute())})


def _called(dataset: Dataset) -> dict[str, str]:
    """Item -> what results of it are called: as its clip below the folder (``mirror/example-1``), ``TASK/CLIP`` where a clip has
    several edits, and its id where that is not enough either."""
    clips = {row["item_id"]: str(row["attributes"].get("item_name") or unquoted_path(row["source_uri"])) for row in dataset.items}
    many = Counter(clips.values())
    tasks = {row["item_id"]: f"{row.get('task')}/{clips[row['item_id']]}" for row in dataset.items}
    edits = Counter(tasks.values())
    return {one: clip if many[clip] == 1 else tasks[one] if edits[tasks[one]] == 1 else one for one, clip in clips.items()}


def _by_item(spec: MethodSpec, dataset: Dataset, into: Path) -> MethodSpec:
    """Saved results as ``saved_folder`` finds them: links called as items stand for files called as ``_called`` says, or by the
    last part of that, where no other item has it, or by ids of items.

    Raises:
        InputError: two results of one item.
    """
    if spec.leaf != "saved_folder":
        return spec
    folder, names, links = local_path(spec.constants["folder"], called=spec.label), _called(dataset), dict[str, Path]()
    ends, known = Counter(Path(name).name for name in names.values()), set[str]()
    for item_id, name in names.items():
        called = {item_id, name, *([Path(name).name] if ends[Path(name).name] == 1 else [])}
        known |= {Path(one).parts[0] for one in called}
        found = {path for one in called for end in ("", *SUFFIXES) if (path := folder / f"{one}{end}").exists()}
        if len(found) > 1:
            raise InputError(f"{spec.label} has several results of {name!r}: {', '.join(sorted(map(str, found)))}; keep one")
        if found:
            links[item_id] = found.pop()
    if len(links) < len(names) and (others := strangers(folder, known)):
        like = next(name for item_id, name in names.items() if item_id not in links)
        console.warn(f"{spec.label}: {others[0]!r} in {console.shown(folder)!r} is called as no clip; one is called {like!r}")
    place = into / spec.label
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for item_id, path in links.items():
        (place / f"{item_id}{path.suffix if path.is_file() else ''}").symlink_to(path.absolute())
    return replace(spec, constants={"folder": str(place.absolute())})


def _options(of: Named, given: Sequence[str]) -> dict[str, Any]:
    """``size=432x240`` -> name and value of options of the recipe; raises ``UsageError`` for what is none."""
    found = {}
    for text in given:
        option, value = pair(text, f"{text!r} is not OPTION=VALUE, such as size=432x240")
        taken = [*RECIPES.get(of.recipe).model_fields, *(["mask_values"] if of.recipe != "editing" else [])]
        known_name(f"option of {of.title}", option, [name for name in type(of.options).model_fields if name in taken])
        found[option] = console.value(value)
    return found


def _recipe(of: Named, located: Located, given: Mapping[str, Any], described: Described) -> Any:
    """The recipe of a benchmark by its own options and those that were given."""
    kind: Any = RECIPES.get(of.recipe)
    if of.recipe == "editing" and "masks" in located.places:  # every edit has one, whatever its task is called
        edits, _ = read_prompts(located.places["prompts"], fewest=1, columns=located.tree.columns)
        given = {**given, "mask_tasks": tuple(dict.fromkeys(edit.task for edit in edits))}
    own = {name: value for name, value in given.items() if name in kind.model_fields}
    chosen = {"name": of.title, **described.choices, **own}
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
        attribute_at("inpaintbench.curation.sources.edit_folders:EditClips")(**constants).checked()
        return "edit_clips", constants
    layout = clip_tables.TABLE if data.is_file() else tree.layout or GENERIC
    said = {"about": str(places["about"])} if "about" in places else {}
    constants = {
        "folder": str(places.get("inputs", data)), "layout": layout, "masks": masks, "truth": truth, **said,
        **({"columns": dict(tree.columns)} if said or data.is_file() else {}),
        "allow_unmatched": allow_unmatched,
        "masks_of_any_size": recipe.kind == "benchmark" and given.get("fit", "stretch") == "stretch",
        **({"mask_values": given["mask_values"]} if "mask_values" in given else {}),
    }  # fmt: skip
    attribute_at("inpaintbench.curation.sources.removal_folders:RemovalFolders")(**constants).found()
    return "removal_folders", constants


def _grown_twice(specs: Sequence[MethodSpec], dataset: Dataset) -> dict[str, str]:
    """Programs that grow masks by themselves, where the benchmark has grown them already -> that they do."""
    layouts = {
        spec.label: layout_of(str(spec.constants["layout"]))
        for spec in specs if spec.leaf == "command" and dataset.recipe.get("dilations")
    }  # fmt: skip
    return {
        label: f"grows the masks once more ({layout.dilates})" for label, layout in layouts.items() if layout.dilates != "none"
    }


def _write(
    of: Named,
    out: Path,
    tables: Mapping[str, Results],
    unmeasured: Mapping[str, str],
    of_data: Sequence[str],
    of_methods: Mapping[str, str],
) -> None:
    """The table, and on the console what does not compare with print."""
    dataset = next(iter(tables.values())).dataset
    of_columns = differences_of_columns(of, tables, unmeasured)
    drawn = standing(of, tables, of_columns, of_data, of_methods)
    told = [f"{of.title}: {of.source.paper} ({of.source.authors}, {of.source.venue})", f"dataset {frozen.dataset_id(dataset)}"]
    told += [f"protocol {name}, fingerprint {results.fingerprint}" for name, results in tables.items()]
    text = latex(drawn, comment="\n".join(told)) if out.suffix == ".tex" else comma_separated(drawn)
    write_atomically(out, text.encode())
    for words in of_data:
        console.warn(f"warning: no column compares with print: {words}")
    for label, words in of_methods.items():
        console.warn(f"warning: {label} is compared with nobody: it {words}")
    for protocol, words in unmeasured.items():
        if protocol not in tables:  # of the others scoring said so
            console.say(f"not measured: {', '.join(of.measured[protocol])}: {words}")
    for words in dict.fromkeys(filter(None, of_columns.values())):
        labels = [label for label, reason in of_columns.items() if reason == words]
        if not words.startswith(NOT_MEASURED):
            console.say(f"does not compare with print: {', '.join(labels)}: {words}")
    if absent := [label for label, words in of_columns.items() if words.startswith(NOT_MEASURED)]:
        console.say(f"not measured: {', '.join(absent)}; `inpaintbench bench show {of.name}` tells what they need")
    console.say(f"Table: {console.shown(out)}")


def list_benchmarks() -> Answer:
    """List the benchmarks, with what each needs.

    Example: inpaintbench bench list
    """
    known_ones = [named(name) for name in names()]
    rows = [
        (of.name, of.expected.clips, f"{sum(column.same for column in of.column)} of {len(of.column)}", _size_of(lacking),
         of.source.licence)
        for of in known_ones for lacking in [_lacking(of)]
    ]  # fmt: skip
    facts = [of.model_dump(mode="json", exclude={"printed"}) | {"networks_absent": _lacking(of)} for of in known_ones]
    return Answer(
        facts, Table("Benchmarks", ["name", "clips", "comparable", "to fetch", "licence of the data"], rows),
        "comparable: columns that may stand beside print; to fetch: networks not here",
        "inpaintbench bench show NAME: where the data are, and what to do before a run",
    )  # fmt: skip


def _lacking(of: Named) -> list[str]:
    """Networks that its columns need and that are not here."""
    wanted = (
        METRICS.get(metric).weights_of(PROTOCOLS.get(protocol).metrics[metric])
        for protocol, metrics in of.measured.items() for metric in metrics
    )  # fmt: skip
    return sorted(lacks(name for weights in wanted for name in weights))


def _size_of(weights: Sequence[str]) -> str:
    return f"{sum(known()[name].bytes for name in weights) / 1e9:.1f} GB" if weights else "none"


def show(name: BenchmarkName) -> Answer:
    """Tell how its data lie and what is measured. What of that is inferred, too.

    Args:
        name (NAME): Which: {names}.

    Example: inpaintbench bench show davis-432
    """
    of = named(name)
    source, where = of.source, f", arXiv {of.source.arxiv}" if of.source.arxiv else ""
    paper = f"{source.paper} ({source.authors}, {source.venue}{where})"
    said = [_folded("", f"{of.title}: {of.about}"), _folded("Paper: ", paper)]
    said += [_folded("Evaluation read: ", source.code)] if source.code else []
    for number, tree in enumerate(of.tree, 1):
        said.append(_folded(f"\nTree {number}: ", tree.note or "DATA holds"))
        said += [_folded(f"  {side:<8}", " or ".join(places)) for side, places in tree.sides().items()]
        said += [_folded("  such as ", ", ".join(tree.example))] if tree.example else []
    prepared = ", ".join(f"{option} {value}" for option, value in of.options.given().items()) or "as the data come"
    reasons = list(dict.fromkeys(column.why for column in of.column if column.why))
    columns = [
        (one.label, one.metric and f"{one.metric} in {one.region}", one.protocol,
         f"† {reasons.index(one.why) + 1}" if one.why else "yes")
        for one in of.column
    ]  # fmt: skip
    printed = (
        f"{table.source}, {count(len(table.rows), 'row')}{f' ({table.note})' if table.note else ''}" for table in of.printed
    )
    return Answer(
        of.model_dump(mode="json"), *said, _folded("\nBuilt with: ", prepared), *_steps(of),
        Table("\nColumns", ["printed", "measured here", "protocol", "comparable"], columns),
        *(_folded(f"† {place} ", why) for place, why in enumerate(reasons, 1)),
        *(_folded("Printed: ", words) for words in printed), *(_folded("Inferred: ", words) for words in of.inferred),
    )  # fmt: skip


def _steps(of: Named) -> list[str]:
    """What is to be done before a run, and the run."""
    expected, source, lacking = of.expected, of.source, _lacking(of)
    frames = f" of {expected.frames} frames" if expected.frames else ""
    clips = f"{count(expected.clips, 'clip')}{frames}" if expected.clips else ""
    note = f" ({source.licence_note})" if source.licence_note else ""
    data = f"{source.data}{clips and f'; {clips}'}; licence {source.licence}{note}. Unpack all into a folder DATA, as above."
    steps = [_folded("- Data: ", data)]
    if lacking:
        steps.append(_folded("- Networks: ", f"{_size_of(lacking)}; columns of those that are not fetched stay empty:"))
        steps.append(f"  inpaintbench models fetch {' '.join(lacking)}")
    brought = dict[str, list[str]]()
    for protocol, metrics in of.measured.items():
        for leaf in map(METRICS.get, metrics):
            if leaf.brings and not leaf.weights_of(PROTOCOLS.get(protocol).metrics[leaf.name]):
                brought.setdefault(leaf.brings, []).append(leaf.name)
    steps += [_folded("- For ", f"{', '.join(leaves)} also {what}") for what, leaves in brought.items()]
    method = "LABEL=PROGRAM" if of.recipe == "editing" else "MODULE:NAME"
    return ["\nBefore you run", *steps, f"- Run:\n  inpaintbench bench {of.name} --data DATA --method {method} --out table.tex"]


def _folded(head: str, text: str) -> str:
    """A paragraph of at most 80 columns, whose further lines are indented."""
    lines = textwrap.wrap(head.lstrip("\n") + text, 80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n" * head.count("\n") + "\n".join(lines)
