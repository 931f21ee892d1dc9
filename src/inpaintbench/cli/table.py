"""A run for papers and others: `eval table`, `figure` and `diagnose`, and the parts `--for rows` and `--for hub`."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Scored, results_of
from inpaintbench.cli.options import Among, option
from inpaintbench.cli.words import check_name
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval import diagnosis, result_files
from inpaintbench.eval.diagnosis import diagnose
from inpaintbench.eval.report import effects, figures, page, tables
from inpaintbench.eval.results.quantity import Quantity, metric_title, quantities_in, quantity_label, quantity_title, standing
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.run_folder import Scores, asked, without_value
from inpaintbench.files import without_controls, write_atomically
from inpaintbench.pages import Cell, Column, save_chart
from inpaintbench.pages.tables import comma_separated, latex
from inpaintbench.pages.words import count, p_words
from inpaintbench.table_files import canonical_bytes

MetricName = Annotated[str | None, option("The metric.", default="the one that the report opens with")]
MetricNames = Annotated[
    list[str] | None,
    option(
        "A metric; given again, the table has a column for each, over all items.", default="the one that the report opens with"
    ),
]
RegionName = Annotated[str | None, option("Where it is measured.", default="the metric's usual one")]
# Effects that are not told and that a terminal shows all the same where none is.
_MOST_UNTOLD = 5


def table(
    dataset: InDataset,
    *,
    run: Scored,
    protocol: ProtocolName = None,
    metric: MetricNames = None,
    region: RegionName = None,
    what: Literal["scores", "effects"] = "scores",
    as_latex: bool = True,
    out: Path | None = None,
) -> None:
    """Print a table of the report as LaTeX or CSV.

    Args:
        what --table: Scores by slice, or the effect of each attribute on each method with its interval.
        as_latex --latex/--csv: LaTeX with booktabs.
        out: File to write. [default: standard output]

    Example: inpaintbench eval table DATASET --run RUN --metric psnr --latex --out psnr.tex
    """
    results = results_of(run, dataset, protocol)
    quantity, *further = quantities = asked_quantities(results, metric, region)
    if further and what == "effects":
        raise UsageError("a table of effects is of one metric: give one --metric, or leave out --table")
    if further:
        drawn = tables.metrics_table(results, quantities)
    elif what == "scores":
        drawn = tables.score_table(results, quantity)
    else:
        drawn = effects.effects_table(results, diagnose(results), quantity)
    if not drawn.rows:
        raise InputError(f"no effect to print: no axis, slice or attribute has {quantity_label(quantity)} of enough sources")
    if as_latex:
        text = latex(drawn, comment=tables.table_comment(results, drawn))
    else:
        if not further:  # with columns that say what its numbers are, as its caption does, which CSV has no place for
            heads = (Column("Metric"), Column("Region"), Column("Standing"))
            told = (Cell(metric_title(quantity.metric)), Cell(quantity.region), Cell(standing(quantity, results.protocol)))
            rows = tuple(replace(row, cells=(*row.cells, *told)) for row in drawn.rows)
            drawn = replace(drawn, columns=(*drawn.columns, *heads), rows=rows)
        text = comma_separated(drawn)
    if out is None:
        print(without_controls(text), end="")
    else:
        write_atomically(out, text.encode())
        console.say(f"Table: {out}")


def figure(
    dataset: InDataset,
    *,
    run: Scored,
    out: Path,
    what: Literal["means", "fingerprint", "response", "difficulty", "steps", "sensitivity", "scatter"] = "means",
    protocol: ProtocolName = None,
    metric: MetricName = None,
    region: RegionName = None,
    attribute: str | None = None,
) -> None:
    """Write a figure of the report as SVG, PDF or PNG.

    Args:
        out: File to write: its name ends in .svg, .pdf, .png or .json (Vega-Lite).
        what --figure: Means with intervals by slice; or a figure of the report, by the name of its section.
        attribute: Attribute of items for `scatter`. [default: the first one]

    Example: inpaintbench eval figure DATASET --run RUN --figure difficulty --out difficulty.pdf
    """
    results = results_of(run, dataset, protocol)
    save_chart(figures.paper_figure(results, what, asked_quantity(results, metric, region), attribute=attribute), out)
    console.say(f"Figure: {console.shown(out)}")


def export(dataset: InDataset, *, run: Scored, out: Path, protocol: ProtocolName = None, as_parquet: bool = True) -> None:
    """Write every score with facts of its item, as Parquet.

    Args:
        out: File to write.
        as_parquet --parquet/--csv: Parquet, which keeps types.

    Example: inpaintbench eval table --for rows DATASET --run RUN --parquet --out scores.parquet
    """
    results = results_of(run, dataset, protocol)
    drop = ["details", "features", "truth_features"]  # nested, and names of blobs of this run folder
    scores = Scores(results.scores).to_pandas(results.dataset).drop(columns=drop)
    data = io.BytesIO()
    if as_parquet:
        scores.to_parquet(data, index=False)
    else:
        scores.to_csv(data, index=False)
    write_atomically(out, data.getvalue())
    rows = asked(results.scores)
    not_run = len(scores) - len(rows)
    more = f"; {count(not_run, 'more row')} of items that a method was not run on" if not_run else ""
    console.say(f"{count(len(rows), 'score')}, {without_value(rows):,} without a value{more}: {console.shown(out)}")


def asked_quantity(results: Results, metric: str | None, region: str | None) -> Quantity:
    """The quantity of a metric, by default the one that the report opens with, in a region, by default the metric's usual one."""
    default = page.default_quantity(results)
    metric = metric or default.metric
    check_name("metric with scores", metric, sorted({quantity.metric for quantity in results.quantities}))
    regions = [quantity.region for quantity in results.quantities if quantity.metric == metric]
    check_name(f"region of {metric}", region, regions)
    shown = quantities_in(results.quantities, results.protocol, region or default.region)
    return next(quantity for quantity in shown if quantity.metric == metric)


def asked_quantities(results: Results, metrics: Sequence[str] | None, region: str | None) -> list[Quantity]:
    """``asked_quantity`` of each metric once; without any, that of none."""
    names: list[str | None] = [*dict.fromkeys(metrics or ())]
    return [asked_quantity(results, name, region) for name in names or [None]]


def diagnose_command(
    dataset: InDataset,
    *,
    run: Scored,
    protocol: ProtocolName = None,
    metric: MetricName = None,
    region: RegionName = None,
    everything: bool = False,
    as_json: console.AsJson = False,
    as_csv: bool = False,
    out: Path | None = None,
) -> console.Answer:
    """Say where methods fail. What does each axis and attribute cost each of them, and which failures does nothing explain?

    Args:
        everything --all: Show every effect, not only those that are more than chance.
        as_csv --csv: Print every effect by every metric as CSV.
        out: File to write all of it to: its name ends in .csv or .json. [default: standard output]

    Example: inpaintbench eval diagnose DATASET --run RUN --out diagnosis.csv
    """
    if as_json and as_csv:
        raise UsageError("give --json or --csv, not both")
    if out is not None and out.suffix not in (".csv", ".json"):
        raise UsageError(f"--out is {str(out)!r}; its name has to end in .csv or .json")
    results = results_of(run, dataset, protocol)
    found = diagnose(results)
    quantity = asked_quantity(results, metric, region)
    if out is not None:
        as_rows = out.suffix == ".csv"
        csv, plain = diagnosis.effects_csv, diagnosis.plain
        data = csv(found.effects, results.protocol) if as_rows else canonical_bytes(plain(found, results.protocol))
        write_atomically(out, data)
    if as_csv:
        print(without_controls(diagnosis.effects_csv(found.effects, results.protocol).decode()), end="")
        return console.Answer(None)
    wrote = [] if out is None else [f"wrote {console.shown(out)}"]
    return console.Answer(
        diagnosis.plain(found, results.protocol),
        *_told(found, quantity, quantity_title(quantity, results.protocol), everything=everything),
        *wrote,
    )


def _told(found: diagnosis.Diagnosis, quantity: Quantity, title: str, *, everything: bool) -> Iterator[str | console.Table]:
    """The effects by a quantity that are more than chance, or ``everything``, and what is not explained by any."""
    ordered = diagnosis.clearest_first(found.effects, quantity)
    told = [effect for effect in ordered if effect.told]
    shown = ordered if everything else told or ordered[:_MOST_UNTOLD]
    if shown:
        rows = [
            (
                diagnosis.what_words(one),
                diagnosis.when_words(one),
                diagnosis.interval_words(one),
                p_words(one.p),
                diagnosis.rests_on(one),
            )
            for one in shown
        ]
        title = title if told or everything else f"{title}: none is more than chance"
        yield console.Table(title, ("What", "When", "Effect and interval", "p", "Rests on"), rows)
        yield f"{len(told)} of {count(len(ordered), 'effect')} by it more than chance; intervals and p hold for all together"
    else:
        yield "nothing that differs between the items rests on enough of them"
    yield from map(diagnosis.together_words, found.together)
    if words := diagnosis.explained_words(found.explained, quantity):
        yield words
    for failure in found.unexplained:
        if failure.quantity == quantity:
            yield f"unexplained: {diagnosis.unexplained_words(failure)}"
    yield from diagnosis.left_out_words(found)


def hand_on(
    dataset: InDataset,
    *,
    run: Scored,
    out: Path,
    protocol: ProtocolName = None,
    organisation: str = "",
    relationship: Annotated[str, Among(result_files.RELATIONSHIPS)] = "third_party",
    repo: str | None = None,
    revision: str | None = None,
) -> None:
    """Write the scores of a run for other collections.

    A JSON a method in the schema of Every Eval Ever; with --repo eval.yaml for the dataset's repository, and for each method the
    file of .eval_results that goes into the repository of its model.

    Args:
        out: Folder for the files.
        organisation: Who measured, for Every Eval Ever. [default: nobody named]
        relationship: Of these people to the methods' authors.
        repo (OWNER/NAME): The dataset on the Hub; then files for it too.
        revision: Its commit that was scored, as `export push` prints it.

    Example: inpaintbench eval report --for hub DATASET --run RUN --out results --repo OWNER/NAME
    """
    if revision and not repo:
        raise UsageError("--revision is of the dataset on the Hub; give --repo OWNER/NAME too")
    if repo:
        from inpaintbench.export.publishing.client import check_name as check_hub_name

        check_hub_name(repo)
    results = results_of(run, dataset, protocol)
    now = datetime.datetime.now(datetime.UTC)
    written: dict[Path, bytes] = {}
    for method in results.contenders:
        written[out / f"{method}.json"] = result_files.every_eval_ever(
            results, method, organisation=organisation, relationship=relationship, repository=repo,  # type: ignore[arg-type]
            timestamp=int(now.timestamp()),
        )  # fmt: skip
        if repo:
            if reasons := result_files.lacks(results, method):
                console.say(result_files.lacks_words(method, reasons))
            if len(reasons) < len(result_files.tasks_of(results.dataset, results.protocol)):
                data = result_files.results_yaml(results, method, repository=repo, revision=revision, date=f"{now:%Y-%m-%d}")
                written[out / "models" / method / result_files.results_path(repo)] = data
    if repo:
        use = benchmark_of(results.dataset).use
        written[out / result_files.EVAL_YAML] = result_files.eval_yaml(results.dataset, results.protocol, description=use)
    for path, data in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    console.say(f"{len(written)} files in {out}")
    if repo:
        console.say(
            f"{result_files.EVAL_YAML} goes into {repo}, which `export push --benchmark` sees to; the Hub shows leaderboards "
            "once the dataset is on its list of benchmarks, which a person asks for. Each file below models/ goes into the "
            "repository of that model, at the same place; `eval submit --to-hub` opens a pull request with it."
        )
