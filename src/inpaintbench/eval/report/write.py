"""Write a report folder: all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.effects import add_groups
from inpaintbench.eval.report.frame_values import recipe_of
from inpaintbench.eval.report.gallery import Exhibit, Media, add_asked, add_standouts, choose_items, make_exhibits
from inpaintbench.eval.report.headline import add_proofs, headline
from inpaintbench.eval.report.media import how_shown
from inpaintbench.eval.report.page import BESIDE_NOTE, INLINE_NOTE, default_quantity, parts_of, render
from inpaintbench.eval.report.proxy import MASK, OUTLINE
from inpaintbench.eval.report.records import diagnosis_csv, efforts_csv, report_json, scores_csv, summary_csv
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.files import replacing, write_atomically
from inpaintbench.pages import data_uri
from inpaintbench.types import Dataset, Score, SliceScore

_PAGE, _SCORES, _SUMMARY, _REPORT, _EFFORTS = "report.html", "scores.csv", "summary.csv", "report.json", "efforts.csv"
_DIAGNOSIS = "diagnosis.csv"


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
        options: label -> the option of `eval predict` that asks for the method, for the commands on the page.
        efforts: label -> what the method took, and how its task differs from the published one.
        run: folder of the run; what `eval align` wrote into it of these scores stands beside the metrics.
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
    _check_place(folder)
    results = Results(
        dataset,
        scores,
        protocol=protocol,
        slice_scores=slice_scores,
        references=references,
        options=options,
        efforts=efforts,
        run=run,
    )
    _check_names(results)
    rates = {row["item_id"]: float(row["fps"]) for row in dataset.items}
    _check_items(results, asked_items)
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
        files[_EFFORTS] = efforts_csv(results)
    files[_DIAGNOSIS] = diagnosis_csv(results)
    files[_REPORT] = report_json(results, [exhibit for exhibit, _ in made], title=title)
    with replacing(folder, what="report ") as temporary:
        for name, data in files.items():
            write_atomically(temporary / name, data)
    beside = tuple(folder / name for name in files if name.startswith("media/"))
    videos = tuple(Shown(exhibit.choice.item_id, exhibit.layout.channels, data) for exhibit, data in made)
    return ReportFiles(folder / _PAGE, folder / _SCORES, folder / _SUMMARY, folder / _REPORT, beside, videos)


def _check_place(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / _REPORT).is_file())):
        raise InputError(f"{str(folder)!r} holds something else than a report; choose another folder")


def _check_names(results: Results) -> None:
    for method in results.methods:
        if method in ("truth", "input", OUTLINE, MASK):
            raise InputError(f"a method cannot be named {method!r}: the gallery shows something else by that name")


def _check_items(results: Results, item_ids: Sequence[str]) -> None:
    for item_id in item_ids:
        if item_id not in results.sources:
            raise InputError(f"the dataset has no item {item_id!r} to show; its ids are in scores.csv and all.parquet")


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
