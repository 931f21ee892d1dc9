"""Bytes and names of what browsers fetch: the same for all methods of an item, so that their order tells nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inpaintbench.annotate.preparing.prepare import _as_large, _publish
from inpaintbench.annotate.preparing.proxies import MadeProxy
from inpaintbench.annotate.study import PROXIES, Study, parse_study
from inpaintbench.workspace import Blobs

TILES = '[{"candidate":"%s","height":2,"role":"candidate","width":2,"x":0,"y":0}]'


def test_files_of_a_subject_are_alike_whatever_methods_they_show(tmp_path: Path) -> None:
    """One method's film is small enough for slow lines as it is, another's has a light encoding beside it."""
    blobs = Blobs(tmp_path / "study" / "making")

    def put(content: bytes) -> str:
        return blobs.put(".mp4", lambda path: path.write_bytes(content))[0]

    calm = MadeProxy("a", put(b"c" * 400), 9, 25.0, 2, 2, TILES % "calm", flicker_added=0.1)
    noisy = MadeProxy("b", put(b"n" * 900), 9, 25.0, 2, 2, TILES % "noisy", light_blob=put(b"l" * 300), light_flicker_added=0.4)
    alone = replace(calm, proxy_id="c", tiles=TILES % "alone")
    rows = {("item1", ("calm",)): calm, ("item1", ("noisy",)): noisy, ("item2", ("calm",)): alone}
    proxies = _as_large(rows, blobs)
    first, second, third = proxies.values()
    assert (first.bytes, first.light_bytes) == (second.bytes, second.light_bytes) == (912, 412)
    assert (third.bytes, third.light, third.light_bytes) == (412, "", 0)
    assert len({first.name, first.light, second.name, second.light, third.name}) == 5
    assert {len(proxy.light) for proxy in (first, second)} == {len(first.name)}
    assert (first.light_flicker_added, second.light_flicker_added) == (0.1, 0.4)
    fields = {"title": "T", "subjects": {"dataset": "d", "runs": ["r"]}, "questions": [{"leaf": "mean_opinion"}]}
    file = parse_study(fields, where="", folder=tmp_path)
    blob_of = {proxies[shown].name: row.blob for shown, row in rows.items()}
    blob_of |= {first.light: calm.blob, second.light: noisy.light_blob}
    _publish(Study("s", file, (), {proxy.name: proxy for proxy in proxies.values()}), tmp_path / "study", blob_of, [])
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "study" / PROXIES).iterdir()}
    assert sizes == {first.name: 912, second.name: 912, third.name: 412, first.light: 412, second.light: 412}
