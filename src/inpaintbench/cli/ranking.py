"""`eval rank`: methods by the mean of their places, from a run's scores or as the ChaLearn challenges printed them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, get_args

from inpaintbench.claims import too_few
from inpaintbench.cli import completing, console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.evaluate_options import ProtocolName, SomeMetrics, dataset_argument
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import option
from inpaintbench.cli.run_folder import results_of
from inpaintbench.cli.words import ABSENT, check_name, pick
from inpaintbench.errors import InputError
from inpaintbench.eval.poses.by_joint import METRIC as JOINTS_METRIC
from inpaintbench.eval.poses.by_joint import joint_means
from inpaintbench.eval.published import PrintedTable, chalearn_table, chalearn_tables
from inpaintbench.eval.ranking import Column, MeanPlaces, Standing, decimal, standings
from inpaintbench.eval.report.labels import place_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.set_notes import size_words
from inpaintbench.eval.report.tables import Results
from inpaintbench.eval.report.usual_region import usual_quantities
from inpaintbench.eval.slices import named
from inpaintbench.regions import REGIONS
from inpaintbench.types import Slice

REFERENCE = "a reference, which does not compete"


def rank(
    dataset: Annotated[Path | None, dataset_argument("none, with --published")] = None,
    run: Annotated[Path | None, option("Folder with the scores.", default="none, with --published")] = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: Annotated[str | None, option("Where they are measured.", default="each metric's usual one, as in the report")] = None,
    part: Annotated[
        str | None,
        option(
            "Over the items of one slice, or of a split: split-test.",
            "--slice",
            default="all items",
            metavar="NAME",
            autocompletion=completing.slices,
        ),
    ] = None,
    mean_places: Annotated[
        str | None,
        option("Mean places to one decimal: rounded, or truncated.", default="as the protocol says", among=get_args(MeanPlaces)),
    ] = None,
    joints: Annotated[bool, option("WNJD of each joint, with its side, too.", "--joints")] = False,
    published: Annotated[bool, option("The tables of the ChaLearn 2018 challenges.", "--published")] = False,
    table: Annotated[int | None, option("Only this one of them.", default="all")] = None,
    as_json: AsJson = False,
) -> None:
    """Order methods by the mean of their places over metrics.

    Example: inpaintbench eval rank DATASET --run RUN --slice split-test --metric psnr --metric ssim
    """
    if published:
        if dataset or run or protocol or metric:
            raise UsageError("--published ranks printed numbers: leave out the dataset, --run, --protocol and --metric")
        _tell_published(table, as_json=as_json)
        return
    if dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --published for those of the challenges")
    check_name("way to print mean places", mean_places, get_args(MeanPlaces))
    results = results_of(run, dataset, protocol)
    how: MeanPlaces = mean_places or results.protocol.mean_places  # type: ignore[assignment]
    quantities = _quantities(results, metric, region)
    if as_json:
        print_json(_answer(results, _slice(results, part), quantities, joints=joints))
        return
    _print_run(results, _slice(results, part), quantities, how)
    for name, reason in () if metric else _unmeasured(results, quantities, region):
        console.say(f"not ranked by {name}: {reason}")
    if joints:
        _print_joints(results)


def _slice(results: Results, name: str | None) -> Slice:
    return results.everything if name is None else named(results.dataset, name)


def _quantities(results: Results, metrics: Sequence[str] | None, region: str | None) -> list[Quantity]:
    check_name("region", region, REGIONS)
    where = f" in the region {region!r}" if region else ""
    ranked = [one for one in results.quantities if one.ranked and region in (None, one.region)]
    there = ranked if region else usual_quantities(ranked, results.protocol)
    if not there:
        raise InputError(f"nothing that ranks methods was measured{where}; choose another {'--region' if region else 'protocol'}")
    return pick(f"metric with values{where}:", metrics, {one.metric: one for one in there}) if metrics else there


def _unmeasured(results: Results, quantities: Sequence[Quantity], region: str | None) -> Iterator[tuple[str, str]]:
    """Metrics without a number where it was asked for, each once with its reason."""
    ranked = {one.metric for one in quantities}
    reasons = {one.metric: reason for one, reason in results.unmeasured.items() if region in (None, one.region)}
    yield from ((name, reason) for name, reason in reasons.items() if name not in ranked)


def _ranked(
    results: Results, part: Slice, quantities: Sequence[Quantity]
) -> tuple[list[Column], dict[str, list[float | None]], list[Standing]]:
    """Columns, the values of every method, and where it stands by those that are fair to compare."""
    against = results.protocol.ranked_against
    columns = [Column(one.metric, one.higher_is_better != (one.metric in against)) for one in quantities]
    values = {method: [results.level(part, method, one) for one in quantities] for method in results.methods}
    fair = [results.comparable(part, one) for one in quantities]
    ranked = {
        method: [
            value if ones[method] and not too_few(results.n_sources(part, method, one)) else None
            for value, ones, one in zip(row, fair, quantities, strict=True)
        ]
        for method, row in values.items()
        if method in results.contenders
    }
    few = too_few(results.n_sources(part))
    found = standings(columns, ranked)
    found = [one._replace(reason=few) for one in found] if few else found
    beside = [Standing(method, (None,) * len(columns), None, None, REFERENCE) for method in results.references]
    return columns, values, [*found, *beside]


def _answer(results: Results, part: Slice, quantities: Sequence[Quantity], *, joints: bool) -> dict[str, object]:
    """For scripts: what ``_print_run`` says, in full numbers."""
    columns, values, found = _ranked(results, part, quantities)
    counts = {
        method: {one.metric: len(results.measured(part, method, one)) for one in quantities if not one.of_sets}
        for method in results.methods
    }
    infinite = {
        method: {one.metric: results.summary(part, method, one).n_infinite for one in quantities if not one.of_sets}
        for method in results.methods
    }
    chosen = results.protocol
    head = {"protocol": chosen.name, "fingerprint": results.fingerprint, "slice": part.name}
    regions = {one.metric: one.region for one in quantities}
    methods = [
        _stands(one, columns, values[one.method])
        | {"items_with_values": counts[one.method], "items_infinite": infinite[one.method]}
        for one in found
    ]
    of_joints = {"joints": joint_means(results.scores)} if joints else {}
    return {
        **head,
        "regions": regions,
        "items": len(part.item_ids),
        "metrics": [one._asdict() for one in columns],
        "methods": methods,
        **of_joints,
    }


def _stands(one: Standing, columns: Sequence[Column], values: Sequence[object]) -> dict[str, object]:
    names = [column.name for column in columns]
    return {
        "method": one.method,
        "place": one.place,
        "mean_place": None if one.mean is None else float(one.mean),
        "places": dict(zip(names, one.places, strict=True)),
        "values": dict(zip(names, values, strict=True)),
        "reason": one.reason,
    }


def _tell_published(number: int | None, *, as_json: bool) -> None:
    tables = [chalearn_table(number)] if number is not None else list(chalearn_tables().values())
    if as_json:
        print_json([_published(one) for one in tables])
        return
    for one in tables:
        _print_published(one)


def _published(table: PrintedTable) -> dict[str, object]:
    printed = {row.name: row.values for row in table.rows}
    readings = [
        {
            "how": how,
            "metrics": [one._asdict() for one in columns],
            "methods": [_stands(one, columns, printed[one.method]) for one in found],
        }
        for how, columns, found in _readings(table)
    ]
    return {"table": table.number, "title": table.title, "readings": readings, "notes": table.notes}


def _print_run(results: Results, part: Slice, quantities: Sequence[Quantity], mean_places: MeanPlaces) -> None:
    against = results.protocol.ranked_against
    columns, values, found = _ranked(results, part, quantities)
    texts = {
        method: [_text(value, results, part, method, one) for value, one in zip(row, quantities, strict=True)]
        for method, row in values.items()
    }
    title = f"{results.protocol.name}, {part.name}: {len(part.item_ids)} items"
    named = [one._replace(name=f"{one.name} {place_label(of.region)}") for one, of in zip(columns, quantities, strict=True)]
    console.print_table(title, _head(named), _rows(found, texts, mean_places))
    few = too_few(results.n_sources(part))
    if few:
        console.say(f"means without ranks: the items come from {few}")
    for one in found:
        if one.reason and (not few or one.reason == REFERENCE):
            console.say(f"{one.method} has no mean place: {one.reason}")
    for name in (one.metric for one in quantities if one.metric in against):
        console.say(f"{name} is ranked the wrong way round, as this protocol's tables were printed")
    for quantity in quantities:
        if words := _left_out(results, part, quantity):
            console.say(words)
    for quantity in quantities:
        if quantity.of_sets:
            console.say(_of_sets(results, part, quantity))


def _text(value: float | None, results: Results, part: Slice, method: str, quantity: Quantity) -> str:
    """A value; with the number of its items behind it where that is not all of them, and what the protocol leaves out of them."""
    if value is None:
        return ABSENT
    summary = results.summary(part, method, quantity)
    counts = [] if quantity.of_sets or summary.n == len(part.item_ids) else [f"n {summary.n}"]
    counts += [f"{summary.n_infinite} infinite"] if summary.n_infinite else []
    return f"{value:.4f} [{', '.join(counts)}]" if counts else f"{value:.4f}"


def _left_out(results: Results, part: Slice, quantity: Quantity) -> str | None:
    """Who has no place since values are of clearly fewer items: who leaves out the hard ones would gain."""
    fair = results.comparable(part, quantity)
    unfair = [method for method in results.contenders if not fair[method]]
    counts = {method: len(results.measured(part, method, quantity)) for method in unfair}
    few = [f"{method} ({count})" for method, count in counts.items() if count]
    return f"no place by {quantity.metric}, with values of fewer items than others: {', '.join(few)}" if few else None


def _of_sets(results: Results, part: Slice, quantity: Quantity) -> str:
    """How large the sets are that a number comes from, and what that means."""
    scores = [score for method in results.methods if (score := results.slice_score(part, method, quantity)) is not None]
    sizes = dict.fromkeys(filter(None, map(size_words, scores)))
    warnings = dict.fromkeys(str(score.details["warning"]) for score in scores if score.details.get("warning"))
    return "; ".join([f"{quantity.metric}: {' and '.join(sizes) or 'not compared'}", *warnings])


def _print_joints(results: Results) -> None:
    means = joint_means(results.scores)
    if not means:
        raise InputError(f"no {JOINTS_METRIC} was measured under {results.protocol.name!r}, so there is nothing to say of joints")
    names = sorted({joint for row in means.values() for joint in row})
    rows = [
        (joint, *(f"{row[joint].mean:.4f} ({row[joint].items})" if joint in row else ABSENT for row in means.values()))
        for joint in names
    ]
    console.print_table("WNJD of each joint (items)", ["joint", *means], rows)


def _print_published(table: PrintedTable) -> None:
    texts = {row.name: list(row.values) for row in table.rows}
    title = f"ChaLearn 2018, Table {table.number}: {table.title}"
    for how, columns, found in _readings(table):
        console.print_table(f"{title}; {how}", _head(columns), _rows(found, texts, table.mean_places))
    for note in table.notes:
        console.say(f"Table {table.number}: {note}")


def _readings(table: PrintedTable) -> list[tuple[str, list[Column], list[Standing]]]:
    printed, corrected = table.columns(as_printed=True), table.columns(as_printed=False)
    readings = [("ranks as printed", printed, table.from_places())] if table.rows[0].places else []
    if printed != corrected:
        readings.append(("ranked from the values, in the printed direction", printed, table.from_values(as_printed=True)))
    return [*readings, ("ranked from the values", corrected, table.from_values(as_printed=False))]


def _head(columns: Sequence[Column]) -> list[str]:
    return ["place", "method", "mean place", *(f"{one.name} {'↑' if one.higher_is_better else '↓'}" for one in columns)]


def _rows(found: Sequence[Standing], texts: dict[str, list[str]], mean_places: MeanPlaces) -> list[tuple[str, ...]]:
    return [
        (
            ABSENT if one.place is None else str(one.place),
            one.method,
            ABSENT if one.mean is None else decimal(one.mean, how=mean_places),
            *(
                f"{text} ({ABSENT if place is None else place})"
                for text, place in zip(texts[one.method], one.places, strict=True)
            ),
        )
        for one in found
    ]
