"""What users get, kept before a change of structure and compared after it: every recipe's demo with two methods and all pages.

python scripts/same_outputs.py write FOLDER     with the checkout that is installed, or the one in PYTHONPATH
python scripts/same_outputs.py compare ONE OTHER
"""

from __future__ import annotations

import argparse
import csv
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from inpaintbench import frozen

DEMOS = {
    "devil": (["--demo"], ["blank", "telea", "navier_stokes"]),
    "reinpaint": (["--demo"], ["blank", "telea"]),
    "humans": (["--demo"], ["blank", "telea"]),
    "decaption": (["--demo"], ["blank", "decaption_median"]),
    "fingerprint": (["--fingers", "20"], ["blank", "oriented_gabor"]),
    "editing": (["--demo"], ["edit_recolour", "edit_style"]),
}
KEPT = {".json", ".csv", ".md", ".toml", ".tex", ".srt", ".jsonl"}
"""Endings of the files that are compared; pages and pictures may look otherwise, their numbers lie beside them."""
CARD = ("title", "summary", "model", "preprocessing", "training_data", "loss")
QUESTIONS = {"keep_reject": ("keep", "reject"), "camera_motion": ("low", "high")}
RATERS = 4
LABELS_STUDY = """title = "Labels"
subjects = {workspace = "devil"}
questions = [{leaf = "keep_reject"}, {leaf = "camera_motion"}]
"""
PAIRS_STUDY = """title = "Pairs"
subjects = {dataset = "devil/exports/devil", runs = ["devil-run"], methods = ["telea", "navier_stokes"]}
questions = [{leaf = "pairwise"}, {leaf = "mean_opinion"}]
"""
WRONG = [
    ["eval", "score", "nowhere"],
    ["eval", "run"],
    ["build", "devil"],
    ["eval", "score", "devil/exports/devil", "--metric", "pnsr"],
    ["eval", "score", "devil/exports/devil", "--run", "nowhere"],
    ["eval", "report", "devil/exports/devil", "--run", "devil"],
    ["curation", "why", "devil", "nothing"],
    ["export", "verify", "devil"],
]
"""Mistakes, whose messages are compared too."""
_TIMES = re.compile(
    r"\b\d+(\.\d+)? ?(seconds|second|s|ms|minutes|MB|MiB|GiB|kB)\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|\d+:\d\d:\d\d"
)
_HIDDEN = {"seconds", "peak_mebibytes", "efforts", "effort", "command", "made", "created", "time"}
"""Keys of JSON files that tell of the machine and the moment."""


class _Runner:
    """Runs commands in one folder and keeps what each came to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder, folder / "told"
        self.told.mkdir(parents=True)

    def run(self, name: str, *arguments: str) -> None:
        environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1", "INPAINTBENCH_WEIGHTS": str(self.folder / "weights")}
        done = subprocess.run(
            [sys.executable, "-m", "inpaintbench", *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
        text = f"$ inpaintbench {' '.join(arguments)}\nstatus {done.returncode}\n--- out\n{done.stdout}--- err\n{done.stderr}"
        (self.told / f"{name}.txt").write_text(text.replace(str(self.folder), "FOLDER"))
        print(name, done.returncode, flush=True)


def write(folder: Path) -> None:
    """Run everything in ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    runner = _Runner(folder.absolute())
    run = runner.run
    (runner.folder / "card.toml").write_text("".join(f'{name} = "none"\n' for name in CARD))
    for name, (options, methods) in DEMOS.items():
        dataset, place = f"{name}/exports/{name}", f"{name}-run"
        run(f"{name}-build", "build", name, *options, "--out", name)
        chosen = [part for method in methods for part in ("--method", method)]
        run(f"{name}-run", "eval", "run", "--dataset", dataset, "--run", place, *chosen, "--report")
        run(f"{name}-analysis", "eval", "analysis", dataset, "--run", place)
        run(f"{name}-rank", "eval", "rank", dataset, "--run", place)
        run(f"{name}-compare", "eval", "compare", *methods[-2:], "--dataset", dataset, "--run", place)
        run(f"{name}-verify", "export", "verify", dataset)
        sent, card = f"{name}-sent", "card.toml"
        (runner.folder / sent).mkdir()
        for method in methods:
            run(f"{name}-submit-{method}", "eval", "submit", dataset, "--run", place, "--method", method, "--card", card,
                "--out", f"{sent}/{method}.zip")  # fmt: skip
        run(f"{name}-leaderboard", "eval", "leaderboard", sent, "--dataset", dataset, "--out", f"{name}-site")
        run(f"{name}-transcript", "eval", "transcript", dataset, "--run", place)
    run("funnel", "curation", "funnel", "devil")
    run("select", "curation", "select", "devil")
    run("rejected", "curation", "rejected", "devil")
    run("attribution", "curation", "attribution", "devil")
    run("duplicates", "curation", "duplicates", "devil")
    run("masks-preview", "masks", "preview", "brush_box", "--set", "preset=thick-256", "--count", "4", "--out", "masks.html")
    run("masks-presets", "masks", "presets")
    run("layouts", "eval", "layouts")
    run("list", "eval", "list")
    run("again-score", "eval", "reinpaint", "score", "reinpaint/exports/reinpaint", "--run", "reinpaint-run", "--masks", "2")
    run("again-grid", "eval", "reinpaint", "grid", "reinpaint/exports/reinpaint", "--run", "reinpaint-run", "--second", "telea")
    run("again-selection", "eval", "reinpaint", "selection", "reinpaint/exports/reinpaint", "--run", "reinpaint-run")
    run("again-paper", "eval", "reinpaint", "paper")
    for study, text in {"labels": LABELS_STUDY, "pairs": PAIRS_STUDY}.items():
        (runner.folder / f"{study}.toml").write_text(text)
        run(f"{study}-prepare", "annotate", "prepare", f"{study}.toml", "--out", study)
        _vote(runner.folder, study)
        run(f"{study}-import", "annotate", "import", study, f"{study}-votes.csv")
        for command in ("status", "agreement", "ranking", "resolve"):
            run(f"{study}-{command}", "annotate", command, study)
        run(f"{study}-report", "annotate", "report", study, "--out", f"{study}-page")
        run(f"{study}-export", "annotate", "export", study, "--out", f"{study}-judgements.csv")
    run(
        "align",
        "eval",
        "align",
        "pairs-judgements.csv",
        "--dataset",
        "devil/exports/devil",
        "--run",
        "devil-run",
        "--out",
        "align",
    )
    for place, arguments in enumerate(WRONG):
        run(f"wrong-{place}", *arguments)


def _vote(folder: Path, study: str) -> None:
    """Answers of made-up raters, drawn with a seed, to every task of a study, as a table made elsewhere."""
    draw = random.Random(0)
    subjects = sorted({row["item_id"] for row in _items(folder)}) if study == "pairs" else _clips(folder)
    rows = []
    for rater in range(RATERS):
        for subject in subjects:
            if study == "pairs":
                rows.append(
                    [f"r{rater}", "pairwise", subject, draw.choice(["telea", "navier_stokes", "tie"]), "telea|navier_stokes"]
                )
            else:
                rows += [[f"r{rater}", question, subject, draw.choice(answers), ""] for question, answers in QUESTIONS.items()]
    with (folder / f"{study}-votes.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["rater", "question", "subject", "choice", "candidates"], *rows])


def _items(folder: Path) -> list[dict[str, str]]:
    return [dict(row) for row in frozen.load(folder / "devil/exports/devil").items]


def _clips(folder: Path) -> list[str]:
    return sorted({row["clip_id"] for row in _items(folder)})


def compare(one: Path, other: Path) -> int:
    """Print what differs; how many files do."""
    names = sorted({path.relative_to(root) for root in (one, other) for path in root.rglob("*") if _is_compared(path)})
    different = 0
    for name in names:
        texts = [_text(root / name) for root in (one, other)]
        if texts[0] != texts[1]:
            different += 1
            lines = difflib.unified_diff(
                *(text.splitlines() for text in texts), str(one / name), str(other / name), lineterm="", n=1
            )
            print(*[line[:300] for line in list(lines)[:40]], sep="\n")
    print(f"{different} of {len(names)} files differ")
    return different


def _is_compared(path: Path) -> bool:
    parts = set(path.parts)
    return path.is_file() and (path.suffix in KEPT or "told" in parts) and not parts & {"ledger", "logs", ".cache", "plans"}


def _text(path: Path) -> str:
    if not path.exists():
        return "(no such file)\n"
    text = path.read_text(errors="replace")
    if path.suffix == ".json":
        text = json.dumps(_without_times(json.loads(text)), indent=1, sort_keys=True)
    return _TIMES.sub("TIME", text)


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if key not in _HIDDEN}
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("write", "compare"))
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    if options.verb == "write":
        write(options.folders[0])
        return 0
    return int(compare(*options.folders) > 0)


if __name__ == "__main__":
    sys.exit(main())
