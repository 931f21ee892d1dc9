"""Client behind a proxy: its address and scheme, believed where a proxy that the owner named says them, and nowhere else."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

# Proxies in a row, at most; longer lists are somebody's attempt.
_MOST_HOPS = 10


class Forwarded:
    """Reader of ``X-Forwarded-For`` and ``X-Forwarded-Proto``.

    Args:
        trusted: addresses and networks of the proxies in front, such as ``127.0.0.1`` or ``10.0.0.0/8``; with none, nothing
            that a request claims is believed.

    Raises:
        InputError: one is neither an address nor a network.
    """

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        try:
            self._trusted = [ipaddress.ip_network(network.strip()) for network in trusted]
        except ValueError as error:
            raise InputError(f"a trusted proxy is an address or a network, such as 127.0.0.1 or 10.0.0.0/8: {error}") from error

    def client(self, headers: Headers, *, peer: str) -> str:
        """Address of whoever asks: from the right, the first one that is no trusted proxy.

        The left of the list is whatever the client wrote. A list that is malformed or too long counts as none.
        """
        if not self._trusts(peer):
            return peer
        hops = [hop.strip() for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        if not 0 < len(hops) <= _MOST_HOPS:
            return peer
        for hop in reversed(hops):
            if not _is_address(hop):
                return peer
            if not self._trusts(hop):
                return hop
        return hops[0]

    def scheme(self, headers: Headers, *, peer: str, scheme: str) -> str:
        """``http`` or ``https`` as the browser sees it; ``scheme`` is that of the connection."""
        said = headers.getlist("x-forwarded-proto")
        return said[0] if self._trusts(peer) and len(said) == 1 and said[0] in ("http", "https") else scheme

    def _trusts(self, address: str) -> bool:
        if not _is_address(address):
            return False
        parsed = ipaddress.ip_address(address)
        plain = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(plain in network for network in self._trusted)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
