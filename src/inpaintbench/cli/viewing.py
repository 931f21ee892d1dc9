"""`view`: what lies in folders, looked at together in the browser."""

from __future__ import annotations

import webbrowser
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from inpaintbench import video
from inpaintbench.cli import console
from inpaintbench.cli.options import More, Port, parse_dataset, takes_addresses
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.mirrors import lying_in
from inpaintbench.pages.words import count
from inpaintbench.storage import Address, is_there, place

manifest = lazily("inpaintbench.manifest")
# Files that say what the folder is that they lie in, besides that of a dataset.
_TELLING = ("workspace.json", "report.json", "study.json")


@takes_addresses
def parse_viewed(text: str) -> Path:
    """A folder, a page, a dataset of the Hub, or what of these lies at an address; a file that tells of its folder stands for it.

    Raises:
        InputError: another file, or nothing at an address. NetworkError: the Hub or the store cannot be reached, or does not show
            such a dataset.
    """
    path = place(text)
    if isinstance(path, Address):
        return parse_dataset(text) if is_there(path / manifest.MANIFEST) else lying_in(path)
    if not path.is_file() or path.suffix == ".html":
        return path if path.exists() else parse_dataset(text)
    if path.name in (manifest.MANIFEST, *_TELLING):
        return path.parent
    films = "`inpaintbench curation clips --sources FOLDER --out WORKSPACE` makes a workspace of films, which can be viewed"
    what = f"a film; {films}" if path.suffix.lower() in video.VIDEO_SUFFIXES else "a file; give the folder of what it belongs to"
    raise InputError(f"{text!r} is {what}")


def view(
    paths: Annotated[list[Path] | None, More(parser=parse_viewed)] = None,
    *,
    port: Port = 0,
    host: str = "127.0.0.1",
    open_browser: bool = True,
) -> None:
    """Show runs and datasets beside each other in the browser.

    Any runs are compared on the items that they have in common; every item plays, with all methods in step. What you see is in
    the page's address. Nothing is written but notes and flags, into inpaintbench-notes.json of the first folder; of one in a
    bucket they stay on this machine.

    Args:
        paths (FOLDER): Runs, datasets, workspaces, reports, their addresses, or folders that hold several; datasets of the
            Hub as OWNER/NAME[@REVISION]. [default: here]
        port: Port of this machine. [default: a free one]
        host: Address to listen on; another than this machine's shows the folders to whoever has the address with its token.
        open_browser --browser/--no-browser: Open a browser too.

    Example: inpaintbench view RUN
    """
    from inpaintbench.workbench.server import Server, opening  # all that is shown; the help needs none of it

    given = paths or [Path()]
    folders = [path.parent if path.is_file() else path for path in given]
    try:
        listening = Server(folders, host=host, port=port)
    except OSError as error:
        raise InputError(f"port {port} of {host} cannot be used: {error.strerror}; choose another with --port") from error
    where = listening.address(opening(listening.bench.things(), given))
    kinds = Counter(thing.kind for thing in listening.bench.things())
    console.say(f"{', '.join(count(n, kind) for kind, n in kinds.items())}; Ctrl-C ends it. {where}")
    if open_browser:
        webbrowser.open(where)
    with listening, suppress(KeyboardInterrupt):
        listening.serve_forever()
