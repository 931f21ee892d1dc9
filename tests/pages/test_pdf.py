"""PDF files of equal pictures are equal, whatever order the drawer takes, and every object lies where the file says."""

from __future__ import annotations

import re

import altair
import vl_convert

from inpaintbench.pages.plots import paper_svg, stable_pdf

ROWS = [{"x": place, "method": name} for place, name in enumerate("abcd")]


def drawn() -> bytes:
    """A picture with several fonts and see-through marks, whose order changes from call to call."""
    base = altair.Chart(altair.Data(values=ROWS)).encode(x="x:Q", y="x:Q", color="method:N")
    bold = base.mark_text(fontStyle="italic", fontWeight=700).encode(text="method:N")
    return vl_convert.svg_to_pdf(paper_svg(altair.layer(base.mark_point(opacity=0.5), bold).properties(title="Scores")))


def test_equal_pictures_are_equal_bytes() -> None:
    given = [drawn() for _ in range(4)]
    assert len(set(given)) > 1
    assert len({stable_pdf(pdf) for pdf in given}) == 1


def test_every_object_lies_where_the_table_says_and_keeps_its_stream() -> None:
    given = drawn()
    pdf = stable_pdf(given)
    table = int(pdf.split()[-2])
    assert pdf[table:].startswith(b"xref\n")
    offsets = [int(offset) for offset in re.findall(rb"(\d{10}) 00000 n", pdf[table:])]
    assert [pdf[offset:].split(maxsplit=1)[0] for offset in offsets] == [b"%d" % number for number in range(1, len(offsets) + 1)]
    assert f"/Size {len(offsets) + 1}".encode() in pdf[table:]
    streams = [set(re.findall(rb"(?s)\bstream\n(.*?)\nendstream", one)) for one in (given, pdf)]
    assert streams[0] == streams[1]
    assert stable_pdf(pdf) == pdf
