"""A web site of small videos and pictures, some of them bad, and lists of their addresses."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from web_server import Answer, WebServer

from inpaintbench import video
from inpaintbench.download import Limits

HERE = Limits(allow_private=True, tries=2)


def clip_bytes(folder: Path, seed: int, *, frames: int = 6) -> bytes:
    """A small video of noise, different for each seed."""
    path = folder / f"clip-{seed}.mp4"
    if not path.exists():
        pixels = np.random.default_rng(seed).integers(0, 256, (frames, 48, 64, 3), dtype=np.uint8)
        video.write_lossless(path, pixels, fps=25.0)
    return path.read_bytes()


def streamable_bytes(folder: Path, *, frames: int = 40) -> bytes:
    """A video whose index comes first, so that a cut one still opens."""
    path = folder / "streamable.mp4"
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=25, options={"bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for seed in range(frames):
            pixels = np.random.default_rng(seed).integers(0, 256, (48, 64, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path.read_bytes()


def write_list(path: Path, *rows: str, columns: str = "url,licence,author,page,title,uploaded") -> Path:
    path.write_text("\n".join([columns, *rows]) + "\n")
    return path


def mixed_site(server: WebServer, folder: Path) -> Path:
    """A list of eight addresses: two good videos, one gone, one forbidden, one no video, one cut in the middle, one overloaded
    server, one that the server never stops sending."""
    good = clip_bytes(folder, 1)
    server.say("/one.mp4", Answer(good, etag='"1"'))
    server.say("/two.mp4", Answer(clip_bytes(folder, 2), etag='"2"', headers={"Content-Type": "video/mp4"}))
    server.say("/gone.mp4", Answer(status=410))
    server.say("/forbidden.mp4", Answer(status=403))
    server.say("/page.mp4", Answer(b"<html>not a video</html>"))
    server.say("/half.mp4", Answer(good[: len(good) // 2], etag='"3"'))
    server.say("/busy.mp4", Answer(status=503))
    server.say("/endless.mp4", Answer(endless=True))
    names = ("one", "two?token=secret", "gone", "forbidden", "page", "half", "busy", "endless")
    addresses = [server.url("/" + name.replace("?", ".mp4?") + ("" if "?" in name else ".mp4")) for name in names]
    rows = [f'{url},CC-BY-2.0,"Ann, B.",https://page.test/{place},Title {place},2018' for place, url in enumerate(addresses)]
    return write_list(folder / "list.csv", *rows)
