"""Write the site with its numbers as CSV and JSON: all of it or nothing."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from inpaintbench.errors import InputError
from inpaintbench.eval.report.effects import add_proofs, headline
from inpaintbench.eval.report.figures import metrics_figure
from inpaintbench.eval.report.gallery import add_standouts, make_exhibits
from inpaintbench.eval.report.media import PredictionMedia, how_shown
from inpaintbench.eval.report.page import default_quantity
from inpaintbench.files import replacing
from inpaintbench.pages import save_chart
from inpaintbench.table_files import canonical_bytes, csv_bytes
from inpaintbench.wings.leaderboard.board import Board, Entry
from inpaintbench.wings.leaderboard.checking import take_out
from inpaintbench.wings.leaderboard.pages import CSV, FIGURE_KINDS, FIGURES, JSON, Clips, clips_page, method_pages, slice_pages
from inpaintbench.wings.leaderboard.tables import CLIPS
from inpaintbench.workspace import Workspace


def clips_of(board: Board, *, root: Path, items: int) -> Clips:
    """The hardest and the most disagreed items by turns, and those that show the headline of a report; as a report chooses them.

    Results are those that submissions brought. They are decoded here: a stranger's files, of submissions that stand.

    Args:
        board: the leaderboard.
        root: folder of its dataset.
        items: how many, besides those of the headline.

    Raises:
        InputError: no submission brought a prediction of them.
    """
    results = board.results
    default = default_quantity(results)
    choices = add_proofs(add_standouts(results, [], default, count=items), headline(results, default))
    rates = {row["item_id"]: float(row["fps"]) for row in results.dataset.items}
    with tempfile.TemporaryDirectory() as folder:
        blobs = Workspace(Path(folder)).blobs
        # The predictions of these items, by the labels of the board, with their files.
        item_ids = [choice.item_id for choice in choices]
        brought = []
        for entry in board.entries:
            header = entry.submission.header
            for item_id in item_ids:
                if header.predictions.get(item_id, {}).get("blob") not in entry.submission.blobs:
                    continue
                prediction = replace(header.prediction(item_id), method=entry.label)
                target = blobs.path(prediction.blob)
                target.parent.mkdir(parents=True, exist_ok=True)
                # One whose bytes are others than were scored is not shown, like one that was not brought.
                with suppress(InputError):
                    take_out(entry.submission, prediction.blob, target)
                    brought.append(prediction)
        if not brought:
            raise InputError("no submission brought predictions to show; `eval submit --predictions` puts them in")
        media = PredictionMedia(root, results.dataset, blobs, brought, protocol=results.protocol)
        return make_exhibits(choices, media, methods=results.methods, rates=rates, **how_shown(results.dataset, results.protocol))


_FRONT = "index.html"
COLUMNS = (
    "slice", "region", "method", "mean_place", "place", "metric", "mean", "interval_low", "interval_high", "standard_error", "n",
    "n_infinite", "n_missing", "n_sources", "left_out", "metric_place", "like_best", "p_against_best", "reference", "reason",
    "mean_not_shown", "n_not_shown", "between_items", "items_predicted", "items_measured_again", "no_place",
)  # fmt: skip


def checked_place(folder: Path) -> Path:
    """The absolute path of a folder where a site can go, which can be asked before long work.

    Raises:
        InputError: the folder holds something else.
    """
    folder = folder.absolute()
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / JSON).is_file())):
        raise InputError(f"{str(folder)!r} holds something else than a leaderboard; choose another folder")
    return folder


def write_site(
    folder: Path, board: Board, *, title: str | None = None, introduction: str = "", hub_dataset: str | None = None,
    clips: Clips | None = None,
) -> Path:  # fmt: skip
    """Write a folder of pages that open from disk and from any web host, without scripts from elsewhere and without a network.

    The folder is made beside its place and moved there when it is whole; an earlier site in its place goes away. Equal input
    gives equal bytes.

    Args:
        folder: where the site goes.
        board: what it shows.
        title: over the first page; the dataset's name by default.
        introduction: a sentence below it.
        hub_dataset: OWNER/NAME of the dataset on the Hub, for the head of a static Space in ``README.md``; none is written
            without it.
        clips: items with videos for a page of their own.

    Returns:
        The first page.

    Raises:
        InputError: the folder holds something else.
        WorkspaceError: it cannot be written.
    """
    folder = checked_place(folder)
    named = title or f"{board.results.dataset.name} leaderboard"
    files = {
        **slice_pages(board, title=named, notes=introduction, clips=bool(clips)),
        **method_pages(board, title=named, clips=bool(clips)),
        **({CLIPS: clips_page(board, clips, title=named)} if clips else {}),
        CSV: board_csv(board),
        JSON: board_json(board, title=named),
    }
    if hub_dataset is not None:
        files["README.md"] = space_readme(named, introduction, dataset=hub_dataset)
    with replacing(folder, what="leaderboard ") as made:
        (made / FIGURES).mkdir(parents=True)
        for region in board.regions if board.contenders else ():
            drawn = metrics_figure(board.results, board.slices[0], board.quantities(region))
            for kind in FIGURE_KINDS:
                save_chart(drawn, made / FIGURES / f"{region}.{kind}")
        for name, data in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
    return folder / _FRONT


def space_readme(title: str, introduction: str, *, dataset: str) -> bytes:
    """``README.md`` of a static Space, which the Hub serves for everybody without building anything.

    Form: https://huggingface.co/docs/hub/spaces-config-reference.
    """
    head = {
        "title": title, "emoji": "🕳️", "colorFrom": "gray", "colorTo": "blue", "sdk": "static", "app_file": _FRONT,
        "pinned": False, "datasets": [dataset],
    }  # fmt: skip
    text = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=1000)
    words = f"{introduction.strip()}\n\n" if introduction.strip() else ""
    return f"---\n{text}---\n\n{words}Methods on the dataset [{dataset}](https://huggingface.co/datasets/{dataset}).\n".encode()


def rows(board: Board) -> Iterator[dict[str, Any]]:
    """One for each slice, region, submission and metric, with the names of ``COLUMNS``."""
    for part in board.slices:
        for region in board.regions:
            for row in board.rows(part, region):
                for quantity, cell in row.cells.items():
                    over = board.results.over_unexposed(part, row.entry.label, quantity)
                    summary = cell.summary._asdict()
                    summary["n_sources"] = summary.pop("n_clusters")
                    yield {
                        "slice": part.name,
                        "region": region,
                        "method": row.entry.label,
                        "mean_place": None if row.mean is None else float(row.mean),
                        "place": row.place,
                        "metric": quantity.metric,
                        **summary,
                        "left_out": cell.left_out,
                        "metric_place": cell.place,
                        "like_best": cell.best,
                        "p_against_best": cell.test.p_holm if cell.test else None,
                        "reference": row.entry.submission.header.reference,
                        "mean_not_shown": None if over is None else over.mean,
                        "n_not_shown": None if over is None else over.n,
                        "between_items": row.entry.effort.between_items or None,
                        "items_predicted": len(row.entry.submission.header.predictions),
                        "items_measured_again": len(row.entry.verdict.items) if row.entry.verdict else 0,
                        "no_place": row.entry.aside,
                    }


def board_csv(board: Board) -> bytes:
    """``rows`` as CSV: None is an empty cell, infinity is ``inf``."""
    return csv_bytes(COLUMNS, ([row[column] for column in COLUMNS] for row in rows(board)))


def board_json(board: Board, *, title: str) -> bytes:
    """Everything that the site says, as canonical JSON; infinity is the text ``inf``."""
    results = board.results
    whole = {
        "format_version": 1,
        "title": title,
        "dataset": results.dataset.name,
        "dataset_versions": board.versions,
        "items_of_dataset": board.items_of_dataset,
        "protocol": results.protocol.name,
        "fingerprint": results.fingerprint,
        "constants": results.protocol.model_dump(mode="json"),
        "items": len(results.sources),
        "sources": len(set(results.sources.values())),
        "slices": [{"name": part.name, "rule": part.rule, "items": len(part.item_ids)} for part in board.slices],
        "submissions": [_entry(entry) for entry in board.entries],
        "refused": [one._asdict() for one in board.refused],
        "scores": list(rows(board)),
    }
    return canonical_bytes(whole)


def _entry(entry: Entry) -> dict[str, Any]:
    submission, verdict = entry.submission, entry.verdict
    return {
        "method": entry.label,
        "page": f"methods/{entry.page}",
        "submission": submission.identity,
        "dataset": entry.version,
        "card": {**asdict(submission.card), "authors": list(submission.card.authors)},
        "versions": dict(submission.header.versions),
        "effort": dict(submission.header.effort),
        "missing": dict(entry.missing),
        "no_place": entry.aside,
        "measured": dict(submission.header.measured),
        "verification": None if verdict is None else {
            "items": list(verdict.items), "values": verdict.values, "agrees": verdict.agrees,
            "unchecked": list(verdict.unchecked), "reason": verdict.reason,
        },
    }  # fmt: skip


def rows_in(path: Path) -> tuple[str, str, list[dict[str, Any]]]:
    """Title of a site, a sentence on what it is of, and a row for each method, slice and region of its JSON.

    Raises:
        InputError: it cannot be read.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        found: dict[tuple[str, str, str], dict[str, Any]] = {}
        for row in told["scores"]:
            key = (str(row["method"]), str(row["slice"]), str(row["region"]))
            own = found.setdefault(key, dict(zip(("method", "slice", "region"), key, strict=True)))
            own |= {"place": row["place"], "mean_place": row["mean_place"], "n_sources": row["n_sources"], "n": row["n"]}
            own |= {
                row["metric"]: None if row["mean"] is None else float(row["mean"]),
                f"{row['metric']}.place": row["metric_place"],
            }
        sentence = f"{told['dataset']}: {told['items']:,} items of {told['sources']:,} sources, measured by {told['protocol']}."
        rows = [{"id": " · ".join(key), "attributes": own} for key, own in found.items()]
        return str(told["title"]), sentence, rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is no leaderboard: {error}") from error
