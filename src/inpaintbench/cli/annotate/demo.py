"""`annotate demo`: the rater's app with a small study, at once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

from inpaintbench.annotate.study import MANIFEST
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import opened
from inpaintbench.cli.annotate.running import start
from inpaintbench.cli.options import option
from inpaintbench.errors import InputError


def demo(
    out: Annotated[Path | None, option("Folder of the study; a later demo goes on in it.", default="a new temporary one")] = None,
    port: Annotated[int, option("0 = a free one.", min=0, max=65535)] = 7860,
) -> None:
    """Try the browser app with a small study. Its films are made here; Ctrl-C ends it.

    Example: inpaintbench annotate demo --out first-look
    """
    from inpaintbench.recipes.demo_study import RATERS, is_free, write_demo_study

    folder = out or Path(tempfile.mkdtemp(prefix="inpaintbench-demo-"))
    if not (folder / MANIFEST).exists():
        if not is_free(folder):
            raise InputError(f"{str(folder)!r} is not empty and holds no study; choose another folder")
        write_demo_study(folder)
    with opened(folder, None) as found:
        study_id = found.study.study_id
        people: dict[str, Literal["rater", "admin"]] = {**dict.fromkeys(RATERS, "rater"), "Admin": "admin"}
        links = {name: found.people.invite(study_id, found.rater_id(name, role=role)) for name, role in people.items()}

    def ready(address: str) -> None:
        console.say(f"the study lies in {console.shown(folder)}; open one of these links, Ctrl-C ends the app")
        for name, secret in links.items():
            console.say(f"  {name + ':':<15}{address}/join/{secret}")

    start(folder, database=None, port=port, ready=ready)
