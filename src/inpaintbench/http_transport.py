"""HTTP transport that connects to public addresses only: guard against server-side request forgery and DNS rebinding."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from functools import lru_cache

import httpx2

from inpaintbench.errors import Rejected

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# RFC 6052: the last four bytes of these are an IPv4 address.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_IPV4_BYTES = 4


class CheckedTransport(httpx2.HTTPTransport):
    """HTTP/1.1 transport that resolves each name once, checks every address, and connects to a checked one.

    A name that resolves differently the second time (DNS rebinding) gains nothing: there is no second time. Connections are not
    kept, so none that was opened and verified for one name is used for another name at the same address.
    """

    def __init__(self, *, allow_private: bool) -> None:
        super().__init__(verify=_tls(), trust_env=False, limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0))
        self._allow_private = allow_private

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first address that accepts a connection.

        Raises:
            Rejected: an address of the host is not a public one.
            httpx2.ConnectError: the name does not resolve, or no address accepts a connection.
        """
        host = request.url.raw_host.decode("ascii")
        failure: httpx2.TransportError = httpx2.ConnectError(f"{host} has no address")
        for address in resolve(host, allow_private=self._allow_private):
            try:
                return super().handle_request(_pinned(request, address, host))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure


def _pinned(request: httpx2.Request, address: str, host: str) -> httpx2.Request:
    """Copy of the request for a fixed address; the ``Host`` header and the checked certificate stay those of the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host.strip("[]")},
    )


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()  # cached, since reading all certificates takes 20 ms


def resolve(host: str, *, allow_private: bool) -> list[str]:
    """Resolve ``host`` to all of its addresses, in the resolver's order.

    Raises:
        Rejected: one of them is not public, unless ``allow_private``.
        httpx2.ConnectError: the name does not resolve.
    """
    try:
        answers = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError(f"the name {host!r} does not resolve") from error
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    if not allow_private:
        for address in addresses:
            _require_public(host, address)
    return addresses


def _require_public(host: str, address: str) -> None:
    reason = non_public_reason(ipaddress.ip_address(address))
    if reason:
        subject = f"{host} ({address})" if host.strip("[]") != address else address
        raise Rejected(f"{subject} is {reason}; --allow-private fetches from your own network")


def non_public_reason(address: Address) -> str | None:
    """Reason why an address is not public, e.g. ``a loopback address``; None for public ones.

    IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4) are judged by that address.
    """
    embedded = _embedded_ipv4(address)
    if embedded is not None:
        return non_public_reason(embedded)
    kinds = {
        "an unspecified address": address.is_unspecified,
        "a loopback address": address.is_loopback,
        "a link-local address": address.is_link_local,
        "a site-local address": isinstance(address, ipaddress.IPv6Address) and address.is_site_local,
        "a multicast address": address.is_multicast,
        "a reserved address": address.is_reserved,
        "a private address": not address.is_global,
    }
    return next((kind for kind, holds in kinds.items() if holds), None)


def _embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(address.packed[-_IPV4_BYTES:])
    return address.ipv4_mapped or address.sixtofour
