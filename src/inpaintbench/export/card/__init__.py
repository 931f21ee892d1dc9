"""The dataset card: README.md, written from the manifest alone, and the pictures that it shows. Its text is ``card.md``.

Strips of items, as methods see them, need pixels: they are data of a dataset, unlike all else on a card.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.export import layout
from inpaintbench.export.card import words
from inpaintbench.export.card.plots import Plot, plots
from inpaintbench.export.card.words import held_back, known_numbers, statistics
from inpaintbench.export.licences import NOT_STATED, header_names, spdx
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages import render
from inpaintbench.pages.words import span
from inpaintbench.types import EDIT_TASKS, Dataset, Plain, Slice, canonical_json

cv2 = lazily("cv2")

__all__ = ["Plot", "card", "first_paragraph", "is_strip", "of_strips", "plots", "shown_strips", "strip_name", "write_strips"]

# Items below which the card warns of a slice's mean: its standard error is a third of the items' spread and more.
_FEW_ITEMS = 10
_HOLE = "hole.hole_fraction"
_WORDS = {name: getattr(words, name) for name in ("plain", "code", "counted", "number", "listed", "table")}
_SIZES = {"n<1K": 1_000, "1K<n<10K": 10_000, "10K<n<100K": 100_000, "100K<n<1M": 1_000_000}
_STRIP = re.compile(r"card/items-.*\.jpg", re.DOTALL)
# Pictures of a strip, each of another source; slices that have one; ids of a slice among which they are looked for.
_PICTURES, MOST_STRIPS, _LOOKED_AT = 4, 24, 64
# Pixels: side by side they are as wide as the column of a card on the Hub.
_HEIGHT, _WIDEST, _GAP = 120, 208, 6


def card(dataset: Dataset, *, pictures: Sequence[Plot], sizes: Mapping[str, int]) -> str:
    """Return the text of README.md: what a reader needs first comes first. Its head is written by huggingface_hub.

    Args:
        dataset: with the hashes of its data; its own documents may be missing there.
        pictures: of ``plots``.
        sizes: of the data files, in bytes.
    """
    from huggingface_hub import DatasetCardData

    rows, facts, benchmark = dataset.items, dataset.facts, benchmark_of(dataset)
    split_of = layout.splits(rows)
    source_rows = words.sources(rows).values()
    leaves = dataset.recipe.get("leaves", {}).get("source", {})
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
        # Their names; how many sources have each stands in the list below.
        short_licences=", ".join(sorted({spdx(row["licence"]) or row["licence"] or "unknown" for row in source_rows})),
        licences=Counter(row["licence"] or NOT_STATED for row in source_rows),
        megabytes=f"{sum(sizes.get(name, 0) for name in dataset.files) / 1e6:,.1f}",
        files_sha256=hashlib.sha256(canonical_json(dict(dataset.files)).encode()).hexdigest(),
        splits=layout.by_split(layout.ids_of(rows), split_of),
        first_split=next(iter(layout.by_split(dataset.slices[0].item_ids, split_of))),
        generated=[words_of_leaf for leaf, words_of_leaf in benchmark.generated.items() if leaf in leaves],
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
    return f"---\n{DatasetCardData(**_head(dataset)).to_yaml()}\n---\n\n{body}"


def _head(dataset: Dataset) -> dict[str, Any]:
    """What the Hub and ``datasets`` read, in the Hub's own spelling."""
    rows, split_of = dataset.items, layout.splits(dataset.items)
    names = header_names([row["licence"] for row in words.sources(rows).values()])
    media = [name for row in layout.different(rows, *layout.MEDIA_COLUMNS) for name in layout.media_names(row)]
    patterns = sorted({f"{Path(name).parent}/*{Path(name).suffix}" for name in media})
    leaves = set(dataset.recipe.get("leaves", {}).get("source", {}))
    kind = "image" if words.are_stills(rows) else "video"
    if "target_prompt" in rows[0]:
        tags = [f"{kind}-editing", f"text-guided-{kind}-editing"]
    elif any(row.get("hole_file_name") for row in layout.different(rows, "hole_file_name")):
        tags = ["inpainting", f"{kind}-inpainting"]
    else:
        tags = ["denoising", f"{kind}-restoration"]
    content = frozen.content_of(dataset)  # part of every config, so that no cache confuses two exports
    configs = []
    for part in layout.configs(dataset):
        metadata = layout.metadata_files(part, split_of)
        configs.append(
            {
                "config_name": part.name,
                "description": f"{part.rule}; content {content}",
                "data_files": [{"split": split, "path": [*names, *patterns]} for split, names in metadata.items()],
                "metadata_filenames": [name for names in metadata.values() for name in names],
            }
        )
    return {
        "pretty_name": dataset.name,
        "license": names if len(names) > 1 else names[0],
        **({"license_name": "see-notice", "license_link": "NOTICE"} if "other" in names else {}),
        "task_categories": [f"{kind}-to-{kind}"],
        "tags": [*tags, "diagnostic-benchmark"],
        "size_categories": [next((size for size, limit in _SIZES.items() if len(rows) < limit), "1M<n<10M")],
        "annotations_creators": ["machine-generated", *(["other"] if dataset.facts.get("raters") else [])],
        "source_datasets": ["extended" if leaves.intersection(benchmark_of(dataset).extends) else "original"],
        "configs": configs,
    }


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
        "own_tasks": any(row.get("task") not in (*EDIT_TASKS, None) for row in layout.different(items, "task")),
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
    doubts = layout.counted(rows, "label_doubts")
    return {
        "footage": len(splits_of),
        "shared_sources": sum(len(splits) > 1 for splits in splits_of.values()),
        "hidden": held_back(rows),
        "members": sum(len(part.item_ids) for part in dataset.slices),
        "small_slices": [part.name for part in dataset.slices if len(part.item_ids) < _FEW_ITEMS],
        "doubted": sum(count for row, count in doubts if row["attributes"].get("label_doubts") not in (None, "none")),
        "worst_psnr": min(losses, default=None),
        "seen": frozen.exposed((row.get(frozen.SHOWN), n) for row, n in layout.counted(rows, frozen.SHOWN)),
        "columns": set(rows[0]),
        "encoders": ", ".join(sorted({str(row["encoder"]) for row in layout.different(rows, "encoder") if row.get("encoder")})),
    }


def _amounts(dataset: Dataset) -> list[str]:
    """Sentences on the amounts of items, clips and sources, and on what slices are for."""
    rows, split_of, media = dataset.items, layout.splits(dataset.items), _media(dataset.items)
    clips, footage = layout.how_many(rows, "clip_id"), words.n_sources(rows)
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


def _geometry(rows: Sequence[Plain]) -> str:
    rows = layout.different(rows, "width", "height", "frames", "fps")
    shapes = sorted({(row["width"], row["height"]) for row in rows})
    sizes = words.listed([f"{width}x{height}" for width, height in shapes])
    if len(shapes) > 3:
        least, *_, most = sorted(shapes, key=lambda size: size[0] * size[1])
        sizes = f"{len(shapes)} sizes from {least[0]}x{least[1]} to {most[0]}x{most[1]}"
    if words.are_stills(rows):
        return f"pictures of {sizes} pixels"
    spans = []
    for column in ("frames", "fps"):
        ends = [ends_of({row[column] for row in rows}) for ends_of in (min, max)]
        spans.append(span(*(f"{end:g}" if isinstance(end, float) else f"{end}" for end in ends)))
    return f"clips of {spans[0]} frames, {sizes} pixels, {spans[1]} frames a second"


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


def strip_name(slice_name: str) -> str:
    """Path of the strip of a slice in the dataset."""
    return f"card/items-{slice_name}.jpg"


def is_strip(name: str) -> bool:
    """Return whether a file of a dataset is a strip, which is made anew with the rows."""
    return bool(_STRIP.fullmatch(name))


def shown_strips(dataset: Dataset) -> list[Slice]:
    """The slices that have a strip."""
    return [part for part in dataset.slices if strip_name(part.name) in dataset.files]


def of_strips(dataset: Dataset) -> list[str]:
    """Ids of the items whose rows ``write_strips`` looks at."""
    return sorted({name for part in dataset.slices[:MOST_STRIPS] for name in part.item_ids[:_LOOKED_AT]})


def write_strips(folder: Path, dataset: Dataset, rows_of_strips: Iterable[Plain]) -> None:
    """Write the strips of the first ``MOST_STRIPS`` slices of a dataset, of items whose media lie in ``folder``.

    A strip shows what methods see, so nothing held back.
    """
    seen = dict[str, npt.NDArray[np.uint8]]()
    row_of = {row["item_id"]: row for row in rows_of_strips}
    for part in dataset.slices[:MOST_STRIPS]:
        own = map(row_of.__getitem__, part.item_ids[:_LOOKED_AT])
        rows = [row for row in own if all((folder / name).exists() for name in layout.media_names(row))]
        chosen = _chosen(rows)
        for row in chosen:
            if row["item_id"] not in seen:  # decoded once for all its slices
                frames = frozen.input_view(folder, row).input
                frame = frames[len(frames) // 2]
                scale = min(_HEIGHT / frame.shape[0], _WIDEST / frame.shape[1])
                size = max(1, round(scale * frame.shape[1])), max(1, round(scale * frame.shape[0]))
                seen[row["item_id"]] = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
        if chosen:
            (folder / strip_name(part.name)).parent.mkdir(exist_ok=True)
            # Pictures on white, with white between them.
            pictures = [seen[row["item_id"]] for row in chosen]
            height, framed = max(len(picture) for picture in pictures), []
            for place, picture in enumerate(pictures):
                canvas = np.full((height, picture.shape[1] + _GAP * (place > 0), 3), 255, np.uint8)
                canvas[(height - len(picture)) // 2 :][: len(picture), -picture.shape[1] :] = picture
                framed.append(canvas)
            strip = np.hstack(framed)
            write_atomically(folder / strip_name(part.name), video.jpeg_bytes(strip))


def _chosen(rows: Sequence[Plain]) -> list[Plain]:
    """Rows of different sources, the first of each, as far as there are so many."""
    first = {frozen.source_of(row): row for row in reversed(rows)}
    return sorted(rows, key=lambda row: first[frozen.source_of(row)] is not row)[:_PICTURES]
