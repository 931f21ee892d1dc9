"""The dataset card: README.md with one config a slice, generated from the manifest's rows alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from inpaintbench.types import Plain, Slice

_MEDIA = ["truth/*.mp4", "holes/*.mp4"]


def card(
    *,
    name: str,
    rows: Sequence[Plain],
    slices: Sequence[Slice],
    left_out: Mapping[str, str],
    recipe: Plain,
    versions: Mapping[str, str],
    content: str,
) -> str:
    """The text of README.md.

    Args:
        name: title of the dataset.
        rows: items of the manifest.
        slices: slices with items.
        left_out: slices without, and why.
        recipe: the resolved recipe, printed whole.
        versions: of the packages that made the dataset.
        content: hash of everything above; part of every config, so that no cache confuses two exports.
    """
    header = {
        "pretty_name": name,
        "task_categories": ["video-to-video"],
        "tags": ["inpainting", "video-inpainting", "diagnostic-benchmark"],
        "size_categories": [_size_category(len(rows))],
        "configs": [_config(part, content) for part in slices],
    }
    return "\n".join(
        [
            "---",
            yaml.safe_dump(header, sort_keys=False, allow_unicode=True).rstrip(),
            "---",
            "",
            f"# {name}",
            "",
            *_about(rows, slices),
            *_slice_table(slices, left_out, {row["item_id"]: row for row in rows}),
            *_how_to_load(slices),
            *_columns(),
            *_licences(rows),
            "## How it was made",
            "",
            "The resolved recipe; with the same sources and versions it gives this dataset again, byte for byte (per platform).",
            "",
            "```json",
            json.dumps(dict(recipe), indent=1, sort_keys=True),
            "```",
            "",
            ", ".join(f"{package} {number}" for package, number in sorted(versions.items())),
            "",
        ]
    )


def _config(part: Slice, content: str) -> dict[str, Any]:
    return {
        "config_name": part.name,
        "description": f"{part.rule}; content {content}",
        "data_files": [{"split": "test", "path": [f"{part.name}.parquet", *_MEDIA]}],
        "metadata_filenames": [f"{part.name}.parquet"],
    }


def _size_category(count: int) -> str:
    for limit, words in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if count < limit:
            return words
    return "n>100K"


def _about(rows: Sequence[Plain], slices: Sequence[Slice]) -> list[str]:
    sizes = ", ".join(f"{width}x{height}" for width, height in sorted({(row["width"], row["height"]) for row in rows}))
    clips, sources = len({row["clip_id"] for row in rows}), len({row["source_id"] for row in rows})
    return [
        f"{len(rows)} items in {len(slices)} slices: {clips} clips ({sizes}) of {sources} sources, each with a hole to fill.",
        "Every slice holds one attribute fixed and lets the others vary, so a method's scores show what it fails on.",
        "",
    ]


def _slice_table(slices: Sequence[Slice], left_out: Mapping[str, str], rows: Mapping[str, Plain]) -> list[str]:
    table = ["## Slices", "", "| slice | rule | items | sources | mean hole |", "|---|---|---|---|---|"]
    for part in slices:
        members = [rows[item] for item in part.item_ids]
        holes = [row["attributes"].get("hole.hole_fraction") for row in members]
        known = [value for value in holes if value is not None]
        share = f"{100 * sum(known) / len(known):.1f} %" if known else ""
        sources = len({row["source_id"] for row in members})
        table.append(f"| `{part.name}` | {part.rule} | {len(members)} | {sources} | {share} |")
    table.append("")
    if left_out:
        table += ["Left out for want of items:", "", *(f"- `{name}`: {reason}" for name, reason in left_out.items()), ""]
    return table


def _how_to_load(slices: Sequence[Slice]) -> list[str]:
    name = slices[0].name
    return [
        "## Load",
        "",
        "```python",
        "from datasets import Video, load_dataset",
        "",
        f'rows = load_dataset("PATH", "{name}", split="test")  # decoding needs torchcodec: pip install "inpaintbench[export]"',
        'rows = rows.cast_column("truth", Video(decode=False)).cast_column("hole", Video(decode=False))  # paths, no torch',
        "```",
        "",
        "The truth is what decoding `truth` gives; in `hole`, 255 means missing. Mask the input yourself: `truth` shows the",
        "pixels under the hole. Without streaming the whole media folder is fetched; `streaming=True` fetches the rows you use.",
        "",
    ]


def _columns() -> list[str]:
    return [
        "## Columns",
        "",
        "- `truth`, `hole`: video. `item_id`, `clip_id`, `source_id`: stable ids",
        "- `source_uri`, `licence`, `author`, `page_url`: where the clip came from (null = not stated)",
        "- `start_frame`, `end_frame`: span of the source, end excluded. `frames`, `width`, `height`, `fps`: of the clip",
        "- `generator`, `generator_parameters`: how the hole was made. `attributes`: measurements, as JSON",
        "- `truth_yuv_sha256`, `truth_rgb_sha256`, `hole_sha256`: hashes of the decoded planes, RGB frames and hole",
        "",
    ]


def _licences(rows: Sequence[Plain]) -> list[str]:
    per_source = {row["source_id"]: row["licence"] or "not stated" for row in rows}
    counts = Counter(per_source.values())
    lines = [f"- {licence}: {count} {'source' if count == 1 else 'sources'}" for licence, count in sorted(counts.items())]
    return ["## Licences of the sources", "", *lines, ""]
