"""Results as files and as tables for the console."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from inpaintbench.claims import too_few
from inpaintbench.eval.reinpainting.engine import SUBMETRICS
from inpaintbench.eval.reinpainting.grid import bins_of
from inpaintbench.eval.reinpainting.leaves import EXCESS, KNOWN, SECOND
from inpaintbench.eval.reinpainting.selection import selected
from inpaintbench.eval.reinpainting.step import First
from inpaintbench.eval.reinpainting.tables import HIGHER, Grid, as_csv, as_long_csv, as_markdown, tables_of
from inpaintbench.eval.slices import source_of
from inpaintbench.eval.statistics import mean_of, summarise
from inpaintbench.pages.words import number
from inpaintbench.types import Dataset, Score
from inpaintbench.workspace import write_atomically

Rows = Sequence[tuple[First, Sequence[Score]]]
PAGE = "tables.md"


def summary(dataset: Dataset, rows: Rows, *, title: str) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """Heads, lines and title of a table for each sub-metric that has a value: methods in bins of first masks.

    Numbers: D with its 95 % interval where there are enough sources, D over the known area, D less that of the truth, and on
    which share of the items the method was the best (Table 5), where there are enough sources.
    """
    bins, sources = bins_of(dataset), {row["item_id"]: source_of(row) for row in dataset.items}
    for name in SUBMETRICS:
        of = {
            (first.label, row.metric, row.item_id): row.value
            for first, found in rows
            for row in found
            if row.metric in (f"{SECOND}_{name}", f"{KNOWN}_{name}", f"{EXCESS}_{name}")
        }
        if all(value is None for value in of.values()):
            continue
        lines = []
        for bin_name, items in bins.items():
            few = too_few(len({sources[item] for item in items}))
            chosen = selected(
                {first.label: {item: of.get((first.label, f"{SECOND}_{name}", item)) for item in items} for first, _ in rows},
                higher_is_better=HIGHER[name],
            )
            for first, _ in rows:
                columns = {
                    kind: [of.get((first.label, f"{kind}_{name}", item)) for item in items] for kind in (SECOND, KNOWN, EXCESS)
                }
                means = {kind: summarise(found, clusters=[sources[item] for item in items]) for kind, found in columns.items()}
                d = means[SECOND]
                between = "" if d.interval_low is None else f"{_words(d.interval_low)} to {_words(d.interval_high)}"
                share = f"{chosen.shares[first.label]:.0%}" if first.label in chosen.shares and not few else "–"
                lines.append(
                    [bin_name, first.label, _words(d.mean), between, _words(means[KNOWN].mean), _words(means[EXCESS].mean), share,
                     f"{d.n} · {d.n_infinite} ∞ left out" if d.n_infinite else str(d.n)]
                )  # fmt: skip
        better = "higher is better" if HIGHER[name] else "lower is better"
        heads = ["first masks", "method", "D", "95 %", "over known", "less truth's", "best on", "items"]
        yield heads, lines, f"D with {name.upper()} ({better}); {title}"


def preferences(dataset: Dataset, rows: Rows) -> Iterator[str]:
    """A sentence for each sub-metric by which D prefers first results to the truth itself, and in which bins."""
    for name in SUBMETRICS:
        of = {
            (first.label, row.item_id): row.value
            for first, found in rows
            for row in found
            if row.metric == f"{EXCESS}_{name}" and row.value is not None
        }
        better = []
        for bin_name, items in bins_of(dataset).items():
            for first, _ in rows:
                mean = mean_of([value for item in items if (value := of.get((first.label, item))) is not None])
                if mean is not None and (mean > 0 if HIGHER[name] else mean < 0):
                    better.append(f"{first.label} ({bin_name}: {mean:+.4g})")
        if better:
            yield (
                f"D with {name.upper()} prefers to the truth itself: {', '.join(better)}. It favours results that resemble what "
                "F2 makes, so a better D than the truth's says nothing good of them."
            )


def write_grid(folder: Path, grid: Grid, *, notes: Sequence[str] = ()) -> Path:
    """Every table as CSV, all of them in one Markdown file, every number in ``grid.csv``; the path of the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    made = tables_of(grid)
    for table in made:
        write_atomically(folder / f"{table.name}.csv", as_csv(table).encode())
    write_atomically(folder / "grid.csv", as_long_csv(grid).encode())
    head = ["# Re-inpainting self-consistency", " ".join(filter(None, (grid.origin, *notes)))]
    bold = "Best of each block in bold: PSNR and SSIM highest, LPIPS lowest."
    best = f"No best: {grid.unsure}." if grid.unsure else bold
    head.append(f"{best} A dash: no item has a value.")
    if grid.left_out:
        number_left = sum(grid.left_out.values())
        words = "1 infinite value is" if number_left == 1 else f"{number_left} infinite values are"
        head.append(f"{words} in no mean, of results that equal what they are compared with; `grid.csv` has how many of each.")
    text = "\n\n".join([*head, *(as_markdown(table, bold=grid.unsure is None) for table in made)])
    write_atomically(folder / PAGE, text.encode())
    return folder / PAGE


def _words(value: float | None) -> str:
    return number(value, 4)
