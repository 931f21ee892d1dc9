"""F2 x second masks x bins of first masks x objective x sub-metric: what `eval table --for reinpainting` measures and tabulates.

Results are laid out as the tables of "Assessing Image Inpainting via Re-Inpainting Self-Consistency
Evaluation" (2024), 1-3 and 6-14, from any runs or from the numbers that it published.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.eval.results.quantity import place_label
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.values.permutation import BOLD, Values, like_best, paired, told_from
from inpaintbench.eval.values.statistics import mean_of
from inpaintbench.files import write_atomically
from inpaintbench.pages.words import number
from inpaintbench.table_files import csv_bytes
from inpaintbench.types import Dataset, Score
from inpaintbench.wings.reinpaint.engine import OBJECTIVES, REGION, SUBMETRICS
from inpaintbench.wings.reinpaint.leaves import DIAGNOSTIC, metric_of
from inpaintbench.wings.reinpaint.setting import Patches, Setting

PAGE = "tables.md"
# How the slices of a bin of first masks are called: `area-20-40`.
BIN = "area-"
# Name of the only bin of a dataset without slices by area.
EVERY = "all"
Ratio = float | tuple[float, float] | None
# Axes of Tables 6 to 14 as printed: first methods, F2, bins of first masks, second ratios.
METHODS = ("DeepFillv2", "EdgeConnect", "CoModGAN", "StableDiffusion", "LaMa")
SECONDS = ("StableDiffusion", "LaMa", "DeepFillv2")
FIRSTS = ("0-20%", "20-40%", "40-60%")
RATIOS = ("20%", "40%", "60%")
OBJECTIVE_HEADS = {"0-1": "Original-First", "0-2": "Original-Second", "1-2": "First-Second"}
# Sub-metric -> whether higher is better.
HIGHER = {"psnr": True, "ssim": True, "lpips": False}


class Cell(NamedTuple):
    """Coordinates of one number of the tables."""

    second: str
    """F2."""
    ratio: str
    """Second masks in words: ``40%``."""
    first: str
    """Bin of first masks in words: ``20-40%``."""
    method: str
    """F1."""
    objective: str
    submetric: str


@dataclass(frozen=True)
class Grid:
    """Means over items for every combination of some axes; a combination without a number is None."""

    seconds: tuple[str, ...]
    ratios: tuple[str, ...]
    firsts: tuple[str, ...]
    methods: tuple[str, ...]
    objectives: tuple[str, ...]
    submetrics: tuple[str, ...]
    values: Mapping[Cell, float | None]
    origin: str = ""
    """Origin of the numbers, for the head of a file."""
    unsure: str | None = None
    """Reason why no number stands out as the best; None where the best of a block is in bold."""
    best: Collection[Cell] = frozenset()
    """Numbers that stand out as the best of the methods in their block."""
    foot: str = ""
    """Line of every table on its bold numbers."""
    left_out: Mapping[Cell, int] = field(default_factory=dict)
    """Number of infinite values that are in no mean, for the combinations that have any."""
    references: tuple[str, ...] = ()
    """First methods that do not compete."""


class Table(NamedTuple):
    """One table: heads, rows of names and numbers, and which of its columns are of what."""

    name: str
    title: str
    labels: tuple[str, ...]
    """Heads of the columns of names."""
    columns: tuple[tuple[str, str], ...]
    """Head and sub-metric of each column of numbers."""
    rows: tuple[tuple[tuple[str, str], tuple[float | None, ...]], ...]
    references: tuple[str, ...] = ()
    """Methods that do not compete; the second name of a row is its method's."""
    strong: tuple[tuple[bool, ...], ...] = ()
    """Which numbers of each row are bold."""
    foot: str = ""
    """Line below the rows on what is bold; empty where nothing is."""


def settings_of(base: Setting, *, seconds: Sequence[MethodSpec], ratios: Sequence[Ratio]) -> dict[tuple[str, str], Setting]:
    """(label of F2, ratio in words) -> setting; a ratio of None takes the second masks of the dataset."""
    patches = base.patches or Patches()
    return {
        (second.label, ratio_words(ratio)): replace(
            base, second=second, patches=None if ratio is None else replace(patches, ratio=ratio)
        )
        for second, ratio in product(seconds, ratios)
    }


def ratio_words(ratio: Ratio) -> str:
    """``40%``, ``20-60%``, or ``published`` for the second masks of the dataset."""
    if ratio is None:
        return "published"
    shares = ratio if isinstance(ratio, tuple) else (ratio,)
    return "-".join(f"{100 * share:.3g}" for share in shares) + "%"


def bins_of(dataset: Dataset) -> dict[str, Sequence[str]]:
    """Bin of first masks in words -> its items, from the dataset's slices of area; all items where there are none."""
    found = {
        f"{slice_.name.removeprefix(BIN)}%": slice_.item_ids
        for slice_ in dataset.slices
        if slice_.name.startswith(BIN) and slice_.item_ids
    }
    return found or {EVERY: everything(dataset).item_ids}


def grid_of(
    found: Mapping[tuple[str, str], Sequence[Score]],
    settings: Mapping[tuple[str, str], Setting],
    dataset: Dataset,
    *,
    references: Collection[str] = (),
) -> Grid:
    """Means over the items of each bin; a mean leaves out items whose value is missing or infinite, and is None without any.

    Args:
        found: (label of the first method, key of the setting) -> rows, as ``step.inpaint_again_all`` gives them.
        settings: as ``settings_of`` gives them.
        dataset: whose slices are the bins.
        references: labels of first methods that do not compete, which stand last.
    """
    bins = bins_of(dataset)
    methods = tuple(sorted(dict.fromkeys(label for label, _ in found), key=lambda label: label in references))
    some = next(iter(settings.values()))
    values: dict[Cell, float | None] = {}
    left_out: dict[Cell, int] = {}
    best: set[Cell] = set()
    unsure, sources = _unsure(dataset, bins), frozen.sources_of(dataset)
    for (second, ratio), setting in settings.items():
        for method in methods:
            column = {(row.metric, row.item_id): row.value for row in found[method, setting.key]}
            for first, objective, name in product(bins, setting.objectives, setting.metrics):
                cell = Cell(second, ratio, first, method, objective, name)
                given = (column.get((metric_of(objective, name), item)) for item in bins[first])
                known = [value for value in given if value is not None]
                values[cell] = mean_of(known)
                if infinite := sum(map(math.isinf, known)):
                    left_out[cell] = infinite
        columns = {
            method: {(row.metric, row.item_id): row.value for row in found[method, setting.key]}
            for method in methods if method not in references
        }  # fmt: skip
        for first, objective, name in product(bins, setting.objectives, setting.metrics) if not unsure else ():
            metric = metric_of(objective, name)
            of = {method: [column.get((metric, item)) for item in bins[first]] for method, column in columns.items()}
            cells = {method: Cell(second, ratio, first, method, objective, name) for method in of}

            def told(chosen: str, others: Sequence[str], of: Values = of, first: str = first, name: str = name) -> set[str]:
                tests = paired(
                    of, [sources[item] for item in bins[first]], higher_is_better=HIGHER[name], seed=0,
                    pairs=[(chosen, other) for other in others],
                )  # fmt: skip
                return told_from(tests, chosen)

            levels = {method: values[cell] for method, cell in cells.items()}
            best |= {cells[method] for method in like_best(levels, told, higher_is_better=HIGHER[name])}
    return Grid(
        seconds=tuple(dict.fromkeys(second for second, _ in settings)),
        ratios=tuple(dict.fromkeys(ratio for _, ratio in settings)),
        firsts=tuple(bins),
        methods=methods,
        objectives=some.objectives,
        submetrics=tuple(some.metrics),
        values=values,
        origin=f"{dataset.name}: {len(dataset.items)} items, K {some.masks}.",
        unsure=unsure,
        best=best,
        foot=BOLD.replace("its column", "its block"),
        left_out=left_out,
        references=tuple(method for method in methods if method in references),
    )


def _unsure(dataset: Dataset, bins: Mapping[str, Sequence[str]]) -> str | None:
    """Sentence on a bin whose items are of too few sources for a claim; None where all have enough."""
    sources = frozen.sources_of(dataset)
    counts = {name: len({sources[item] for item in items}) for name, items in bins.items()}
    fewest = min(counts, key=lambda name: counts[name])
    few = too_few(counts[fewest])
    return few and f"the bin {fewest} has {few}"


def missing_of(found: Mapping[tuple[str, str], Sequence[Score]]) -> dict[str, int]:
    """Reason -> how many values it cost."""
    return Counter(row.reason or "no reason given" for rows in found.values() for row in rows if row.value is None)


def tables_of(grid: Grid, *, ratio: str | None = None, submetric: str | None = None) -> list[Table]:
    """Tables that a grid can fill: the paper's Tables 1, 2 and 3, and one for each bin and ratio (Tables 6-14).

    Args:
        grid: the numbers.
        ratio: the fixed one of Tables 1 and 3; the middle one by default, 40% in the paper.
        submetric: the one of Tables 1 and 2; the last by default, LPIPS in the paper, or those that have values where it has
            none.
    """
    fixed = ratio or grid.ratios[len(grid.ratios) // 2]
    usual = submetric or grid.submetrics[-1]
    twins = () if submetric else twins_of(grid)
    again = "1-2" in grid.objectives  # D itself, which a grid of other objectives lacks
    tables = []
    for second in grid.seconds:
        for chosen in twins or (usual,):
            suffix = ("" if second == grid.seconds[0] else f"_{second}") + (f"_{chosen}" if twins else "")
            common = {"second": second, "submetric": chosen}
            title = f"{chosen.upper()} by objective, second method {second}, second masks {fixed} (as Table 1)"
            across = [(objective.replace("-", "-to-"), {"objective": objective}) for objective in grid.objectives]
            tables.append(_table(grid, f"table_1{suffix}", title, "first", across, ratio=fixed, **common))
            if again:
                title = f"D with {chosen.upper()} by second masks, second method {second} (as Table 2)"
                by_ratio = [(share, {"ratio": share}) for share in grid.ratios]
                tables.append(_table(grid, f"table_2{suffix}", title, "first", by_ratio, objective="1-2", **common))
    if again:
        title = f"D by second method, second masks {fixed} (as Table 3)"
        pairs = product(grid.firsts, grid.submetrics)
        across = [(f"{first} {name.upper()}", {"first": first, "submetric": name}) for first, name in pairs]
        tables.append(_table(grid, "table_3", title, "second", across, ratio=fixed, objective="1-2"))
    across = [
        (f"{OBJECTIVE_HEADS[objective]} {name.upper()}", {"objective": objective, "submetric": name})
        for objective, name in product(grid.objectives, grid.submetrics)
    ]
    for first, share in product(grid.firsts, grid.ratios):
        title = f"First masks {first}, second masks {share} (as Tables 6-14)"
        tables.append(_table(grid, f"full_{_safe(first)}_{_safe(share)}", title, "second", across, first=first, ratio=share))
    return tables


def twins_of(grid: Grid) -> tuple[str, ...]:
    """The sub-metrics that stand in the place of the last one, LPIPS, in Tables 1 and 2; none where that has a value."""
    known = {cell.submetric for cell, value in grid.values.items() if value is not None}
    return () if grid.submetrics[-1] in known else tuple(name for name in grid.submetrics if name in known)


def _table(grid: Grid, name: str, title: str, down: str, across: Sequence[tuple[str, Mapping[str, str]]], **fixed: str) -> Table:
    """Rows: all values of the axis ``down``, by method. Columns: a head and the fields it sets; all cells have ``fixed`` ones."""
    label, parts = ("First masks", grid.firsts) if down == "first" else ("Second", grid.seconds)
    columns = tuple((head, {**fixed, **fields}["submetric"]) for head, fields in across)
    rows, strong = [], []
    for part, method in product(parts, grid.methods):
        cells = [Cell(**{**fixed, down: part, "method": method}, **fields) for _, fields in across]
        rows.append(((part, method), tuple(map(grid.values.get, cells))))
        strong.append(tuple(cell in grid.best for cell in cells))
    foot = grid.foot if any(map(any, strong)) else ""
    return Table(name, title, (label, "Method"), columns, tuple(rows), grid.references, tuple(strong), foot)


def named(method: str, references: Collection[str]) -> str:
    """A first method as tables for people call it."""
    return f"{method} (reference)" if method in references else method


def as_markdown(table: Table) -> str:
    """The table, with its line on bold numbers as the last row. None is a dash."""
    from inpaintbench.eval.analysis.write import escaped  # which draws, as most commands with options of this wing do not

    heads = [*table.labels, *(head for head, _ in table.columns)]
    lines = [heads, [*["---"] * len(table.labels), *["---:"] * len(table.columns)]]
    for ((part, method), values), strong in zip(table.rows, table.strong, strict=True):
        texts = [f"**{number(value, 4)}**" if bold else number(value, 4) for value, bold in zip(values, strong, strict=True)]
        lines.append([part, named(method, table.references), *texts])
    if table.foot:
        lines.append([table.foot, *[""] * (len(heads) - 1)])
    body = "\n".join(f"| {' | '.join(escaped(cell) for cell in line)} |" for line in lines)
    return f"## {escaped(table.title)}\n\n{body}\n"


def as_csv(table: Table) -> str:
    """One row for each row of the table, with a column for each that says which numbers are bold; None is an empty cell, infinity
    is ``inf``."""
    names = [head for head, _ in table.columns]
    heads = [*(label.lower().replace(" ", "_") for label in table.labels), *names, *(f"{head}: bold" for head in names)]
    marks = (["bold" if bold else "" for bold in strong] for strong in table.strong)
    return csv_bytes(heads, ([*of, *values, *bold] for (of, values), bold in zip(table.rows, marks, strict=True))).decode()


def as_long_csv(grid: Grid) -> str:
    """Every number of the grid on a row of its own."""
    axes = (grid.seconds, grid.ratios, grid.firsts, grid.methods, grid.objectives, grid.submetrics)
    cells = map(Cell._make, product(*axes))
    rows = ([*cell, grid.values.get(cell), grid.left_out.get(cell, 0)] for cell in cells)
    return csv_bytes([*Cell._fields, "value", "n_infinite"], rows).decode()


def _safe(words: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "-" else "" for letter in words)


def write_grid(folder: Path, grid: Grid, *, notes: Sequence[str] = ()) -> Path:
    """Every table as CSV, all of them in one Markdown file, every number in ``grid.csv``; the path of the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = tables_of(grid)
    for table in tables:
        write_atomically(folder / f"{table.name}.csv", as_csv(table).encode())
    write_atomically(folder / "grid.csv", as_long_csv(grid).encode())
    where = f"Every number is {place_label(REGION)}."
    head = ["# Re-inpainting self-consistency", " ".join(filter(None, (grid.origin, where, *notes)))]
    directions = "PSNR and SSIM are better higher, LPIPS lower."
    best = f"No best: {grid.unsure}." if grid.unsure else directions
    head.append(f"{best} D is diagnostic: {DIAGNOSTIC}. A dash: no item has a value.")
    if twins := twins_of(grid):
        lacking = grid.submetrics[-1].upper()
        head.append(f"{lacking} is not measured: in its place in Tables 1 and 2 stand {' and '.join(map(str.upper, twins))}.")
    if grid.left_out:
        n = sum(grid.left_out.values())
        words = "1 infinite value is" if n == 1 else f"{n} infinite values are"
        head.append(f"{words} in no mean, of results that equal what they are compared with; `grid.csv` has how many of each.")
    text = "\n\n".join([*head, *map(as_markdown, tables)])
    write_atomically(folder / PAGE, text.encode())
    return folder / PAGE


@lru_cache(maxsize=1)
def published() -> Grid:
    """Tables 6 to 14: 1,215 numbers, as printed, anomalies and all."""
    text = resources.files("inpaintbench.wings.reinpaint").joinpath("paper.csv").read_text()
    values: dict[Cell, float | None] = {}
    for row in csv.DictReader(text.splitlines()):
        for objective in OBJECTIVES:
            for name in SUBMETRICS:
                cell = Cell(row["second"], f"{row['second_ratio']}%", f"{row['first']}%", row["method"], objective, name)
                values[cell] = float(row[f"{name}_{objective.replace('-', '')}"])
    origin = "Published numbers: 100 pictures of Places2 at 512x512, K 10; patch size, SSIM window and LPIPS trunk not stated."
    best = set()
    for cell, value in values.items():
        block = [other for other in (values[cell._replace(method=method)] for method in METHODS) if other is not None]
        if value == (max if HIGHER[cell.submetric] else min)(block):
            best.add(cell)
    foot = "Bold: the best mean of its block, as printed; of numbers without items no test can tell a lead from chance."
    return Grid(SECONDS, RATIOS, FIRSTS, METHODS, OBJECTIVES, SUBMETRICS, MappingProxyType(values), origin, best=best, foot=foot)
