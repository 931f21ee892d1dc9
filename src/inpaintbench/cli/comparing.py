"""`eval compare`: two methods of a run, or one of each of two runs, against each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from inpaintbench.api.comparing import compare
from inpaintbench.api.runs import LoadedDataset, Run
from inpaintbench.cli import completing, console, logs
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.evaluate_options import InDataset, Label, ProtocolName, Scored, SomeMetrics, SomeSlices, label_of
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import argument
from inpaintbench.cli.run_folder import opened, scorable
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report.figures import versus_figure
from inpaintbench.eval.report.two_methods import HEADS, csv_bytes, markdown, telling, text_rows
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.files import write_atomically
from inpaintbench.pages import save_chart
from inpaintbench.pages.words import count

Names = list[str] | None
# That a terminal shows at once.
MOST_ROWS = 20


def compare_command(
    dataset: InDataset,
    one: Label,
    other: Annotated[
        str, argument("Another's, or the same in --other-run.", metavar="B", parser=label_of, autocompletion=completing.labels)
    ],
    *,
    run: Scored,
    other_run: Path | None = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: Names = None,
    part: SomeSlices = None,
    everything: bool = False,
    as_json: AsJson = False,
    out: Path | None = None,
) -> None:
    """Compare two methods by each metric in each slice. Is the difference more than chance, and who wins which items?

    Beside the tables lies a figure of what each attribute does to both, of the metrics asked for or the first.

    Args:
        other_run: Folder with the scores of B. [default: --run]
        region: Only this region; may be given again. [default: all]
        everything --all: Show every row, not the most telling ones.
        out: Folder for both tables. [default: RUN/compare/PROTOCOL]

    Example: inpaintbench eval compare DATASET telea mine --run RUN --metric psnr
    """
    loaded = scorable(dataset)
    name = protocol or usual(loaded)
    PROTOCOLS.get(name)
    if one == other and other_run is None:
        raise UsageError(f"{one!r} cannot be compared with itself; give two labels, or --other-run")
    for place in (run, other_run or run):
        opened(place)  # says what was stopped
    data = LoadedDataset(dataset)
    called = other if one != other else f"{other} ({console.shown(other_run or run)})"
    found = compare(
        Run(data, one, run, name), Run(data, other, other_run or run, name),
        metrics=metric, regions=region, slices=part, called=called,
    )  # fmt: skip
    results, rows, remarks, quantities = found.results, found.rows, found.remarks, found.quantities
    logs.beside(run)
    folder = out or run / "compare" / name.replace("/", ".")
    stem = re.sub(r"[^\w.+-]", "_", f"{one}_vs_{called}")
    table, page = folder / f"{stem}.csv", folder / f"{stem}.md"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(table, csv_bytes(rows, one=one, other=called))
    pictures = _pictures(results, one, called, quantities if metric or region else quantities[:1], folder / stem)
    files = [table, page, *(folder / name for name in pictures.values())]
    write_atomically(page, markdown(rows, one=one, other=called, results=results, pictures=pictures).encode())
    if as_json:
        asked = {"a": one, "b": called, "protocol": name, "fingerprint": results.fingerprint}
        print_json({**asked, "rows": rows, "remarks": remarks, "files": files})
        return
    shown = rows if everything else telling(rows, most=MOST_ROWS)
    texts, notes = text_rows(shown)
    console.print_table(f"{name}: A = {one}, B = {called}", HEADS, texts)
    for note in notes:
        console.say(note)
    if len(shown) < len(rows):
        console.say(f"the {len(shown)} most telling of {len(rows)} rows; --all shows the others, the files hold all")
    for remark in remarks:
        console.say(remark)
    beside = f", and {count(len(pictures), 'figure')} of effects beside them" if pictures else ""
    console.say(f"wrote {console.shown(table)} and {console.shown(page)}{beside}")


def _pictures(results: Results, one: str, other: str, quantities: Sequence[Quantity], stem: Path) -> dict[Quantity, str]:
    """Quantity -> name of the figure of its effects on both methods, where it has any; written beside the tables."""
    drawn = {quantity: versus_figure(results, one, other, quantity) for quantity in quantities}
    names = {quantity: f"{stem.name}_{quantity.metric}_{quantity.region}.svg" for quantity, figure in drawn.items() if figure}
    for quantity, name in names.items():
        save_chart(drawn[quantity] or {}, stem.with_name(name))
    return names
