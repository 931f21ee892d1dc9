"""The head of a card: what the Hub and ``datasets`` read, in the Hub's own spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export import layout
from inpaintbench.export.card.words import are_stills, sources
from inpaintbench.export.licences import header_names
from inpaintbench.frozen import content_of
from inpaintbench.types import Dataset, Plain, Slice


def card_text(dataset: Dataset, body: str) -> str:
    """The whole card, its head written by huggingface_hub."""
    from huggingface_hub import DatasetCard, DatasetCardData

    data = DatasetCardData(**_header(dataset))
    return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n\n{body}"))


def _header(dataset: Dataset) -> dict[str, Any]:
    rows, split_of = dataset.items, layout.splits(dataset.items)
    names = header_names([row["licence"] for row in sources(rows).values()])
    files = layout.different(rows, *layout.MEDIA_COLUMNS)
    patterns = sorted({f"{Path(name).parent}/*{Path(name).suffix}" for row in files for name in layout.media_names(row)})
    content = content_of(dataset)  # part of every config, so that no cache confuses two exports
    leaves = set(dataset.recipe.get("leaves", {}).get("source", {}))
    other = {"license_name": "see-notice", "license_link": "NOTICE"} if "other" in names else {}
    return {
        "pretty_name": dataset.name,
        "license": names if len(names) > 1 else names[0],
        **other,
        "task_categories": ["image-to-image" if are_stills(rows) else "video-to-video"],
        "tags": [*_tags(rows), "diagnostic-benchmark"],
        "size_categories": [_size_category(len(rows))],
        "annotations_creators": ["machine-generated", *(["other"] if dataset.facts.get("raters") else [])],
        "source_datasets": ["extended" if leaves.intersection(benchmark_of(dataset).extends) else "original"],
        "configs": [_config(part, split_of, patterns, content) for part in layout.configs(dataset)],
    }


def _tags(rows: Sequence[Plain]) -> list[str]:
    kind = "image" if are_stills(rows) else "video"
    if "target_prompt" in rows[0]:
        return [f"{kind}-editing", f"text-guided-{kind}-editing"]
    return (
        ["inpainting", f"{kind}-inpainting"]
        if any(row.get("hole_file_name") for row in layout.different(rows, "hole_file_name"))
        else ["denoising", f"{kind}-restoration"]
    )


def _config(part: Slice, split_of: Mapping[str, str], patterns: Sequence[str], content: str) -> dict[str, Any]:
    metadata = layout.metadata_files(part, split_of)
    return {
        "config_name": part.name,
        "description": f"{part.rule}; content {content}",
        "data_files": [{"split": split, "path": [*names, *patterns]} for split, names in metadata.items()],
        "metadata_filenames": [name for names in metadata.values() for name in names],
    }


def _size_category(count: int) -> str:
    for limit, words in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if count < limit:
            return words
    return "1M<n<10M"
