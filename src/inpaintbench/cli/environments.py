"""`eval layouts env`: what a released program is installed with today."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.options import Among
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.environments import beside, environments, requirements


def environment(name: Annotated[str, Among(environments())], *, out: Path | None = None) -> None:
    """Print or write what a released program is installed with today, with what replaces its packages that no longer install.

    Args:
        name (NAME): One of: {names}.
        out: Folder for requirements.txt and what it names beside it. [default: it is printed]

    Example: inpaintbench eval layouts env e2fgvi-hq --out ENVIRONMENT
    """
    text, files = requirements(name), beside(name)
    if out is None:
        console.say(text.rstrip("\n"))
        for file in files:
            console.say(f"# {file}, which replaces a package, is written by --out FOLDER")
        return
    written = {"requirements.txt": text, **files}
    for file, words in written.items():  # nothing of anybody else is written over
        if (out / file).exists() and (out / file).read_text(encoding="utf-8") != words:
            raise InputError(f"{str(out / file)!r} is there already and says something else; give another --out")
    out.mkdir(parents=True, exist_ok=True)
    for file, words in written.items():
        (out / file).write_text(words, encoding="utf-8")
        console.say(f"wrote {out / file}")
    venv = out / "venv"
    console.say(f"uv venv {venv} && uv pip install --python {venv} --requirement {out / 'requirements.txt'}")
    if files:
        console.say(f"export PYTHONPATH={out.absolute()}")
    console.tell_next("eval", "check", f"{name},python={venv / 'bin' / 'python'}", "--program", "FOLDER")
