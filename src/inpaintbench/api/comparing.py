"""What two runs tell of each other, and the report of a run folder, from Python: ``ib.compare``, ``ib.report``."""

from __future__ import annotations

import html
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench import frozen
from inpaintbench.api.runs import Run, html_table
from inpaintbench.catalogue import pick
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.figures import versus_figure
from inpaintbench.eval.report.media import PredictionMedia
from inpaintbench.eval.report.two_methods import HEADS, Difference, telling, text_rows
from inpaintbench.eval.report.two_methods import compare as differences
from inpaintbench.eval.results.cautions import exposure_sentences
from inpaintbench.eval.results.quantity import Quantity, quantity_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring import run_folder
from inpaintbench.eval.scoring.effort import Effort, efforts_of
from inpaintbench.eval.scoring.parts import of_slices, open_part
from inpaintbench.pages import save_chart
from inpaintbench.pages.plots import paper_svg, specification
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from inpaintbench.eval.report import ReportFiles

# Rows of a comparison that a notebook shows.
_MOST_ROWS = 20


@dataclass(frozen=True)
class Versus:
    """Two methods against each other, A and B: what the report may claim of them. Made by ``compare``.

    Example: ``versus.table.query("slice == 'all items'")[["metric", "difference", "p_corrected", "better"]]``
    """

    one: str
    other: str
    rows: list[Difference]
    """One for each metric, region and slice."""
    remarks: list[str]
    """Sentences on what is left out, and why."""
    results: Results = field(repr=False)
    """Scores of both."""
    quantities: list[Quantity] = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each metric, region and slice: means ``one`` and ``other`` in the metric's unit, ``difference`` (A - B) with
        its 95 % interval, ``p``, ``p_corrected`` and ``better``: a label, or "" where the difference may be chance."""
        import pandas as pd  # takes half a second

        names = {1: self.one, -1: self.other, 0: ""}
        return pd.DataFrame([{**asdict(row), "better": names[row.better]} for row in self.rows])

    def plot(self, metric: str | None = None) -> Plot:
        """What each attribute does to both methods, or where none tells anything how far apart they are in each slice, with
        95 % intervals: ``versus.plot("psnr").save("psnr.svg")``.

        Args:
            metric: one that was compared; None = the first.

        Raises:
            UnknownNameError: a metric that was not compared.
        """
        first = {one.metric: one for one in reversed(self.quantities)}
        [quantity] = pick("metric", [metric or self.quantities[0].metric], first)
        drawn = versus_figure(self.results, self.one, self.other, quantity)
        return Plot(drawn or self._differences(quantity))

    def _differences(self, quantity: Quantity) -> Mapping[str, Any]:
        import altair  # takes a quarter of a second

        rows = [asdict(row) for row in self.rows if (row.metric, row.region) == quantity]
        title = f"{self.one} - {self.other}: {quantity_label(quantity)}"
        base = altair.Chart(altair.InlineData(rows)).encode(
            y=altair.Y("slice:N", sort=[row["slice"] for row in rows], title=None)
        )
        points = base.mark_point().encode(x=altair.X("difference:Q", title=title))
        return specification(base.mark_rule().encode(x="interval_low:Q", x2="interval_high:Q") + points)

    def _repr_html_(self) -> str:
        rows, notes = text_rows(telling(self.rows, most=_MOST_ROWS))
        below = "".join(f"<p>{html.escape(text)}</p>" for text in (*notes, *self.remarks))
        return f"<p>A is {html.escape(self.one)}, B is {html.escape(self.other)}.</p>{html_table(HEADS, rows)}{below}"


@dataclass(frozen=True)
class Plot:
    """A plot that a notebook shows. Example: ``plot.save("effects.pdf")``."""

    specification: Mapping[str, Any] = field(repr=False)
    """In Vega-Lite."""

    def save(self, path: str | Path) -> Path:
        """Write it as ``.svg``, ``.pdf``, ``.png`` or ``.json``, as the name ends; ``InputError`` for another ending."""
        return save_chart(self.specification, Path(path))

    def _repr_svg_(self) -> str:
        return paper_svg(self.specification)


def compare(
    run: Run,
    other: Run,
    *,
    metrics: Sequence[str] | None = None,
    regions: Sequence[str] | None = None,
    slices: Sequence[str] | None = None,
    called: str | None = None,
) -> Versus:
    """Compare two runs on one dataset by each metric in each slice: ``ib.compare(run, data.run("telea"))``.

    Args:
        run: A.
        other: B, under the same protocol.
        metrics: some of them; by default all that rank methods.
        regions: some of them, such as ``hole``.
        slices: some of them, and ``all items``.
        called: label of B in the table, where both have one; by default with its folder.

    Raises:
        UnknownNameError: a metric, region or slice without values. InputError: another dataset or protocol, or no scores.
    """
    if run.protocol != other.protocol or frozen.content_of(run.data.dataset) != frozen.content_of(other.data.dataset):
        raise InputError("both runs have to be on one dataset under one protocol")
    if run.name == other.name and run.folder == other.folder:
        raise InputError(f"{run.name!r} cannot be compared with itself")
    label = called or (other.name if run.name != other.name else f"{other.name} ({other.folder})")
    (scores, sets), (more, more_sets) = run.records(), other.records()
    rows_of_both = [*scores, *(replace(score, method=label) for score in more)]
    sets = [*sets, *(replace(score, method=label) for score in more_sets)]
    both = {run.name: run, label: other}
    spaces = {shown: Workspace(one.folder, create=False) for shown, one in both.items()}
    kept = {shown: run_folder.remembered(spaces[shown], run_folder.BETWEEN).get(one.name) for shown, one in both.items()}
    efforts = {shown: Effort(between_items=word) if word else Effort() for shown, word in kept.items()}
    dataset, protocol = open_part(run.data.dataset), PROTOCOLS.get(run.protocol)
    results = Results(dataset, rows_of_both, protocol=protocol, slice_scores=sets, efforts=efforts)
    ranked = [quantity for quantity in results.quantities if quantity.ranked]
    wanted = pick("metric with values:", metrics, {row.metric: row.metric for row in ranked})
    places = pick("region with values:", regions, {row.region: row.region for row in ranked})
    quantities = [row for row in ranked if row.metric in wanted and row.region in places]
    parts = {row.name: row for row in [results.everything, *in_reading_order(results.slices)]}
    rows = differences(results, run.name, label, quantities=quantities, slices=pick("slice", slices, parts))
    remarks, lacking = list(exposure_sentences(results)), dict[str, list[str]]()
    for quantity, reason in results.unmeasured.items():
        if (not metrics or quantity.metric in metrics) and (not regions or quantity.region in regions):
            lacking.setdefault(reason, []).append(f"{quantity.metric} in the {quantity.region}")
    remarks += [f"not measured: {', '.join(names)}: {reason}" for reason, names in lacking.items()]
    for shown, one in both.items():
        is_predicted = predict_step(one.name) in spaces[shown].steps("predictions")
        if is_predicted and (words := run_folder.not_run_words(spaces[shown], dataset, one.name)):
            remarks.append(f"left out: {words}")
        if why := results.aside.get(shown):
            remarks.append(f"no star marks the better mean beside {shown}: {why}")
        if is_reference := one.name in run_folder.references_in(spaces[shown]):
            remarks.append(
                f"{one.name} is a reference method: a floor to stand above, not a competitor, so no star marks the better mean"
            )
        if why or is_reference:
            rows = [replace(row, reference=True) for row in rows]
    return Versus(run.name, label, rows, remarks, results, quantities)


@dataclass(frozen=True)
class WrittenReport:
    """The HTML page of a run folder. Example: ``ib.report(run).open()``."""

    page: Path
    """One file that needs no network."""

    def open(self) -> bool:
        """Show it in the browser of this machine; False where there is none."""
        return webbrowser.open(self.page.resolve().as_uri())

    def _repr_html_(self) -> str:
        return f'<a href="{html.escape(self.page.resolve().as_uri())}">{html.escape(str(self.page))}</a>'


def write_run_report(
    workspace: Workspace,
    dataset: Dataset,
    root: Path,
    protocol: str,
    *,
    methods: Sequence[str] | None = None,
    folder: Path | None = None,
    media_items: int = 6,
    show: Sequence[str] = (),
    slices: Sequence[str] = (),
) -> ReportFiles:
    """``write_report`` of the scores in a run folder.

    Args:
        workspace: the run folder.
        dataset: the items that can be scored.
        root: its folder.
        protocol: whose scores.
        methods: labels; None = all.
        folder: for the report; None = ``report`` in the run folder.
        media_items: ``further_items``.
        show: ``asked_items``.
        slices: items of these alone; () = all.

    Raises:
        InputError: as ``scores_of`` and ``write_report``. UnknownNameError: no such slice.
    """
    chosen = PROTOCOLS.get(protocol)
    rows, compared = run_folder.scores_of(workspace, dataset, root, protocol, methods=methods)
    if slices:
        dataset = of_slices(dataset, slices)
        there = {row["item_id"] for row in dataset.items}
        rows = run_folder.Scores(row for row in rows if row.item_id in there)
        # A number of a set stands for its slice; that of all items is of more than are left.
        compared = [row for row in compared if row.slice in slices]
    from inpaintbench.eval.report import write_report  # which most commands of this module do without

    media = PredictionMedia(root, dataset, workspace.blobs, workspace.table("predictions", Prediction), protocol=chosen)
    return write_report(
        folder or workspace.path / "report", title=dataset.name, dataset=dataset, scores=rows, slice_scores=compared,
        references=run_folder.references_in(workspace), options=run_folder.remembered(workspace, run_folder.OPTION),
        efforts=efforts_of(workspace, dataset, {row.method for row in rows}), protocol=chosen, media=media, run=workspace.path,
        root=root, further_items=media_items, asked_items=show,
    )  # fmt: skip


def report(run: Run, *, out: str | Path | None = None, slices: Sequence[str] = (), media: int = 6) -> WrittenReport:
    """Write the report of all methods that were scored in the folder of a run under its protocol: ``ib.report(run).page``.

    Args:
        run: any of them.
        out: folder of the page, CSV and JSON; by default ``report`` in the run folder. An older report in its place goes away.
        slices: only items of these; by default all.
        media: items with a video besides those of slices: the hardest and the most disagreed.

    Raises:
        InputError: no scores, scores older than their predictions, or a folder that holds something else than a report.
        UnknownNameError: no such slice.
    """
    workspace, dataset = Workspace(run.folder, create=False), open_part(run.data.dataset)
    run_folder.bind(workspace, run.data.root)
    with workspace.locked():
        folder = Path(out) if out else None
        made = write_run_report(workspace, dataset, run.data.root, run.protocol, folder=folder, media_items=media, slices=slices)
    return WrittenReport(made.page)
