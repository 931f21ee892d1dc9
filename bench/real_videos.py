"""A DEVIL benchmark from all real videos of the test assets: every file gives clips or a row with a reason.

python bench/real_videos.py [--quick] [--sheets FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.funnel.stages import funnel_words
from inpaintbench.curation.judging import stored_selection
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.verify import verify
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import LEVELS
from inpaintbench.types import Attribute, Clip, Selection, Source
from inpaintbench.workspace import Workspace

REAL_CUTS = Path(__file__).parents[1] / "tests" / "curation" / "real_cuts.csv"


@dataclass(frozen=True)
class Marked:
    """What the eye marked in one film."""

    spans: tuple[tuple[int, int, str], ...]
    """Frames ``[start, end)`` of cuts and gradual transitions, with their kind."""
    first: int = 0
    last: int = 1 << 30
    """Frames that were looked at, ``[first, last)``."""


def marked_assets() -> dict[str, Marked]:
    """Transitions of the films of the assets; jump cuts, which leave out some time of one view, are none."""
    rows = [row for row in csv.DictReader(REAL_CUTS.read_text().splitlines()) if row["kind"] in ("cut", "gradual")]
    spans: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for row in rows:
        if not row["note"].startswith("jump cut"):
            start, end = int(row["start_frame"]), int(row["end_frame"])
            spans[Path(row["file"]).name].append((start, max(end, start + 1), row["kind"]))
    return {name: Marked(tuple(some)) for name, some in spans.items()}


def marked_films() -> dict[str, Marked]:
    """Transitions of the films of other people that are one file each, by their paths below the folder."""
    films = tomllib.loads(Path(__file__).with_name("marked_films.toml").read_text())["film"]
    return {film["file"]: _marked(film) for film in films if film["file"].endswith(".mp4")}


def _marked(film: Mapping[str, Any]) -> Marked:
    spans = [(at, at + 1, "cut") for at in film.get("cuts", ())]
    for kind in ("gradual", "either"):
        spans += [(start, end, kind) for start, end in film.get(kind, ())]
    return Marked(tuple(spans), film.get("first", 0), film.get("last", 1 << 30))


@dataclass(frozen=True)
class Cut:
    """A clip as the rules leave it."""

    name: str
    start: int
    end: int
    blob: Path
    broken: tuple[str, ...]
    """Rules that drop it."""


def by_default(videos: str, marked: Mapping[str, Marked], *, judged: Mapping[tuple[str, int], str], sheets: Path | None) -> None:
    """Clips kept with and without the default rules for one's own footage, beside what the eye marked and judged."""
    print(
        "| rules | clips | kept | with a cut inside | with a fade or dissolve |"
        + " wrong by eye |" * bool(judged)
        + " sources of camera_motion low, high |"
    )
    print("|---|---|---|---|---|---|" + "---|" * bool(judged))
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        with LocalExecutor(workspace, workers=4) as executor:
            for name, rules in (("none", ()), ("default", devil.rules_of_footage([], without=["text"]))):
                recipe = devil.DevilRecipe(width=416, height=240, rules=rules)
                devil.curate(recipe, [SourceSpec("folder", {"folder": videos})], executor, workspace)
                devil.label(recipe, executor, workspace)
                cuts = [cut for cut in _cuts(workspace) if _looked_at(cut, marked)]
                print(_row(name, cuts, marked, judged, workspace), flush=True)
        print(f"\n{funnel_words(workspace, stored_selection(workspace, Facts.of_workspace(workspace, ())))}.")
        if judged:
            _tell_judged(cuts, judged)
        if sheets:
            write_sheets(cuts, sheets)


def _row(
    name: str, cuts: Sequence[Cut], marked: Mapping[str, Marked], judged: Mapping[tuple[str, int], str], workspace: Workspace
) -> str:
    kept = [cut for cut in cuts if not cut.broken]
    # A cut between two clips is inside of neither.
    inside = [{kind for start, end, kind in _of(cut, marked)
               if start < cut.end and cut.start + (kind == "cut") < end} for cut in kept]  # fmt: skip
    holding = " | ".join(str(sum(kind in kinds for kinds in inside)) for kind in ("cut", "gradual"))
    wrong = f" {sum((cut.name, cut.start) in judged for cut in kept)} |" if judged else ""
    levels = workspace.table("attributes", Attribute, step=LEVELS)
    source_of = {clip.clip_id: clip.source_id for clip in workspace.table("clips", Clip)}
    resting = []
    for level in ("low", "high"):
        own = [source_of[row.subject_id] for row in levels if row.value == level]
        resting.append(f"{len(own)} clips of {len(set(own))}")
    return f"| {name} | {len(cuts)} | {len(kept)} | {holding} |{wrong} {', '.join(resting)} |"


def _tell_judged(cuts: Sequence[Cut], judged: Mapping[tuple[str, int], str]) -> None:
    """What the default rules keep and drop, by what the eye says of it."""
    kept, dropped = ([cut for cut in cuts if bool(cut.broken) == refused] for refused in (False, True))
    for title, some in (("dropped", dropped), ("kept", kept)):
        counts = Counter(judged.get((cut.name, cut.start), "nothing wrong") for cut in some)
        print(f"\nBy eye, {title}: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}.")
    lost = [f"{cut.name}@{cut.start}" for cut in dropped if (cut.name, cut.start) not in judged]
    print(f"\nDropped with nothing wrong: {', '.join(lost) or 'none'}.")


def _cuts(workspace: Workspace) -> list[Cut]:
    """All clips of a workspace by film and time, with the rules that drop them."""
    broken: dict[str, list[str]] = defaultdict(list)
    for row in workspace.table("selection", Selection):
        if not row.keep:
            broken[row.clip_id].append(row.rule.partition(" (")[0])
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    return sorted(
        (
            Cut(unquote(uri[clip.source_id]), clip.start_frame, clip.end_frame, workspace.blobs.path(clip.blob),
                tuple(broken.get(clip.clip_id, ())))
            for clip in workspace.table("clips", Clip)
        ),
        key=lambda cut: (cut.name, cut.start),
    )  # fmt: skip


def _of(cut: Cut, marked: Mapping[str, Marked]) -> tuple[tuple[int, int, str], ...]:
    found = marked.get(cut.name) or marked.get(Path(cut.name).name)
    return found.spans if found else ()


def _looked_at(cut: Cut, marked: Mapping[str, Marked]) -> bool:
    found = marked.get(cut.name)
    return found is None or (found.first <= cut.start and cut.end <= found.last)


def write_sheets(cuts: Sequence[Cut], folder: Path, *, rows: int = 12, pictures: int = 9) -> None:
    """Nine frames of each clip from the first to the last, with its name and the rules that drop it, twelve clips a PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for sheet, begin in enumerate(range(0, len(cuts), rows)):
        lines = []
        for cut in cuts[begin : begin + rows]:
            frames = video.read_frames(cut.blob)
            chosen = np.linspace(0, len(frames) - 1, pictures).round().astype(int)
            strip = np.concatenate([cv2.resize(frames[at], (176, 100), interpolation=cv2.INTER_AREA) for at in chosen], axis=1)
            side = np.full((14, strip.shape[1], 3), 255, np.uint8)
            text = f"{cut.name}@{cut.start}..{cut.end}   {'dropped: ' + ', '.join(cut.broken) if cut.broken else 'kept'}"
            cv2.putText(side, text, (2, 11), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (0, 0, 0), 1, cv2.LINE_AA)
            lines += [side, strip]
        cv2.imwrite(str(folder / f"{sheet:02d}.png"), np.concatenate(lines)[..., ::-1])


def judged_clips() -> dict[tuple[str, int], str]:
    """File and first frame of clips that are no single living shot, and why."""
    entries = tomllib.loads(Path(__file__).with_name("judged_clips.toml").read_text())["clip"]
    return {(entry["file"], entry["start"]): entry["wrong"] for entry in entries}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="masks for fewer clips")
    parser.add_argument(
        "--sheets", type=Path, help="write contact sheets of all clips into this folder, and measure nothing else"
    )
    options = parser.parse_args()
    quick = options.quick
    print("## Real videos\n")
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return 0
    videos = str(Path(assets) / "videos")
    films = os.environ.get("INPAINTBENCH_MARKED_FILMS")
    if options.sheets:
        by_default(videos, marked_assets(), judged=judged_clips(), sheets=options.sheets)
        return 0
    recipe = devil.DevilRecipe(width=416, height=240, per_slice=2 if quick else 10)
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        with LocalExecutor(workspace, workers=2) as executor:
            folder, dataset = build(recipe, [SourceSpec("folder", {"folder": videos})], executor, workspace)
        problems = verify(folder).problems
        found = {piece.uri for piece in FolderSource(folder=videos).footage()}
        sources = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        with_clips = {sources[clip.source_id] for clip in workspace.table("clips", Clip)}
        refused = {row.name: row.reason for row in workspace.table("rejected", Rejection) if row.step != "pair"}
    lost = found - with_clips - set(refused)
    print("Asked: every file gives clips or a row with a reason, and the build ends with a verified dataset.\n")
    print("| files | with clips | refused with a reason | lost | items | slices | problems found by verify |")
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {len(found)} | {len(with_clips)} | {len(set(refused) - with_clips)} | {len(lost)} | {len(dataset.items)} "
        f"| {len(dataset.slices)} | {len(problems)} |\n"
    )
    reasons = Counter(reason for name, reason in refused.items() if name not in with_clips)
    print("\n".join(f"- {count} x {reason}" for reason, count in reasons.most_common()))
    print(
        "\nAll clips of these films, with the default rules of `build devil` and without. Transitions were marked by eye frame "
        "by frame; `--sheets FOLDER` makes the contact sheets on which clips were judged, one by one, in `judged_clips.toml`.\n"
    )
    by_default(videos, marked_assets(), judged=judged_clips(), sheets=None)
    if films:
        print("\nFilms of other people with many transitions (`marked_films.toml`), the stretches that were marked.\n")
        by_default(films, marked_films(), judged={}, sheets=None)
    return 1 if lost or problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
