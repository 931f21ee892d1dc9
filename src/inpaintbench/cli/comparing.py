"""`eval compare`: two methods of a run, or one of each of two runs, against each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from inpaintbench.cli import completing, console, logs
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.evaluate_options import InDataset, Label, ProtocolName, Scored, SomeMetrics, SomeSlices, label_of
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import argument, option
from inpaintbench.cli.run_folder import kept_between_items, opened, scorable
from inpaintbench.cli.words import pick
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report.figures import versus_figure
from inpaintbench.eval.report.two_methods import HEADS, compare, csv_bytes, markdown, telling, text_rows
from inpaintbench.eval.results.between_items import exposure_sentences
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results, in_reading_order
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.run_folder import bind, check_scored, scored_methods, scores_of
from inpaintbench.eval.scoring.run_state import not_run_words, references_in
from inpaintbench.files import write_atomically
from inpaintbench.pages import save_chart
from inpaintbench.pages.words import count
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Score, SliceScore

Names = list[str] | None
# That a terminal shows at once.
MOST_ROWS = 20


def compare_command(
    dataset: InDataset,
    one: Label,
    other: Annotated[
        str,
        argument("Another's, or the same in --other-run.", metavar="B", parser=label_of, autocompletion=completing.labels),
    ],
    run: Scored,
    other_run: Annotated[Path | None, option("Folder with the scores of B.", default="--run")] = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: Annotated[Names, option("Only this region; may be given again.", default="all")] = None,
    part: SomeSlices = None,
    everything: Annotated[bool, option("Show every row, not the most telling ones.", "--all")] = False,
    as_json: AsJson = False,
    out: Annotated[Path | None, option("Folder for both tables.", default="RUN/compare/PROTOCOL")] = None,
) -> None:
    """Compare two methods by each metric in each slice. Is the difference more than chance, and who wins which items?

    Beside the tables lies a figure of what each attribute does to both, of the metrics asked for or the first.

    Example: inpaintbench eval compare DATASET telea mine --run RUN --metric psnr
    """
    loaded = scorable(dataset)
    name = protocol or usual(loaded)
    PROTOCOLS.get(name)
    if one == other and other_run is None:
        raise UsageError(f"{one!r} cannot be compared with itself; give two labels, or --other-run")
    left = _scores(run, dataset, loaded, name, one)
    right = _scores(other_run or run, dataset, loaded, name, other)
    called = other if one != other else f"{other} ({console.shown(other_run or run)})"
    scores = left[0] + [replace(score, method=called) for score in right[0]]
    sets = left[1] + [replace(score, method=called) for score in right[1]]
    both = ((one, run, one), (called, other_run or run, other))
    efforts = {label: kept_between_items(opened(place)).get(known, Effort()) for label, place, known in both}
    results = Results(loaded, scores, protocol=PROTOCOLS.get(name), slice_scores=sets, efforts=efforts)
    quantities = _quantities(results, metric, region)
    slices = {row.name: row for row in [results.everything, *in_reading_order(results.slices)]}
    rows = compare(results, one, called, quantities=quantities, slices=pick("slice", part, slices))
    remarks = [*exposure_sentences(results), *_unmeasured(results, metric, region)]
    for shown_as, place, label in both:
        workspace = opened(place)
        if predict_step(label) in workspace.steps("predictions") and (words := not_run_words(workspace, loaded, label)):
            remarks.append(f"left out: {words}")
        if why := results.aside.get(shown_as):
            remarks.append(f"no star marks the better mean beside {shown_as}: {why}")
            rows = [replace(row, reference=True) for row in rows]
        if label in references_in(workspace):
            remarks.append(
                f"{label} is a reference method: a floor to stand above, not a competitor, so no star marks the better mean"
            )
            rows = [replace(row, reference=True) for row in rows]
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


def _scores(run: Path, root: Path, dataset: Dataset, protocol: str, method: str) -> tuple[list[Score], list[SliceScore]]:
    """Those of one method in a run folder.

    Raises:
        UnknownNameError: it was not scored there, others were. InputError: nothing was, or the scores are stale.
    """
    workspace = opened(run)
    with workspace.locked():
        bind(workspace, root)
        check_scored(method, scored_methods(workspace, protocol))
        scores, sets = scores_of(workspace, dataset, root, protocol, methods=[method])
    return scores, [distance for distance in sets if distance.method == method]


def _pictures(results: Results, one: str, other: str, quantities: Sequence[Quantity], stem: Path) -> dict[Quantity, str]:
    """Quantity -> name of the figure of its effects on both methods, where it has any; written beside the tables."""
    drawn = {quantity: versus_figure(results, one, other, quantity) for quantity in quantities}
    names = {quantity: f"{stem.name}_{quantity.metric}_{quantity.region}.svg" for quantity, figure in drawn.items() if figure}
    for quantity, name in names.items():
        save_chart(drawn[quantity] or {}, stem.with_name(name))
    return names


def _unmeasured(results: Results, metrics: Names, regions: Names) -> list[str]:
    """One sentence a reason."""
    quantities: dict[str, list[str]] = {}
    for quantity, reason in results.unmeasured.items():
        if (not metrics or quantity.metric in metrics) and (not regions or quantity.region in regions):
            quantities.setdefault(reason, []).append(f"{quantity.metric} in the {quantity.region}")
    return [f"not measured: {', '.join(names)}: {reason}" for reason, names in quantities.items()]


def _quantities(results: Results, metrics: Names, regions: Names) -> list[Quantity]:
    there = [quantity for quantity in results.quantities if quantity.ranked]
    chosen = pick("metric with values:", metrics, {row.metric: row.metric for row in there})
    places = pick("region with values:", regions, {row.region: row.region for row in there})
    return [row for row in there if row.metric in chosen and row.region in places]
