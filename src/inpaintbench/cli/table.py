"""`eval table`: the table of scores by slice as LaTeX, CSV or JSON, for papers and spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Scored
from inpaintbench.cli.options import option
from inpaintbench.cli.run_folder import results_of
from inpaintbench.cli.words import check_name
from inpaintbench.eval.report.page import default_quantity
from inpaintbench.eval.report.quantity import Quantity, quantities_in
from inpaintbench.eval.report.score_table import score_table
from inpaintbench.eval.report.tables import Results
from inpaintbench.files import write_atomically
from inpaintbench.manifest import own_hash
from inpaintbench.pages.papers import comma_separated, latex


def table(
    dataset: InDataset,
    run: Scored,
    protocol: ProtocolName = None,
    metric: Annotated[str | None, option("Metric of the table.", default="the one that the report opens with")] = None,
    region: Annotated[str | None, option("Where it is measured.", default="the metric's usual one")] = None,
    as_latex: Annotated[bool, option("LaTeX with booktabs.", "--latex/--csv")] = True,
    out: Annotated[Path | None, option("File to write.", default="standard output")] = None,
) -> None:
    """Print the scores by slice as LaTeX or CSV.

    Example: inpaintbench eval table DATASET --run RUN --metric psnr --latex --out psnr.tex
    """
    results = results_of(run, dataset, protocol)
    quantity = _asked(results, metric, region)
    drawn = score_table(results, quantity)
    comment = (
        f"{drawn.caption}\ndataset {results.dataset.name} {results.dataset.version}, manifest {own_hash(results.dataset)}\n"
        f"protocol {results.protocol.name}, fingerprint {results.fingerprint}"
    )
    text = latex(drawn, comment=comment) if as_latex else comma_separated(drawn)
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, text.encode())
        console.say(f"Table: {out}")


def _asked(results: Results, metric: str | None, region: str | None) -> Quantity:
    default = default_quantity(results)
    metric = metric or default.metric
    check_name("metric with scores", metric, sorted({quantity.metric for quantity in results.quantities}))
    regions = [quantity.region for quantity in results.quantities if quantity.metric == metric]
    check_name(f"region of {metric}", region, regions)
    shown = quantities_in(results.quantities, results.protocol, region or default.region)
    return next(quantity for quantity in shown if quantity.metric == metric)
