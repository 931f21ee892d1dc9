"""Commands that make what another one goes on with end by naming that one; the others show something, or end a way."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import typer

from inpaintbench.cli import app
from inpaintbench.cli.build.running import Build

# They print, draw or change what is there, and nothing in particular follows.
NOTHING_FOLLOWS = {
    "doctor", "view", "leaf check", "models list", "models fetch", "models verify", "models import",
    "curation answers", "curation why", "curation funnel", "curation rejected",
    "masks render", "masks presets", "masks preview", "export convert", "export diff",
    "annotate demo", "annotate studies", "annotate serve", "annotate invite", "annotate raters", "annotate revoke",
    "annotate crowd", "annotate withdraw", "annotate close", "annotate resume", "annotate exclude", "annotate include",
    "annotate screen", "annotate status", "annotate plan", "annotate agreement", "annotate ranking", "annotate report",
    "annotate resolve", "annotate import", "annotate backup", "annotate restore", "annotate platform places", "annotate upload",
    "eval check", "eval verify", "eval run --for folders", "eval table", "eval figure", "eval table --for rows",
    "eval report --for analysis", "eval diagnose", "eval compare", "eval list",
}  # fmt: skip
# Tell what follows in words of their own, since it is no command or several.
IN_WORDS = {
    "demo": "open the report in a browser", "annotate space": "hf upload", "annotate new": "then `inpaintbench annotate prepare",
    "annotate prepare": "next: {invite}`inpaintbench annotate serve",
    "annotate platform draft": "publish it there", "annotate platform settle": "the same with --yes",
    "annotate export": "Label Studio", "eval report --for hub": "goes into the repository",
}  # fmt: skip


def commands(group: Any = None, name: str = "") -> Iterator[tuple[str, Any]]:
    group = typer.main.get_command(app) if group is None else group
    if not hasattr(group, "list_commands"):
        yield name, inspect.unwrap(group.callback)
        return
    context = typer.Context(group)
    for part in group.with_parts():
        yield from commands(group.get_command(context, part), f"{name} {part}".strip())


def tells_next(function: Any, seen: set[Any]) -> bool:
    """Whether a function of the command line calls ``console.tell_next`` or makes a ``Next``, itself or through others."""
    if (
        not isinstance(function, FunctionType)
        or function in seen
        or not function.__module__.startswith(("inpaintbench.cli", "inpaintbench.wings"))
    ):
        return False
    seen.add(function)
    names = set(function.__code__.co_names)
    known = function.__globals__ | (vars(Build) if "build" in function.__code__.co_varnames else {})
    for module in [known[name] for name in names if isinstance(known.get(name), ModuleType)]:
        known = vars(module) | known
    known |= vars(function.__globals__.get("Fetch", object))  # methods of what every fetch is asked
    return bool({"tell_next", "Next"} & names) or any(tells_next(known.get(name), seen) for name in names)


def silent(*, of_wings: bool) -> set[str]:
    """Commands of wings, or the others, that tell no command that follows."""
    found = {name: one for name, one in commands() if one.__module__.startswith("inpaintbench.wings") == of_wings}
    return {name for name, command in found.items() if not tells_next(command, set())}


def test_commands_tell_what_follows() -> None:
    found = dict(commands())
    assert silent(of_wings=False) == NOTHING_FOLLOWS | set(IN_WORDS)
    for name, words in IN_WORDS.items():
        assert words in inspect.getsource(inspect.getmodule(found[name])), name
