"""The dataset card: README.md, written from the manifest alone, and the pictures that it shows. Its text is ``card.md``."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.export import layout
from inpaintbench.export.card import words
from inpaintbench.export.card.header import card_text
from inpaintbench.export.card.measures import held_back, known_numbers, statistics
from inpaintbench.export.card.plots import Plot, plots
from inpaintbench.export.card.strips import shown_strips, strip_name
from inpaintbench.export.licences import NOT_STATED, spdx
from inpaintbench.pages import render
from inpaintbench.pages.words import span
from inpaintbench.types import Dataset, Plain, canonical_json

__all__ = ["Plot", "card", "first_paragraph", "plots"]

# Items below which the card warns of a slice's mean: its standard error is a third of the items' spread and more.
_FEW_ITEMS = 10
_HOLE = "hole.hole_fraction"
_WORDS = {name: getattr(words, name) for name in ("plain", "code", "counted", "number", "listed", "table")}


def card(dataset: Dataset, *, pictures: Sequence[Plot], sizes: Mapping[str, int]) -> str:
    """Return the text of README.md: what a reader needs first comes first.

    Args:
        dataset: with the hashes of its data; its own documents may be missing there.
        pictures: of ``plots``.
        sizes: of the data files, in bytes.
    """
    rows, facts, benchmark = dataset.items, dataset.facts, benchmark_of(dataset)
    split_of = layout.splits(rows)
    source_rows = words.sources(rows)
    body = render(
        "export/card/card.md",
        **_WORDS,
        **_media(rows),
        **_amounts_of_items(dataset),
        dataset=dataset,
        rows=rows,
        facts=facts,
        told=facts.get("dataset", {}),
        fenced=_fenced,
        benchmark=benchmark,
        held=facts.get("held_back") or {},
        leakage=facts.get("leakage"),
        named=words.plain(frozen.dataset_id(dataset)),
        amounts=_amounts(dataset),
        geometry=_geometry(rows),
        short_licences=_short_licences(source_rows.values()),
        licences=Counter(row["licence"] or NOT_STATED for row in source_rows.values()),
        megabytes=f"{sum(sizes.get(name, 0) for name in dataset.files) / 1e6:,.1f}",
        files_sha256=hashlib.sha256(canonical_json(dict(dataset.files)).encode()).hexdigest(),
        splits=layout.by_split(layout.ids_of(rows), split_of),
        first_split=next(iter(layout.by_split(dataset.slices[0].item_ids, split_of))),
        generated=[words_of_leaf for leaf, words_of_leaf in benchmark.generated.items() if leaf in _source_leaves(dataset)],
        slice_table=_slice_table(dataset),
        few_items=_FEW_ITEMS,
        statistics=statistics(dataset),
        pictures=pictures,
        strips=[(part.name, strip_name(part.name)) for part in shown_strips(dataset)],
        things=words.things(rows),
        percent=lambda value: "-" if value is None else f"{100 * value:.0f} %",
        too_few=too_few,
        most_shown=frozen.MOST_SHOWN,
        enough_sources=ENOUGH_SOURCES,
        recipe=json.dumps(dict(dataset.recipe), indent=1, sort_keys=True).replace("```", "\\u0060\\u0060\\u0060"),
    )
    return card_text(dataset, body)


def _fenced(text: str) -> str:
    """A text as a block of code, which whoever wrote it cannot end; BibTeX is marked so."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{'bibtex' if text.lstrip().startswith('@') else 'text'}\n{text.strip()}\n{fence}"


def first_paragraph(dataset: Dataset) -> str:
    """The purpose of the dataset, where its recipe states one, and how much it holds of what."""
    about = [dataset.about.partition("\n\n")[0]] if dataset.about else []
    return " ".join(" ".join([*about, *_amounts(dataset)]).split())


def _media(items: Sequence[Plain]) -> dict[str, Any]:
    rows = layout.different(items, *layout.MEDIA_COLUMNS)
    return {
        "media": [part for part in layout.MEDIA if any(row.get(layout.file_column(part)) for row in rows)],
        "suffix": next((Path(name).suffix for row in rows for name in layout.media_names(row)), ".mp4"),
        "stills": words.are_stills(items),
        "edits": "target_prompt" in rows[0],
        "some_without_input": any(not row.get("input_file_name") for row in rows),
    }


def _amounts_of_items(dataset: Dataset) -> dict[str, Any]:
    """Numbers of items, slices and sources that share something, or lack something."""
    rows = dataset.items
    splits_of: dict[str, set[str]] = {}
    for row in layout.different(rows, "source_id", frozen.GROUP, "split"):
        splits_of.setdefault(frozen.source_of(row), set()).add(row["split"])
    # Truths that are held back have no PSNR: nothing is told of them.
    encoded = layout.different(rows, "encode_crf", "encode_psnr_db")
    losses = [float(row["encode_psnr_db"]) for row in encoded if row.get("encode_crf") != 0 and row["encode_psnr_db"] is not None]
    return {
        "footage": len(splits_of),
        "shared_sources": sum(len(splits) > 1 for splits in splits_of.values()),
        "hidden": held_back(rows),
        "members": sum(len(part.item_ids) for part in dataset.slices),
        "small_slices": [part.name for part in dataset.slices if len(part.item_ids) < _FEW_ITEMS],
        "doubted": sum(
            count * (row["attributes"].get("label_doubts") not in (None, "none"))
            for row, count in layout.counted(rows, "label_doubts")
        ),
        "worst_psnr": min(losses, default=None),
        "seen": frozen.exposed((row.get(frozen.SHOWN), n) for row, n in layout.counted(rows, frozen.SHOWN)),
        "columns": set(rows[0]),
        "encoders": ", ".join(sorted({str(row["encoder"]) for row in layout.different(rows, "encoder") if row.get("encoder")})),
    }


def _source_leaves(dataset: Dataset) -> Mapping[str, Any]:
    leaves: Mapping[str, Any] = dataset.recipe.get("leaves", {}).get("source", {})
    return leaves


def _amounts(dataset: Dataset) -> list[str]:
    """Sentences on the amounts of items, clips and sources, and on what slices are for."""
    rows, split_of, media = dataset.items, layout.splits(dataset.items), _media(dataset.items)
    clips, footage = len({row["clip_id"] for row in layout.different(rows, "clip_id")}), words.n_sources(rows)
    splits = layout.by_split(layout.ids_of(rows), split_of)
    divided = "" if set(splits) == {"test"} else f" Splits: {', '.join(f'{name} {len(ids)}' for name, ids in splits.items())}."
    holes = "hole" in media["media"]
    task = "each with a hole to fill" if holes else "each degraded as a whole"
    task = "each to be edited as its prompts ask" if media["edits"] else task
    hidden = " Methods are not told where the hole is." if holes and not rows[0]["hole_is_given"] else ""
    return [
        f"{words.counted(len(rows), 'item')} in {words.counted(len(dataset.slices), 'slice')}:"
        f" {words.counted(clips, words.things(rows)[:-1])} of {words.counted(footage, 'source')}, {task}.{divided}{hidden}",
        "Every slice holds one attribute fixed and lets the others vary, so a method's scores show what it fails on.",
    ]


def _short_licences(source_rows: Iterable[Plain]) -> str:
    """Their names; how many sources have each stands in the list below."""
    return ", ".join(sorted({spdx(row["licence"]) or row["licence"] or "unknown" for row in source_rows}))


def _geometry(rows: Sequence[Plain]) -> str:
    rows = layout.different(rows, "width", "height", "frames", "fps")
    shapes = sorted({(row["width"], row["height"]) for row in rows}, key=lambda size: (size[0] * size[1], size))
    names = [f"{width}x{height}" for width, height in shapes]
    sizes = words.listed([f"{width}x{height}" for width, height in sorted(shapes)])
    if len(shapes) > 3:
        sizes = f"{len(shapes)} sizes from {names[0]} to {names[-1]}"
    if words.are_stills(rows):
        return f"pictures of {sizes} pixels"
    frames, rates = (_span({row[column] for row in rows}) for column in ("frames", "fps"))
    return f"clips of {frames} frames, {sizes} pixels, {rates} frames a second"


def _span(values: Collection[float]) -> str:
    low, high = (f"{value:g}" if isinstance(value, float) else f"{value}" for value in (min(values), max(values)))
    return span(low, high)


def _slice_table(dataset: Dataset) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: what each slice fixes, and how much of it there is."""
    rows_of = layout.finder(dataset.items)
    with_holes = any(_HOLE in row["attributes"] for row in layout.different(dataset.items))
    cells = []
    for part in dataset.slices:
        members = rows_of(part.item_ids)
        known = known_numbers(members, _HOLE).tolist()
        share = [f"{100 * sum(known) / len(known):.1f} %" if known else ""] if with_holes else []
        footage = words.n_sources(members)
        cells.append([f"`{part.name}`", words.code(part.rule), f"{len(members):,}", f"{footage:,}", *share])
    return ["slice", "rule", "items", "sources", *(["mean hole"] if with_holes else [])], cells
