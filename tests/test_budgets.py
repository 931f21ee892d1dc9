"""`budgets.toml` holds: no package grows beyond its lines and modules without a change of that file that says why."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import tomllib
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import predictions, write_items

import inpaintbench
from inpaintbench.catalogue import joined
from inpaintbench.eval.metrics import psnr
from inpaintbench.types import Prediction
from inpaintbench.workspace import Workspace

ROOT = Path(inpaintbench.__file__).parent
WRITTEN = {".css", ".csv", ".html", ".js", ".md", ".py", ".pyi", ".svg", ".toml", ".txt"}
BUDGETS = tomllib.loads((Path(__file__).parent.parent / "budgets.toml").read_text())
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip


def code_lines(path: Path) -> int:
    """Lines of a module that hold code: no docstring, comment or blank."""
    tree, lines = ast.parse(path.read_text(encoding="utf-8")), set()
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type not in _NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for one in body:
                if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                    lines.difference_update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return len(lines)


def package_of(path: Path) -> str:
    """``eval``, ``wings/align``, or ``top`` of what stands in no folder."""
    parts = path.relative_to(ROOT).parts
    return "top" if len(parts) == 1 else "/".join(parts[: 2 if parts[0] == "wings" and len(parts) > 2 else 1])


# Functions of this package between the command `eval run --for scores` and the line that squares an error, both among them.
# One of them is `_perform`: what a task held has to be gone before the peak of the next is measured.
MOST_STEPS = 14


def test_no_package_is_heavier_than_its_budget() -> None:
    lines, modules = Counter[str](), Counter[str]()
    for path in ROOT.rglob("*.py"):
        lines[package_of(path)] += code_lines(path)
        modules[package_of(path)] += 1
    for name, most in BUDGETS["packages"].items():
        assert lines[name] <= most["lines"], f"{name} has {lines[name]} lines of code, {most['lines']} are in budgets.toml"
        assert modules[name] <= most["modules"], f"{name} has {modules[name]} modules, {most['modules']} are in budgets.toml"
    assert set(lines) - set(BUDGETS["packages"]) <= {"wings"}, "a package without a budget"
    core = sum(count for name, count in lines.items() if not name.startswith("wings"))
    assert core <= BUDGETS["core"]["lines"]
    assert sum(lines.values()) <= BUDGETS["all"]["lines"]
    assert sum(modules.values()) <= BUDGETS["all"]["modules"]


def test_scripts_are_no_longer_than_their_budget() -> None:
    written = [path for path in ROOT.rglob("*.js") if not path.name.endswith(".min.js")]
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in written) <= BUDGETS["javascript"]["lines"]


# Kinds of leaf whose names are no everyday words.
NAMED = ("mask generator", "method", "metric", "protocol", "layout")


def test_the_core_names_no_wing() -> None:
    """Neither in an import nor in an address, by none of the patterns, and no leaf of a wing between quotes or backquotes."""
    patterns = [re.compile(pattern) for pattern in BUDGETS["core"]["may_not_name"]]
    leaves = "|".join(re.escape(name) for kind in NAMED for name in joined(kind)) or "(?!)"
    quoted = re.compile(f"[\"'`]({leaves})[\"'`]")
    for path in ROOT.rglob("*"):
        if path.suffix in WRITTEN and path.relative_to(ROOT).parts[0] != "wings":
            text = path.read_text(encoding="utf-8")
            for pattern in (*patterns, *([quoted] if path.suffix == ".py" else [])):
                assert (found := pattern.search(text)) is None, f"{path.relative_to(ROOT)} names {found[0]}"


def test_few_functions_lie_between_the_command_and_a_squared_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, workspace = write_items(tmp_path / "data"), Workspace(tmp_path / "run")
    made = predictions(workspace.blobs, dataset, "bright", level=200)
    write_one_file(tmp_path / "data", dataset)
    workspace.write_table("predictions", "predict.bright", made, Prediction)
    seen: list[list[str]] = []
    norm = psnr.cv2.norm

    def watched(*arguments: Any) -> float:
        stack = [frame for frame, _ in traceback.walk_stack(sys._getframe(1))]
        own = [frame.f_code for frame in stack if frame.f_code.co_filename.startswith(str(ROOT))]
        command = max(place for place, code in enumerate(own) if code.co_filename.endswith("cli/scoring.py"))
        seen.append([code.co_qualname for code in own[: command + 1]])
        return float(norm(*arguments))

    monkeypatch.setattr(psnr.cv2, "norm", watched)
    place = (tmp_path / "data", "--run", tmp_path / "run", "--workers", "0", "--protocol", "devil/corrected", "--metric", "psnr")
    done = run_here("eval", "run", "--for=scores", *place)
    assert done.returncode == 0, done.stderr
    assert {steps[0] for steps in seen} == {"masked_errors"}
    assert max(seen, key=len)[-1] == "score"
    assert len(max(seen, key=len)) <= MOST_STEPS, max(seen, key=len)
