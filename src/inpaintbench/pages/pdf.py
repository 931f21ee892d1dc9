"""PDF files with the same bytes for the same picture."""

from __future__ import annotations

import re

_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_OFFSET = re.compile(rb"(\d{10}) 00000 n")
# Entries that the drawer names by a letter or two and a number (`/xo2 14 0 R`): the resources of a page.
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ .*\n){2,}", re.MULTILINE)


def stable_pdf(pdf: bytes) -> bytes:
    """Return the document with its objects and resources in one order; its content is the same.

    vl-convert writes both in the order of a hash map, which changes from call to call. Here objects are numbered in the order in
    which they are referred to, from the trailer on, and resources are sorted by name.
    """
    table, _, end = pdf.rpartition(b"startxref")
    place = int(end.split()[0])
    trailer = table[table.rindex(b"trailer") :]
    starts = [int(offset) for offset in _OFFSET.findall(pdf, place)]
    ends = dict(zip(sorted(starts), [*sorted(starts)[1:], place], strict=True))
    objects = {}
    for number, start in enumerate(starts, 1):
        # The bytes of a stream may look like a reference: only the dictionary before it is rewritten.
        dictionary, *stream = re.split(rb"(?=\bstream\n)", pdf[start : ends[start]].partition(b" obj")[2], maxsplit=1)
        objects[number] = _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), dictionary), *stream
    numbers, queue = dict[int, int](), _referred(trailer)
    for number in queue:
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            queue += _referred(objects[number][0])

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda match: b"%d 0 R" % numbers[int(match[1])], text)

    stable, offsets = pdf[: min(starts)], [b"%010d 65535 f\r\n" % 0]
    for number in numbers:
        dictionary, *stream = objects[number]
        offsets.append(b"%010d 00000 n\r\n" % len(stable))
        stable += b"%d 0 obj%s%s" % (numbers[number], renumbered(dictionary), b"".join(stream))
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % len(offsets), renumbered(trailer))
    return b"%sxref\n0 %d\n%s%sstartxref\n%d\n%%%%EOF" % (stable, len(offsets), b"".join(offsets), trailer, len(stable))


def _referred(text: bytes) -> list[int]:
    return [int(number) for number in _REFERENCE.findall(text)]
