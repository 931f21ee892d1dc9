"""What a reader sees first: what the dataset is for, and how much there is of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export import layout
from inpaintbench.export.card import content
from inpaintbench.export.card.words import code, counted, listed, plain, table
from inpaintbench.export.licence_names import spdx
from inpaintbench.frozen import dataset_id
from inpaintbench.types import Dataset


def top(dataset: Dataset, sizes: Mapping[str, int]) -> list[str]:
    """Title, purpose, origin and the numbers of the whole."""
    return [
        *_part_note(dataset),
        f"# {plain(dataset.name)}",
        "",
        *([dataset.about, ""] if dataset.about else []),
        *counts(dataset),
        "",
        *_recreated(dataset),
        *_essentials(dataset, sizes),
    ]


def _part_note(dataset: Dataset) -> list[str]:
    if truth_of := dataset.facts.get("truth_of"):
        splits = ", ".join(f"`{plain(name)}`" for name in truth_of["splits"])
        name = plain(truth_of["dataset"])
        return [
            f"> The truth that the dataset {name} holds back, of its items in {splits}. Scoring needs it; keep it private.",
            "",
        ]
    if not (whole := dataset.facts.get("part_of")):
        return []
    here, missing = (", ".join(f"`{name}`" for name in names) for names in (whole["slices"], whole["missing_slices"]))
    count = f"{whole['items']} of {whole['items_of_the_whole']} items"
    return [f"> Part of a dataset: {here}, {count}. Missing: {missing or 'no slice'}. See `part_of.json`.", ""]


def first_paragraph(dataset: Dataset) -> str:
    """What it is for, where its recipe says so, and how much of what it holds."""
    about = [dataset.about.partition("\n\n")[0]] if dataset.about else []
    return " ".join(" ".join([*about, *counts(dataset)]).split())


def counts(dataset: Dataset) -> list[str]:
    """How much there is of what, and what slices are for."""
    rows, split_of = dataset.items, layout.splits(dataset.items)
    clips, footage = len({row["clip_id"] for row in rows}), len(content.sources(rows))
    kind = "picture" if content.are_stills(rows) else "clip"
    splits = layout.by_split(list(split_of), split_of)
    told = "" if set(splits) == {"test"} else f" Splits: {', '.join(f'{name} {len(ids)}' for name, ids in splits.items())}."
    task = "each with a hole to fill" if content.have_holes(rows) else "each degraded as a whole"
    task = "each to be edited as its prompts ask" if content.are_edits(rows) else task
    hidden = " Methods are not told where the hole is." if content.have_holes(rows) and not rows[0]["hole_is_given"] else ""
    return [
        f"{counted(len(rows), 'item')} in {counted(len(dataset.slices), 'slice')}: {counted(clips, kind)} of"
        f" {counted(footage, 'source')}, {task}.{told}{hidden}",
        "Every slice holds one attribute fixed and lets the others vary, so a method's scores show what it fails on.",
    ]


def _recreated(dataset: Dataset) -> list[str]:
    paper = benchmark_of(dataset).paper
    if paper is None:
        return []
    return [
        f"> This dataset re-creates the benchmark of “{paper.title}” by a program, with footage of its own. It is not the"
        " authors' release, and scores on it are not those of their tables.",
        "",
    ]


def _essentials(dataset: Dataset, sizes: Mapping[str, int]) -> list[str]:
    rows = dataset.items
    licences = Counter(spdx(row["licence"]) or row["licence"] or "unknown" for row in content.sources(rows).values())
    whole = sum(sizes.get(name, 0) for name in dataset.files)
    told = {
        "version": f"{plain(dataset.version)}, as a whole {plain(dataset_id(dataset))}",
        "sizes": _geometry(dataset),
        "licences of the sources": plain(", ".join(f"{name} ({count})" for name, count in sorted(licences.items())))
        + "; see [NOTICE](NOTICE)",
        "on disk": f"{whole / 1e6:,.1f} MB in {counted(len(dataset.files), 'file')}, every one with its SHA-256 in"
        " [dataset.json](dataset.json) and [croissant.json](croissant.json)",
        "SHA-256 of all of them": f"`{content.files_sha256(dataset)}`",
    }
    held = dataset.facts.get("held_back")
    if held:
        told["held back"] = f"the truth of {counted(int(held['items']), 'item')}, see [below](#held-back-truth)"
    return table(["", ""], [(f"**{name}**", value) for name, value in told.items()])


def _geometry(dataset: Dataset) -> str:
    rows = dataset.items
    found = sorted({(row["width"], row["height"]) for row in rows})
    sizes = listed([f"{width}x{height}" for width, height in found]) if len(found) < 4 else _range(found)
    if content.are_stills(rows):
        return f"pictures of {sizes} pixels"
    frames = sorted({row["frames"] for row in rows})
    rates = sorted({row["fps"] for row in rows})
    lengths = f"{frames[0]}" if len(frames) == 1 else f"{frames[0]} to {frames[-1]}"
    told = f"{rates[0]:g}" if len(rates) == 1 else f"{rates[0]:g} to {rates[-1]:g}"
    return f"clips of {lengths} frames, {sizes} pixels, {told} frames a second"


def _range(found: list[tuple[int, int]]) -> str:
    areas = sorted(found, key=lambda size: (size[0] * size[1], size))
    (low, high), (wide, tall) = areas[0], areas[-1]
    return f"{len(found)} sizes from {low}x{high} to {wide}x{tall}"


def slices(dataset: Dataset) -> list[str]:
    """What each slice fixes, and how much of it there is."""
    rows = {row["item_id"]: row for row in dataset.items}
    holes = any("hole.hole_fraction" in row["attributes"] for row in rows.values())
    made = []
    for part in dataset.slices:
        members = [rows[item] for item in part.item_ids]
        known = [value for row in members if (value := row["attributes"].get("hole.hole_fraction")) is not None]
        footage = len(content.sources(members))
        share = [f"{100 * sum(known) / len(known):.1f} %" if known else ""] if holes else []
        made.append([f"`{part.name}`", code(part.rule), f"{len(members):,}", f"{footage:,}", *share])
    told = ["## Slices", "", *table(["slice", "rule", "items", "sources", *(["mean hole"] if holes else [])], made)]
    if dataset.left_out:
        reasons = (f"- `{name}`: {plain(reason)}" for name, reason in dataset.left_out.items())
        told += ["Left out for want of items:", "", *reasons, ""]
    return told
