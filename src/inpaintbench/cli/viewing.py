"""`view`: reports, datasets and runs of a folder in the browser."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.cli.options import Port
from inpaintbench.errors import InputError
from inpaintbench.eval.viewing.pages import address, entries, server


def view(path: Path = Path(), *, port: Port = 0, host: str = "127.0.0.1", open_browser: bool = True) -> None:
    """Show reports, datasets and runs of a folder in the browser.

    Args:
        path: A run, a report, a dataset, or a folder that holds several. [default: here]
        port: Port of this machine. [default: a free one]
        host: Address to listen on; another than this machine's shows the folder to others.
        open_browser --browser/--no-browser: Open a browser too.

    Example: inpaintbench view RUN
    """
    folder = path.parent if path.is_file() else path
    found = entries(folder)
    try:
        listening = server(folder, host=host, port=port)
    except OSError as error:
        raise InputError(f"port {port} of {host} cannot be used: {error.strerror}; choose another with --port") from error
    reports = [entry for entry in found if entry.kind == "report"]
    page = f"/{path.name}" if path.is_file() else address(reports[0].path) if len(found) == len(reports) == 1 else "/"
    where = f"http://{host}:{listening.server_port}{page}"
    console.say(f"{len(found)} to open; Ctrl-C ends it. {where}")
    if open_browser:
        webbrowser.open(where)
    with listening, suppress(KeyboardInterrupt):
        listening.serve_forever()
