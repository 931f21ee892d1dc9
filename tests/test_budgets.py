"""`budgets.toml` holds: no package grows beyond its lines and modules without a change of that file that says why."""

from __future__ import annotations

import ast
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

import inpaintbench

ROOT = Path(inpaintbench.__file__).parent
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


def test_the_core_names_no_wing() -> None:
    """Neither in an import nor in an address."""
    for path in ROOT.rglob("*.py"):
        if not package_of(path).startswith("wings"):
            text = path.read_text(encoding="utf-8")
            for name in BUDGETS["core"]["may_not_name"]:
                assert name not in text, f"{path.relative_to(ROOT)} names {name}"
