"""A server of this machine alone for pages and media below one folder. Parts of files are sent too, so videos can be sought."""

from __future__ import annotations

import re
import shutil
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.viewing import pages
from inpaintbench.eval.viewing.pages import entries

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def server(folder: Path, *, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server that listens; ``serve_forever`` answers. With port 0 the system chooses one.

    Raises:
        OSError: the port is taken.
    """
    root = folder.resolve()

    class Handler(_Handler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(root))

    return ThreadingHTTPServer((host, port), Handler)


class _Handler(SimpleHTTPRequestHandler):
    """Files as they are, but for the addresses of pages that are made when they are asked for."""

    _left: int | None = None
    """Bytes that are still to be sent of the part that was asked for; None for whole files."""

    def do_GET(self) -> None:
        """Answer with a page or with a file."""
        asked = urlsplit(self.path)
        try:
            page = self._made(asked.path, {name: values[0] for name, values in parse_qs(asked.query).items()})
        except (InpaintBenchError, ValueError) as error:
            self.send_error(HTTPStatus.NOT_FOUND, explain=str(error))
            return
        if page is None:
            super().do_GET()
            return
        data = page.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _made(self, path: str, query: dict[str, str]) -> str | None:
        root = Path(self.directory)
        if path == "/":
            return pages.listing(entries(root), root)
        if path == "/.compare":
            one, other = (self._inside(query.get(name, "")) for name in ("one", "other"))
            return pages.comparison(root, one, other)
        if path == "/.dataset":
            at = self._inside(query.get("at", ""))
            return pages.dataset_page(root, at, part=query.get("part", ""), start=int(query.get("start", "0")))
        return None

    def _inside(self, name: str) -> str:
        root = Path(self.directory)
        if not (root / name).resolve().is_relative_to(root):
            raise ValueError(f"{name!r} lies outside the folder that is shown")
        return name

    def send_head(self) -> Any:
        """The head of a file, or of the part of it that was asked for."""
        place = Path(self.translate_path(self.path))
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        self._left = None
        if not place.resolve().is_relative_to(Path(self.directory)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        if asked is None or not place.is_file():
            return super().send_head()
        size = place.stat().st_size
        begin = int(asked[1]) if asked[1] else max(0, size - int(asked[2] or 0))
        end = min(int(asked[2]), size - 1) if asked[1] and asked[2] else size - 1
        if begin > end:
            self.send_error(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            return None
        file = place.open("rb")
        file.seek(begin)
        self._left = end - begin + 1
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(str(place)))
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(self._left))
        self.end_headers()
        return file

    def end_headers(self) -> None:
        """Files may be written anew while they are looked at, so nothing is kept, and parts may be asked for."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: BinaryIO) -> None:  # type: ignore[override]
        """Send a file, or as much of it as was asked for."""
        if self._left is None:
            shutil.copyfileobj(source, outputfile)
            return
        while self._left > 0 and (piece := source.read(min(1 << 16, self._left))):
            outputfile.write(piece)
            self._left -= len(piece)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Say nothing of requests."""
