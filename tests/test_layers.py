"""Imports run one way: each layer only from those above it, and the five rooms never from each other."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import inpaintbench

ROOT = Path(inpaintbench.__file__).parent
LAYERS = (
    {"types", "errors", "__init__"},
    {"files", "lazily", "ranges", "storage", "mirrors"},
    {
        "tables",
        "table_files",
        "ledgers",
        "workspace",
        "video",
        "regions",
        "benchmarks",
        "catalogue",
        "view",
        "compute",
        "frozen",
        "manifest",
        "streaming",
        "steps",
        "download",
        "http_client",
        "claims",
    },
    {"executors", "models", "pages"},
    {"curation", "masks", "annotate", "export", "eval"},
    {"recipes", "workbench"},
    {"contracts"},
    {"api"},
    {"cli", "__main__"},
    {"wings"},
)
ROOMS = LAYERS[4]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


@cache
def imports_in(path: Path) -> tuple[tuple[ast.Import | ast.ImportFrom, bool], ...]:
    """The import statements of a module, those of its functions too, and whether they are for type checkers alone."""
    found = []
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text()), False)]
    while waiting:
        node, unseen = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append((node, unseen))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += [(inner, True) for inner in node.body] + [(inner, unseen) for inner in node.orelse]
        elif not isinstance(node, ast.expr):  # which holds no statement
            waiting += [(inner, unseen) for inner in ast.iter_child_nodes(node)]
    return tuple(found)


def imports_of(path: Path) -> set[str]:
    """The parts of the package that a module imports."""
    found = set()
    for node, _ in imports_in(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("inpaintbench.")}
    return {part for part in found if part in LEVEL}


def test_each_layer_imports_only_from_those_above_it() -> None:
    paths = sorted(ROOT.rglob("*.py"))
    assert len(paths) > 30
    for path in paths:
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part == "__init__":  # for type checkers alone; at run time it imports nothing before a name is asked for
            assert imports_of(path) <= {"api", "eval"}
            continue
        for other in imports_of(path) - {part}:
            assert LEVEL[other] <= LEVEL[part], f"{path.relative_to(ROOT)} imports {other}"
            assert not {part, other} <= ROOMS, f"the room {part} imports the room {other} in {path.relative_to(ROOT)}"


def test_no_module_is_imported_by_what_it_imports() -> None:
    """Neither at the top nor where a function imports later what it needs."""
    paths = [path.relative_to(ROOT.parent).with_suffix("") for path in ROOT.rglob("*.py")]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    left = {name: _imported(name, modules) - {name} for name in modules}
    while free := [name for name, wanted in left.items() if not wanted & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"imported in a circle: {', '.join(sorted(left))}"


@pytest.mark.parametrize("room", sorted(ROOMS | {"recipes", "workbench", "api", "cli", "wings", "video", "models", "executors"}))
def test_folders_of_a_room_stand_on_floors(room: str) -> None:
    """What stands directly in a room can be put in an order in which each imports only from those before it."""
    wanted: dict[str, set[str]] = {}
    for path in (ROOT / room).rglob("*.py"):
        here = path.relative_to(ROOT / room).parts[0].removesuffix(".py")
        for node, _ in imports_in(path):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if f"{module}.".startswith(f"inpaintbench.{room}."):
                names = module.split(".")[2:3] or [alias.name for alias in node.names]
                wanted.setdefault(here, set()).update(names)
    there = {path.stem for path in (ROOT / room).iterdir()} - {"__init__"}
    left = {name: wanted.get(name, set()) & there - {name} for name in there}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"in {room} these import each other: {', '.join(sorted(left))}"


def _imported(name: str, modules: set[str]) -> set[str]:
    """The modules that a module imports, or imports something of, but for type checkers alone."""
    path = ROOT.parent / name.replace(".", "/")
    module = path.with_suffix(".py")
    found: set[str] = set()
    for node, for_checkers in imports_in(module if module.exists() else path / "__init__.py"):
        if isinstance(node, ast.ImportFrom) and node.module and not for_checkers:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in modules else node.module for one in names}
    return found & modules


def test_only_video_opens_videos_and_images() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "video" and path.name != "second_decoder.py":
            text = path.read_text()
            for call in ("VideoCapture", "av.open", "Image.open", "imread"):
                assert call not in text, f"{path.relative_to(ROOT)} opens media with {call}"


def test_decoding_never_passes_interpolation_flags() -> None:
    for path in (ROOT / "video").glob("*.py"):
        assert "interpolation=" not in path.read_text().split('"""', 2)[2], path.name


def test_the_parts_of_masks_can_be_read_one_after_the_other() -> None:
    room = ROOT / "masks"
    parts = {path.stem for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    needs: dict[str, set[str]] = {}
    for path in room.rglob("*.py"):
        part = path.relative_to(room).parts[0].removesuffix(".py")
        for node, _ in imports_in(path):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = [f"{module}.{alias.name}" for alias in node.names]
            others = {name.split(".")[2] for name in names if name.startswith("inpaintbench.masks.")}
            needs.setdefault(part, set()).update(others & parts - {part})
    order = list(TopologicalSorter(needs).static_order())
    assert order.index("axes") < order.index("generators") < order.index("axis_versions")
