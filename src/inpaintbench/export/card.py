"""The dataset card: README.md with one config a slice, generated from the manifest's rows alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from inpaintbench.export import layout
from inpaintbench.export.licences import hub_name
from inpaintbench.types import Dataset, Plain, Slice, content_id


def card(dataset: Dataset) -> str:
    """The text of README.md, made from the manifest alone.

    Args:
        dataset: with the hashes of its data; its own documents may be missing there.
    """
    rows, slices, split_of = dataset.items, dataset.slices, layout.splits(dataset.items)
    body = [
        *part_note(dataset),
        f"# {dataset.name}",
        "",
        *([dataset.about, ""] if dataset.about else []),
        *_counts(rows, slices, split_of),
        *_slice_table(slices, dataset.left_out, {row["item_id"]: row for row in rows}),
        *_how_to_load(slices, split_of, rows),
        *_columns(rows),
        *_licences(dataset),
        "## How it was made",
        "",
        "The resolved recipe; with the same sources and versions it gives this dataset again, byte for byte (per platform).",
        "",
        "```json",
        json.dumps(dict(dataset.recipe), indent=1, sort_keys=True),
        "```",
        "",
        ", ".join(f"{package} {number}" for package, number in sorted(dataset.versions.items())),
        "",
    ]
    return f"---\n{yaml.safe_dump(_header(dataset), sort_keys=False, allow_unicode=True).rstrip()}\n---\n\n" + "\n".join(body)


def _header(dataset: Dataset) -> dict[str, Any]:
    rows, split_of = dataset.items, layout.splits(dataset.items)
    stills, holes = all(row["frames"] == 1 for row in rows), _have_holes(rows)
    patterns = sorted({f"{Path(name).parent}/*{Path(name).suffix}" for row in rows for name in layout.media_names(row)})
    content = content_of(dataset)  # part of every config, so that no cache confuses two exports
    return {
        "pretty_name": dataset.name,
        "license": sorted({hub_name(row["licence"] or "") for row in rows}),
        "task_categories": ["image-to-image" if stills else "video-to-video"],
        "tags": [*_tags(stills=stills, holes=holes, edits=_are_edits(rows)), "diagnostic-benchmark"],
        "size_categories": [_size_category(len(rows))],
        "configs": [_config(part, split_of, patterns, content) for part in dataset.slices],
    }


def content_of(dataset: Dataset) -> str:
    """The hash of rows, slices and recipe: another one means another dataset, whatever its folder is called."""
    return content_id(
        list(dataset.items), [asdict(part) for part in dataset.slices], dict(dataset.left_out), dict(dataset.recipe)
    )


def part_note(dataset: Dataset) -> list[str]:
    """That this is a part of a dataset, and of which."""
    if not (whole := dataset.facts.get("part_of")):
        return []
    here, missing = (", ".join(f"`{name}`" for name in names) for names in (whole["slices"], whole["missing_slices"]))
    count = f"{whole['items']} of {whole['items_of_the_whole']} items"
    return [f"> Part of a dataset: {here}, {count}. Missing: {missing or 'no slice'}. See `part_of.json`.", ""]


def _have_holes(rows: Sequence[Plain]) -> bool:
    """Whether pixels are missing, rather than all degraded."""
    return layout.file_column("hole") in rows[0]


def _are_edits(rows: Sequence[Plain]) -> bool:
    """Whether prompts ask for something else than the truth."""
    return "target_prompt" in rows[0]


def _tags(*, stills: bool, holes: bool, edits: bool) -> list[str]:
    kind = "image" if stills else "video"
    if edits:
        return [f"{kind}-editing", f"text-guided-{kind}-editing"]
    return ["inpainting", f"{kind}-inpainting"] if holes else ["denoising", f"{kind}-restoration"]


def _config(part: Slice, split_of: Mapping[str, str], patterns: Sequence[str], content: str) -> dict[str, Any]:
    splits = layout.by_split(part.item_ids, split_of)
    metadata = {split: layout.metadata_name(part.name, split, split_of) for split in splits}
    return {
        "config_name": part.name,
        "description": f"{part.rule}; content {content}",
        "data_files": [{"split": split, "path": [name, *patterns]} for split, name in metadata.items()],
        "metadata_filenames": list(metadata.values()),
    }


def _size_category(count: int) -> str:
    for limit, words in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if count < limit:
            return words
    return "n>100K"


def _counts(rows: Sequence[Plain], slices: Sequence[Slice], split_of: Mapping[str, str]) -> list[str]:
    found = sorted({(row["width"], row["height"]) for row in rows})
    sizes = ", ".join(f"{width}x{height}" for width, height in found) if len(found) < 4 else f"{len(found)} sizes"
    clips, sources = len({row["clip_id"] for row in rows}), len({row["source_id"] for row in rows})
    kind = "pictures" if all(row["frames"] == 1 for row in rows) else "clips"
    splits = layout.by_split(list(split_of), split_of)
    told = "" if set(splits) == {"test"} else f" Splits: {', '.join(f'{name} {len(ids)}' for name, ids in splits.items())}."
    hidden = "" if rows[0]["hole_is_given"] or not _have_holes(rows) else " Methods are not told where the hole is."
    task = "each with a hole to fill" if _have_holes(rows) else "each degraded as a whole"
    task = "each to be edited as its prompts ask" if _are_edits(rows) else task
    return [
        f"{len(rows)} items in {len(slices)} slices: {clips} {kind} ({sizes}) of {sources} sources, {task}.{told}{hidden}",
        "Every slice holds one attribute fixed and lets the others vary, so a method's scores show what it fails on.",
        "",
    ]


def _slice_table(slices: Sequence[Slice], left_out: Mapping[str, str], rows: Mapping[str, Plain]) -> list[str]:
    holes = any("hole.hole_fraction" in row["attributes"] for row in rows.values())
    table = ["## Slices", "", f"| slice | rule | items | sources |{' mean hole |' * holes}", f"|---|---|---|---|{'---|' * holes}"]
    for part in slices:
        members = [rows[item] for item in part.item_ids]
        known = [value for row in members if (value := row["attributes"].get("hole.hole_fraction")) is not None]
        share = f" {100 * sum(known) / len(known):.1f} % |" if known else " |" * holes
        sources = len({row["source_id"] for row in members})
        table.append(f"| `{part.name}` | {part.rule} | {len(members)} | {sources} |{share}")
    table.append("")
    if left_out:
        table += ["Left out for want of items:", "", *(f"- `{name}`: {reason}" for name, reason in left_out.items()), ""]
    return table


def _how_to_load(slices: Sequence[Slice], split_of: Mapping[str, str], rows: Sequence[Plain]) -> list[str]:
    name, split = slices[0].name, next(iter(layout.by_split(slices[0].item_ids, split_of)))
    kind = "Image" if rows[0]["truth_file_name"].endswith(".png") else "Video"
    needs = "" if kind == "Image" else '  # decoding needs torchcodec: pip install "inpaintbench[export]"'
    fill, stored = rows[0]["fill"], "input_file_name" in rows[0]
    given = "`input` is what methods see." if stored else f"Methods see the truth, its hole at level {fill}."
    given = "Methods see it, both prompts and, where they say that they use it, the object mask." if _are_edits(rows) else given
    white = "; in `hole`, 255 means missing" if _have_holes(rows) else ""
    second = "hole" if _have_holes(rows) else "input"
    return [
        "## Load",
        "",
        "```python",
        f"from datasets import {kind}, load_dataset",
        "",
        f'rows = load_dataset("PATH", "{name}", split="{split}"){needs}',
        f'paths = rows.cast_column("truth", {kind}(decode=False)).cast_column("{second}", {kind}(decode=False))  # undecoded',
        "```",
        "",
        f"The truth is what decoding `truth` gives{white}. {given}",
        "Without streaming the whole media folder is fetched; `streaming=True` fetches the rows you use.",
        "",
    ]


_MEDIA_MEANING = {
    "truth": "`truth`: the frames to be recovered",
    "hole": "`hole`: 255 where pixels are missing or painted over",
    "input": "`input`: the corrupted frames",
    "alpha": "`alpha`: opacity of what was painted, 0..255",
    "second_hole": "`second_hole`: list of the second holes for this item, each disjoint from `hole`",
    "object_mask": "`object_mask`: 255 on the object that the edit is about (null = none)",
}
_EDIT_MEANING = {
    "truth": "`truth`: the clip that is to be edited",
    "input": "`input`: the same file",
}
_EDIT_COLUMNS = (
    "- `task`: SOSA (single object and attribute), SE (style), SOMA (single object, several attributes) or MOA (several of both)",
    "- `source_prompt`: what the clip shows (null = nobody said); `target_prompt`: what it is to show",
    "- `object_mask_sha256`: of the decoded object mask",
)


def _columns(rows: Sequence[Plain]) -> list[str]:
    meanings = _MEDIA_MEANING | (_EDIT_MEANING if _are_edits(rows) else {})
    media = [meaning for part, meaning in meanings.items() if layout.file_column(part) in rows[0]]
    return [
        "## Columns",
        "",
        *(f"- {meaning}" for meaning in media),
        "- `item_id`, `clip_id`, `source_id`: stable ids; `split`: train, validation or test",
        "- `source_uri`, `licence`, `author`, `page_url`: where the clip came from (null = not stated)",
        "- `start_frame`, `end_frame`: span of the source, end excluded. `frames`, `width`, `height`, `fps`: of the clip",
        "- `generator`, `generator_parameters`: how the corruption was made. `attributes`: measurements and data, as JSON",
        "- `fill`: level of hole pixels in the input where none is stored; `hole_is_given`: whether methods are told the hole",
        "- `truth_yuv_sha256`, `truth_rgb_sha256`, `hole_sha256`, `input_sha256`: of decoded planes, RGB frames, hole, input",
        *(_EDIT_COLUMNS if _are_edits(rows) else ()),
        "",
    ]


def _licences(dataset: Dataset) -> list[str]:
    per_source = {row["source_id"]: row["licence"] or "not stated" for row in dataset.items}
    lines = ["## Licences of the sources", "", *_counted(Counter(per_source.values())), ""]
    if stated := dataset.facts.get("licences_stated"):
        told = "These sources came without a known licence; their publisher states it, in the column `licence` too."
        lines += ["### Stated by the publisher", "", told, "", *_counted(stated), ""]
    return lines


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"- {licence}: {count} {'source' if count == 1 else 'sources'}" for licence, count in sorted(counts.items())]
