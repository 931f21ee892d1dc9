"""The leaf that fetches what a list names."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from web_footage import HERE, write_list
from web_server import Answer, WebServer

from inpaintbench.errors import Gone, Rejected, UnknownNameError
from inpaintbench.wings.fetch.lists import UrlList


def test_a_listed_file_is_fetched_and_asked_for_again(tmp_path: Path) -> None:
    with WebServer() as server:
        path = write_list(tmp_path / "list.csv", server.say("/a.mp4", Answer(b"bytes")) + ",CC0-1.0", columns="url,licence")
        leaf = UrlList(list=str(path), allow_private=True)
        (candidate,) = leaf.candidates()
        path.unlink()  # workers may be on another machine
        fetched = leaf.fetch(candidate, part=tmp_path / "part", limits=HERE)
        assert fetched.path.read_bytes() == b"bytes"
        assert fetched.received.sha256 == hashlib.sha256(b"bytes").hexdigest()
        assert (fetched.licence, leaf.licence_of(candidate).name) == (None, "CC0-1.0")
        assert server.seen[-1].method == "HEAD"
        server.say("/a.mp4", Answer(status=404))
        with pytest.raises(Gone):
            leaf.licence_of(candidate)
        with pytest.raises(Rejected, match="loopback"):
            UrlList(list=str(path)).licence_of(candidate)


def test_media_are_videos_or_images(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'image'"):
        UrlList(list="list.csv", media="images")
