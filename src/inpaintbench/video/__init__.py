"""Probing, decoding and encoding of video and images; no other module opens media.

The published file is the truth. A clip is encoded once, and its pixels are by definition those that decoding yields, so decoding
has one form: PyAV, frames in presentation order, PyAV's default conversion to RGB. Passing ``interpolation=`` to the conversion
changes pixels by up to 190 levels at colour edges, so nothing here does.

A clip of one frame is a PNG image and is never encoded as video: every reader and writer here distinguishes the two by the
suffix of the path, from ``suffix_for``.

Encoded bytes repeat for one platform, PyAV version and encoder (``encoding`` chooses it): one thread, and bit-exact containers
without clock times.
"""

from __future__ import annotations

from inpaintbench.lazily import names_of_stub

# Names come from where the stub beside this file says, when they are asked for: opening media takes two libraries that most
# commands do without.
__all__ = names_of_stub(__name__, __file__)
