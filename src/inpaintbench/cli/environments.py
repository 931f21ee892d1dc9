"""`eval layouts env`: what a released program is installed with today."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.options import Among
from inpaintbench.cli.words import check_name
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.environments import beside, conda_file, environments, python_of, requirements

# Form -> what writes it, its file, the folder that is made of it, and how, with places for both and for the Python.
FORMS = {
    "uv": (
        requirements, "requirements.txt", "venv",
        "uv venv --python {2} {0} && uv pip install --python {0} --requirement {1}",
    ),
    "conda": (conda_file, "environment.yml", "conda", "conda env create --prefix {0} --file {1}"),
}  # fmt: skip


def environment(
    name: Annotated[str, Among(environments())], *, form: Annotated[str, Among(tuple(FORMS))] = "uv", out: Path | None = None
) -> None:
    """Print or write what a released program is installed with today, with what replaces its packages that no longer install.

    Args:
        name (NAME): One of: {names}.
        form: Of the file: {names}; uv is requirements.txt, for pip too, and conda is environment.yml, for mamba too.
        out: Folder for the file and what it names beside it. [default: it is printed]

    Example: inpaintbench eval layouts env e2fgvi-hq --out ENVIRONMENT
    """
    check_name("form of an environment", form, list(FORMS))
    writer, file_name, folder, how = FORMS[form]
    text, files = writer(name), beside(name)
    if out is None:
        console.say(text.rstrip("\n"))
        for module in files:
            console.say(f"# {module}, which replaces a package, is written by --out FOLDER")
        return
    made, main = out / folder, out / file_name
    written = {main: text, **{out / module: words for module, words in files.items()}}
    for file, words in written.items():  # nothing of anybody else is written over
        if file.exists() and file.read_text(encoding="utf-8") != words:
            raise InputError(f"{str(out)!r} has a {file.name} that says something else; give another --out")
    out.mkdir(parents=True, exist_ok=True)
    for file, words in written.items():
        file.write_text(words, encoding="utf-8")
        console.say(f"wrote {file}")
    console.say(how.format(made, main, python_of(name)))
    if files:
        console.say(f"export PYTHONPATH={out.absolute()}")
    console.tell_next("eval", "check", f"{name},python={made / 'bin' / 'python'}", "--program", "FOLDER")
