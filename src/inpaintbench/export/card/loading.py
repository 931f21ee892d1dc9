"""How to load a dataset, and what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence

from inpaintbench.export import layout
from inpaintbench.export.card.content import are_edits, are_stills, has_media, have_holes, media_suffix
from inpaintbench.export.card.words import counted, plain
from inpaintbench.types import Dataset, Plain


def how_to_load(dataset: Dataset) -> list[str]:
    """Code that loads the first slice, decoded and not; what it gives, and the splits."""
    rows, split_of = dataset.items, layout.splits(dataset.items)
    slices = dataset.slices
    name, split = slices[0].name, next(iter(layout.by_split(slices[0].item_ids, split_of)))
    kind = "Image" if media_suffix(rows) == ".png" else "Video"
    needs = "" if kind == "Image" else '  # decoding needs torchcodec: pip install "inpaintbench[export]"'
    media = [part for part in ("truth", "hole", "input") if has_media(rows, part)]
    casts = "".join(f'.cast_column("{part}", {kind}(decode=False))' for part in media[:2])
    return [
        "## Load",
        "",
        "```python",
        f"from datasets import {kind}, load_dataset",
        "",
        f'rows = load_dataset("PATH", "{name}", split="{split}"){needs}',
        f"paths = rows{casts}  # undecoded",
        "```",
        "",
        f"`PATH` is this folder, or `OWNER/NAME` on the Hub. {_given(rows)}",
        "Without streaming the whole media folder is fetched; `streaming=True` fetches the rows you use.",
        *_splits(dataset),
        "",
    ]


def _given(rows: Sequence[Plain]) -> str:
    stored = has_media(rows, "input")
    white = "; in `hole`, 255 means missing" if have_holes(rows) else ""
    truth = f"The truth is what decoding `truth` gives{white}. " if has_media(rows, "truth") else ""
    if are_edits(rows):
        return f"{truth}Methods see it, both prompts and, where they say that they use it, the object mask."
    filled = f"the clip with its hole filled at level {rows[0]['fill']}"
    if are_stills(rows):
        filled = filled.replace("clip", "picture")
    if not stored:
        return f"{truth}Methods see {filled}, never what lies under it."
    some = f"; where there is none, it is {filled}" if any(not row.get("input_file_name") for row in rows) else ""
    return f"{truth}`input` is what methods see{some}."


def _splits(dataset: Dataset) -> list[str]:
    split_of = layout.splits(dataset.items)
    splits = layout.by_split(list(split_of), split_of)
    if set(splits) == {"test"}:
        return ["All items are of the split `test`: nothing here is meant for training."]
    told = ", ".join(f"`{name}` {counted(len(ids), 'item')}" for name, ids in splits.items())
    shared = _shared_sources(dataset)
    apart = "No source is in two of them." if not shared else f"{counted(shared, 'source')} are in more than one of them."
    return [f"Splits: {told}. {apart}{_leakage(dataset)}"]


def _leakage(dataset: Dataset) -> str:
    """What was found when clips of different splits were compared."""
    found = dataset.facts.get("leakage")
    if not found or not found["checked"]:
        return ""
    told = f" {counted(found['checked'], 'clip')} were compared with those of other splits for near-duplicates"
    if not found["pairs"]:
        return f"{told}: there are none."
    return f"{told}: {counted(found['pairs'], 'pair')}, which may stay because: {plain(found.get('allowed', 'no reason given'))}."


def _shared_sources(dataset: Dataset) -> int:
    found: dict[str, set[str]] = {}
    for row in dataset.items:
        found.setdefault(str(row["source_id"]), set()).add(row["split"])
    return sum(len(splits) > 1 for splits in found.values())


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


def columns(dataset: Dataset) -> list[str]:
    """What stands in each column."""
    rows = dataset.items
    meanings = _MEDIA_MEANING | (_EDIT_MEANING if are_edits(rows) else {})
    media = [meaning for part, meaning in meanings.items() if has_media(rows, part)]
    held = " (null where it is held back)" if dataset.facts.get("held_back") else ""
    unknown = "unknown or held back" if held else "unknown"
    return [
        "## Columns",
        "",
        *(f"- {meaning}{held if meaning.startswith('`truth`') else ''}" for meaning in media),
        "- `item_id`, `clip_id`, `source_id`: stable ids; `split`: train, validation or test",
        f"- `source_uri`, `licence`, `author`, `page_url`: where the clip came from (null = {unknown})",
        "- `start_frame`, `end_frame`: span of the source, end excluded. `frames`, `width`, `height`, `fps`: of the clip",
        "- `encode_crf`, `encode_psnr_db`: how the truth was encoded (0 is lossless), and how near it is to the frames before",
        "- `generator`, `generator_parameters`: how the corruption was made. `attributes`: measurements and data, as JSON",
        "- `fill`: level of hole pixels in the input where none is stored; `hole_is_given`: whether methods are told the hole",
        "- `truth_yuv_sha256`, `truth_rgb_sha256`, `hole_sha256`, `input_sha256`: of decoded planes, RGB frames, hole, input",
        *(_EDIT_COLUMNS if are_edits(rows) else ()),
        "",
    ]
