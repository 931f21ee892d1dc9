"""`eval table --for ranks`: methods by mean places, from a run's scores or as the ChaLearn challenges printed them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, get_args

from inpaintbench.cli import console
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.evaluate_options import ProtocolName, SliceName, SomeMetrics, dataset_argument, results_of
from inpaintbench.cli.options import Among
from inpaintbench.cli.words import check_name
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.comparing.ranking import Column, MeanPlaces, RunStandings, Standing, decimal, ranked_quantities
from inpaintbench.eval.scoring.parts import named
from inpaintbench.pages.words import DASH, number
from inpaintbench.wings.chalearn.metrics.wnjd import Wnjd, joint_means
from inpaintbench.wings.chalearn.published import chalearn_joints, chalearn_table, chalearn_tables, paper_tables

_PAPERS = ("chalearn", "editboard", "reinpaint")


def rank(
    dataset: Annotated[Path | None, dataset_argument("none, with --published")] = None,
    *,
    run: Path | None = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: str | None = None,
    part: SliceName | None = None,
    mean_places: Annotated[str | None, Among(get_args(MeanPlaces))] = None,
    joints: bool = False,
    published: bool = False,
    paper: Annotated[str, Among(_PAPERS)] = "chalearn",
    table: int | None = None,
    as_json: AsJson = False,
) -> None:
    """Order methods by the mean of their places over metrics.

    Args:
        run: Folder with the scores. [default: none, with --published]
        region: Where they are measured. [default: each metric's usual one, as in the report]
        part --slice (NAME): Over the items of one slice, or of a split: split-test. [default: all items]
        mean_places: Mean places to one decimal: rounded, or truncated. [default: as the protocol says]
        joints: WNJD of each joint, with its side, too.
        published: Tables that others printed.
        paper: Whose tables these are: the challenges', or a paper's.
        table: Only this one of them. [default: all]

    Example: inpaintbench eval table --for ranks DATASET --run RUN --slice split-test --metric psnr --metric ssim
    """
    if published:
        if dataset or run or protocol or metric:
            raise UsageError("--published ranks printed numbers: leave out the dataset, --run, --protocol and --metric")
        check_name("paper", paper, _PAPERS)
        if paper == "chalearn":
            _tell_published(table, joints=joints, as_json=as_json)
        else:
            _tell_paper(paper, table, as_json=as_json)
        return
    if dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --published for those of the challenges")
    check_name("way to print mean places", mean_places, get_args(MeanPlaces))
    results = results_of(run, dataset, protocol)
    how: MeanPlaces = mean_places or results.protocol.mean_places  # type: ignore[assignment]
    where = results.everything if part is None else named(results.dataset, part)
    ranking = RunStandings(results, where, ranked_quantities(results, metric, region))
    if as_json:
        print_json(ranking.plain() | ({"joints": joint_means(results.scores)} if joints else {}))
        return
    title = f"{results.protocol.name}, {where.name}: {len(where.item_ids)} items"
    console.print_table(title, _head(ranking.named_columns), _rows(ranking.standings, ranking.texts, how))
    for remark in ranking.remarks():
        console.say(remark)
    for name, reason in () if metric else ranking.unmeasured(region):
        console.say(f"not ranked by {name}: {reason}")
    if not joints:
        return
    means = joint_means(results.scores)
    if not means:
        raise InputError(f"no {Wnjd.name} was measured under {results.protocol.name!r}, so there is nothing to say of joints")
    rows = []
    for joint in sorted({joint for row in means.values() for joint in row}):
        found = [row.get(joint) for row in means.values()]
        rows.append((joint, *(f"{number(one.mean, 4)} ({one.items})" if one else DASH for one in found)))
    console.print_table("WNJD of each joint (items)", ["joint", *means], rows)


def _tell_published(number: int | None, *, joints: bool, as_json: bool) -> None:
    tables = [chalearn_table(number)] if number is not None else list(chalearn_tables().values())
    if as_json:
        print_json([table.plain() for table in tables])
        return
    for table in tables:
        texts = {row.name: list(row.values) for row in table.rows}
        for how, columns, standings in table.readings():
            title = f"ChaLearn 2018, Table {table.number}: {table.title}; {how}"
            console.print_table(title, _head(columns), _rows(standings, texts, table.mean_places))
        for note in table.notes:
            console.say(f"Table {table.number}: {note}")
        console.say(f"Table {table.number}: compare with {table.ours}.")
    if joints:
        means = chalearn_joints()
        rows = [(joint, *(f"{row[joint]:.2f}" for row in means.values())) for joint in next(iter(means.values()))]
        console.print_table("ChaLearn 2018, Table 7: WNJD ↓ of each joint, track 1, test", ["joint", *means], rows)


def _tell_paper(paper: str, number: int | None, *, as_json: bool) -> None:
    tables = [table for table in paper_tables(paper) if number in (None, table.number)]
    if not tables:
        kept = dict.fromkeys(str(table.number) for table in paper_tables(paper))
        raise UsageError(f"no Table {number} of {paper} is kept, only {', '.join(kept)}")
    if as_json:
        print_json([table.model_dump(mode="json") for table in tables])
        return
    for table in tables:
        part = f", {table.part}" if table.part else ""
        title = f"{table.source}, Table {table.number}{part}: {table.title}"
        console.print_table(title, ["", *table.heads], [(name, *values) for name, values in table.rows.items()])
        for note in table.notes:
            console.say(f"Table {table.number}{part}: {note}")
        console.say(f"Table {table.number}{part}: compare with {table.ours}.")


def _head(columns: Sequence[Column]) -> list[str]:
    return ["place", "method", "mean place", *(f"{column.name} {'↑' if column.higher_is_better else '↓'}" for column in columns)]


def _rows(standings: Sequence[Standing], texts: dict[str, list[str]], mean_places: MeanPlaces) -> list[tuple[str, ...]]:
    return [
        (
            DASH if row.place is None else str(row.place),
            row.method,
            DASH if row.mean is None else decimal(row.mean, how=mean_places),
            *(f"{text} ({DASH if place is None else place})" for text, place in zip(texts[row.method], row.places, strict=True)),
        )
        for row in standings
    ]
