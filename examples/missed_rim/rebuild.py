"""Rebuild the example from its ten films: python examples/missed_rim/rebuild.py [WORK] [PAGES]

Everything is made by commands of the program, which are printed. WORK (build/missed_rim) gets dataset, run and study; PAGES (the
folder `pages` beside this file) what the documentation shows: report, leaderboard and dataset card.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
METHODS = ("telea", "temporal_median", "affine_propagation")
PROTOCOL = "devil/imperfect"
SLICES = ("mask-exact", "uncovered_rim-low", "uncovered_rim-high")


def main(work: Path, pages: Path) -> None:
    """Build, score, report, rank, ask."""
    dataset, run, study = work / "exports" / "devil", work / "run", work / "study"
    inpaintbench("build", "devil", "--sources", HERE / "footage", "--out", work, "--dataset", HERE / "dataset.toml",
                 "--size", "240x136", "--splitter", "windows,length=24,shortest=24", "--per-slice", 10,
                 "--sliced-by", "displacement", "--imperfect", "erode", "--imperfect", "dilate")  # fmt: skip
    inpaintbench("export", "verify", dataset)
    inpaintbench("eval", "run", dataset, "--run", run, *each("--method", METHODS))
    inpaintbench("eval", "run", "--for=scores", dataset, "--run", run, "--protocol", PROTOCOL)
    inpaintbench("eval", "report", dataset, "--run", run, "--protocol", PROTOCOL, *each("--slice", SLICES), "--media", 0,
                 "--out", pages / "report")  # fmt: skip
    for method in METHODS:
        inpaintbench("eval", "submit", dataset, "--run", run, "--protocol", PROTOCOL, "--method", method, "--predictions",
                     "--card", HERE / "cards" / f"{method}.toml", "--out", work / "submissions" / f"{method}.zip")  # fmt: skip
    inpaintbench("eval", "leaderboard", dataset, work / "submissions", "--protocol", PROTOCOL, "--verify", 2, "--seed", 0,
                 "--clips", 2, "--out", pages / "leaderboard")  # fmt: skip
    copy_card(dataset, pages / "card")
    asked = (HERE / "study.toml").read_text()
    for name, place in (("DATASET", dataset), ("RUN", run)):
        asked = asked.replace(f'"{name}"', json.dumps(str(place.resolve())))
    (work / "study.toml").write_text(asked)
    inpaintbench("annotate", "prepare", work / "study.toml", "--out", study)


def inpaintbench(*words: object) -> None:
    """Print a command and run it."""
    given = [str(word) for word in words]
    print("$ inpaintbench", shlex.join(given), flush=True)
    subprocess.run([sys.executable, "-m", "inpaintbench", *given], check=True)


def each(option: str, values: tuple[str, ...]) -> list[str]:
    """An option once for every value."""
    return [word for value in values for word in (option, value)]


def copy_card(dataset: Path, folder: Path) -> None:
    """The dataset's card with its pictures."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(dataset / "card", folder / "card")
    shutil.copy(dataset / "README.md", folder)


if __name__ == "__main__":
    work, pages, *_ = [*map(Path, sys.argv[1:]), *(Path("build/missed_rim"), HERE / "pages")[len(sys.argv) - 1 :]]
    main(work, pages)
    # Commands of the page hold wherever the repository lies.
    report = pages / "report" / "report.html"
    report.write_text(report.read_text(encoding="utf-8").replace(f"{Path.cwd()}/", ""), encoding="utf-8")
