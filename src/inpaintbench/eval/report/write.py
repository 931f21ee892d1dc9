"""Write a report folder: all of it or nothing.

Beside the page stands the report as data: every score, every mean, and one JSON of all that the page shows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.looked_at import looked_at
from inpaintbench.eval.diagnosis import diagnose, effects_csv, plain
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.effects import add_groups, add_proofs, headline
from inpaintbench.eval.report.findings import leads_of
from inpaintbench.eval.report.gallery import Exhibit, Media, add_asked, add_standouts, choose_items, make_exhibits
from inpaintbench.eval.report.media import MASK, OUTLINE, how_shown, recipe_of
from inpaintbench.eval.report.page import BESIDE_NOTE, INLINE_NOTE, default_quantity, parts_of, render
from inpaintbench.eval.results.cautions import contradictions, protocol_cautions, set_sizes, untold
from inpaintbench.eval.results.quantity import standing, usual_quantities
from inpaintbench.eval.results.slices import in_reading_order, pair_slices
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort, ItemEffort
from inpaintbench.eval.values.statistics import INTERVAL
from inpaintbench.files import replacing, write_atomically
from inpaintbench.manifest import own_hash
from inpaintbench.pages import data_uri
from inpaintbench.table_files import canonical_bytes, csv_bytes
from inpaintbench.types import Dataset, Plain, Score, SliceScore, canonical_json

_PAGE, _SCORES, _SUMMARY, _REPORT, _EFFORTS = "report.html", "scores.csv", "summary.csv", "report.json", "efforts.csv"
_DIAGNOSIS = "diagnosis.csv"
SCORE_COLUMNS = ("method", "item_id", "metric", "region", "protocol", "fingerprint", "value", "reason", "details")
_OF_ITEM = ("source", "reference")
# How an interval was made, in the column `interval`.
OF_MEANS, OF_SETS = "sources: jackknife, t or bootstrap-t", "sources: jackknife, t"
SUMMARY_COLUMNS = (
    "slice", "method", "metric", "region", "standing", "mean", "standard_error", "interval_low", "interval_high", "interval", "n",
    "n_infinite", "n_missing", "n_sources", "n_vectors", "dimension", "place", "like_best", "reference", "reason",
)  # fmt: skip


def scores_csv(results: Results) -> bytes:
    """One row for each score; None is an empty cell, infinity is ``inf``, details are JSON.

    The last columns are the item's source, by which items cluster, and whether the method is a reference.
    """
    rows = (
        [
            *(canonical_json(dict(score.details)) if name == "details" else getattr(score, name) for name in SCORE_COLUMNS),
            results.sources[score.item_id],
            score.method in results.references,
        ]
        for score in results.scores
    )
    return csv_bytes((*SCORE_COLUMNS, *_OF_ITEM), rows)


def summary_csv(results: Results) -> bytes:
    """One row for each slice, method, metric and region; the last rows take all items."""
    rows = summary_rows(results)
    return csv_bytes(SUMMARY_COLUMNS, [[row[column] for column in SUMMARY_COLUMNS] for row in rows])


def summary_rows(results: Results) -> list[dict[str, Any]]:
    """The rows of ``summary.csv`` with the names of its columns."""
    unexposed = [results.unexposed] if results.unexposed else []
    rows = []
    for one in (*in_reading_order(results.slices), *unexposed, results.everything):
        for quantity in results.quantities:
            places, best = results.places(one, quantity), results.best(one, quantity)
            for method in results.methods:
                summary = results.summary(one, method, quantity)._asdict()
                n_sources = summary.pop("n_clusters")
                how = OF_SETS if quantity.of_sets else OF_MEANS
                n_vectors, dimension = set_sizes(results.slice_score(one, method, quantity))
                rows.append({
                    "slice": one.name, "method": method, **quantity._asdict(), "standing": standing(quantity, results.protocol),
                    **summary, "n_sources": n_sources, "n_vectors": n_vectors, "dimension": dimension,
                    "interval": None if summary["interval_low"] is None else how, "place": places[method],
                    "like_best": method in best, "reference": method in results.references,
                })  # fmt: skip
    return rows


def report_json(results: Results, exhibits: Sequence[Exhibit], *, title: str) -> bytes:
    """Everything that the page says, as canonical JSON; infinity is the text ``inf``."""
    dataset, protocol, quantities = results.dataset, results.protocol, results.quantities
    report: Plain = {
        "format_version": 1,
        "title": title,
        "dataset": dataset.name,
        "protocol": protocol.name,
        "fingerprint": results.fingerprint,
        "constants": protocol.model_dump(mode="json"),
        "versions": dict(dataset.versions),
        "items": len(results.sources),
        "sources": len(set(results.sources.values())),
        "methods": list(results.methods),
        "references": list(results.references),
        "no_place": results.aside,
        "slices": [{"name": one.name, "rule": one.rule, "items": len(one.item_ids)} for one in dataset.slices],
        "left_out": dict(dataset.left_out),
        "failures": [
            {"method": one.method, "item_id": one.item_id, "reason": one.reason, "missing": [list(q) for q in one.quantities]}
            for one in results.failures()
        ],
        "usual_regions": {one.metric: one.region for one in usual_quantities(quantities, protocol)},
        "unmeasured": [{**one._asdict(), "reason": reason} for one, reason in results.unmeasured.items()],
        "efforts": {method: effort.told for method, effort in results.efforts.items()},
        "shown_by_other_inputs": results.exposed._asdict(),
        "interval": INTERVAL,
        "summary": summary_rows(results),
        "difficulty": _difficulty(results),
        "relative_improvement": _improvements(results),
        "significance": _significance(results),
        "primary": list(protocol.primary),
        "compared": _compared(results),
        "diagnosis": plain(diagnose(results), protocol),
        "diagnostic": {one.metric: one.diagnostic for one in quantities if one.diagnostic},
        "contradictions": [row for quantity in quantities for row in contradictions(results, quantity)],
        "self_consistency": protocol_cautions(results),
        "floor_caution": [asdict(one) for quantity in quantities for one in untold(results, quantity)],
        "gallery": [
            {"item_id": exhibit.choice.item_id, "slices": exhibit.choice.reasons, "labels": exhibit.choice.labels}
            for exhibit in exhibits
        ],
        "dataset_sha256": own_hash(dataset),
    }
    return canonical_bytes(report)


def _difficulty(results: Results) -> list[dict[str, Any]]:
    rows = []
    for one in in_reading_order(results.slices):
        for quantity in results.quantities:
            spread = results.difficulty(one, quantity)
            numbers = {"mean": spread.mean, "standard_error": spread.standard_error, "n_methods": spread.n}
            rows.append({"slice": one.name, **quantity._asdict(), **numbers})
    return rows


def _improvements(results: Results) -> list[dict[str, Any]]:
    rows = []
    for pair in pair_slices(results.slices):
        for quantity in [one for one in results.quantities if one.ranked]:
            for method in results.methods:
                share = results.improvement(pair, method, quantity)
                rows.append({"attribute": pair.attribute, "method": method, **quantity._asdict(), "share": share})
    return rows


def _significance(results: Results) -> list[dict[str, Any]]:
    rows = []
    for quantity in results.quantities:
        leads = leads_of(results, quantity)
        for test in results.pair_tests(quantity):
            lead = leads.get((test.one, test.other))
            ends = {"interval_low": lead and lead.low, "interval_high": lead and lead.high, "p_corrected": lead and lead.p}
            rows.append({**quantity._asdict(), **asdict(test), **ends})
    return rows


def _compared(results: Results) -> list[dict[str, Any]]:
    """Everything that was looked at for a finding, but what stands under ``diagnosis``, as the page tells it."""
    return [
        {
            "kind": effect.kind,
            **effect.quantity._asdict(),
            "standing": standing(effect.quantity, results.protocol),
            "one": effect.one,
            "other": effect.other or None,
            "difference": effect.value,
            "interval_low": effect.low,
            "interval_high": effect.high,
            "p_corrected": effect.p,
            "told": effect.told,
            "n": effect.n,
            "n_sources": effect.n_sources,
        }
        for effect in looked_at(results)
        if effect.kind != "factor"
    ]


class Shown(NamedTuple):
    """The small video of an item that a report shows: its tiles, row by row, are ``channels``."""

    item_id: str
    channels: tuple[str, ...]
    data: bytes
    """H.264 in MP4."""


@dataclass(frozen=True)
class ReportFiles:
    """The parts of a report, by their paths."""

    page: Path
    """One HTML file that needs no network."""
    scores: Path
    """CSV of every score."""
    summary: Path
    """CSV of every mean with its interval and n."""
    data: Path
    """JSON of all that the page says."""
    media: tuple[Path, ...]
    """Videos beside the page; empty when they are inside it."""
    videos: tuple[Shown, ...] = field(default=(), repr=False)
    """What is shown, wherever it lies."""


def write_report(
    folder: Path,
    *,
    title: str,
    dataset: Dataset,
    scores: Sequence[Score],
    protocol: Protocol,
    media: Media,
    slice_scores: Sequence[SliceScore] = (),
    references: Collection[str] = (),
    options: Mapping[str, str] | None = None,
    efforts: Mapping[str, Effort] | None = None,
    run: Path | None = None,
    root: Path | None = None,
    gallery_items_per_slice: int = 1,
    further_items: int = 6,
    asked_items: Sequence[str] = (),
    inline_limit_bytes: int = 15_000_000,
) -> ReportFiles:
    """Write a page that shows where methods fail, with its tables as CSV and JSON beside it.

    The folder is made beside its place and moved there when it is whole; an earlier report in its place goes away. Equal input
    gives equal bytes. The page carries its videos while that keeps it within ``inline_limit_bytes``; else they lie in ``media/``.

    Args:
        folder: for the page and all beside it.
        title: of the page.
        dataset: the manifest.
        scores: of items.
        protocol: theirs.
        media: where pixels come from.
        slice_scores: of metrics that compare sets of items.
        references: labels of reference methods, which do not compete.
        options: label -> the option of `eval run --for predictions` that asks for the method, for the commands on the page.
        efforts: label -> what the method took, and how its task differs from the published one.
        run: folder of the run; what `eval align` wrote into it of these scores stands beside the metrics.
        root: folder of the dataset, for the commands on the page.
        gallery_items_per_slice: telling items of each slice that have a video.
        further_items: how many more have one, by turns the hardest and the most disagreed of all items.
        asked_items: ids of items that have one in any case.
        inline_limit_bytes: above, videos lie beside the page.

    Raises:
        InputError: scores of several protocols or fingerprints, scores or asked items that do not fit the dataset, media that do
            not fit each other, or a folder that holds something else than a report.
        WorkspaceError: the folder cannot be written.
    """
    folder = folder.absolute()
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / _REPORT).is_file())):
        raise InputError(f"{str(folder)!r} holds something else than a report; choose another folder")
    results = Results(
        dataset, scores, protocol=protocol, slice_scores=slice_scores, references=references, options=options, efforts=efforts,
        run=run, root=root,
    )  # fmt: skip
    if clash := [method for method in results.methods if method in ("truth", "input", OUTLINE, MASK)]:
        raise InputError(f"a method cannot be named {clash[0]!r}: the gallery shows something else by that name")
    rates = {row["item_id"]: float(row["fps"]) for row in dataset.items}
    if unknown := [item_id for item_id in asked_items if item_id not in results.sources]:
        raise InputError(f"the dataset has no item {unknown[0]!r} to show; its ids are in scores.csv and all.parquet")
    default = default_quantity(results)
    choices = choose_items(results, default, per_slice=gallery_items_per_slice)
    choices = add_asked(add_standouts(results, choices, default, count=further_items), tuple(asked_items))
    finding = headline(results, default)
    choices = add_groups(results, add_proofs(choices, finding), diagnose(results), default)
    sizes = {(int(row["width"]), int(row["height"])) for row in dataset.items}
    recipe = recipe_of(protocol, results.quantities, region=default.region, sizes=sizes)
    made = make_exhibits(choices, media, methods=results.methods, rates=rates, recipe=recipe, **how_shown(dataset, protocol))
    frame_note = f"Over time the page draws the error alone: {recipe.reason}." if recipe.reason else ""
    files = _page_files(results, made, title=title, inline_limit_bytes=inline_limit_bytes, frame_note=frame_note)
    files[_SCORES] = scores_csv(results)
    files[_SUMMARY] = summary_csv(results)
    if any(effort.of_items for effort in results.efforts.values()):
        # One row for each method and item whose time is known.
        rows = [[method, *one] for method, effort in results.efforts.items() for one in effort.of_items]
        files[_EFFORTS] = csv_bytes(("method", *ItemEffort._fields), rows)
    # One row for each effect of a factor on a method, or on the difference of two.
    files[_DIAGNOSIS] = effects_csv(diagnose(results).effects, protocol)
    files[_REPORT] = report_json(results, [exhibit for exhibit, _ in made], title=title)
    with replacing(folder, what="report ") as temporary:
        for name, data in files.items():
            write_atomically(temporary / name, data)
    beside = tuple(folder / name for name in files if name.startswith("media/"))
    videos = tuple(Shown(exhibit.choice.item_id, exhibit.layout.channels, data) for exhibit, data in made)
    return ReportFiles(folder / _PAGE, folder / _SCORES, folder / _SUMMARY, folder / _REPORT, beside, videos)


def _page_files(
    results: Results, made: Sequence[tuple[Exhibit, bytes]], *, title: str, inline_limit_bytes: int, frame_note: str
) -> dict[str, bytes]:
    """The page, and the videos when they do not go into it; path in the folder -> bytes."""
    exhibits = [exhibit for exhibit, _ in made]
    videos = {f"media/exhibit-{index}.mp4": video for index, (_, video) in enumerate(made)}
    page = render(parts_of(results, exhibits, title=title, frame_note=frame_note), list(videos))
    inside = {f'src="{name}"': f'src="{data_uri(video, "video/mp4")}"' for name, video in videos.items()}
    inside[BESIDE_NOTE] = INLINE_NOTE
    # Drawing the page takes seconds, so it is drawn once; what the videos add to it is known beforehand.
    added = sum(len(new) - len(old) for old, new in inside.items())
    if videos and len(page.encode()) + added > inline_limit_bytes:
        return {_PAGE: page.encode(), **videos}
    for old, new in inside.items():
        page = page.replace(old, new)
    return {_PAGE: page.encode()}
