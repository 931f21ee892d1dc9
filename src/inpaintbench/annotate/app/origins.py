"""Which names this server answers to, and which pages may send it something."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

_HOST = re.compile(r"(?P<name>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?", re.ASCII)
_ANY_ADDRESS = ("0.0.0.0", "::", "")


class WrongHost(Exception):
    """The request was meant for another server, as after DNS rebinding."""


@dataclass(frozen=True)
class Origins:
    """The server's own names."""

    bound: str = "127.0.0.1"
    """What the socket is bound to."""
    public: str | None = None
    """``https://name[:port]`` as browsers see it, where something in front of the server ends TLS."""

    def __post_init__(self) -> None:
        if self.public is not None:
            parts = urlsplit(self.public)
            if parts.scheme not in ("http", "https") or not parts.hostname or self.public != f"{parts.scheme}://{parts.netloc}":
                raise InputError(f"{self.public!r} is no origin; write it as https://name or https://name:port")

    def of(self, headers: Headers, *, scheme: str) -> str:
        """The origin that the browser sees.

        Args:
            headers: of the request.
            scheme: of the connection to this server.

        Raises:
            WrongHost: no ``Host``, or none of the server's names.
        """
        host = headers.get("host", "").lower()
        if self.public is not None and host == urlsplit(self.public).netloc.lower():
            return self.public.lower()
        found = _HOST.fullmatch(host)
        if found is None or not self._answers_to(found["name"].strip("[]")):
            raise WrongHost(host)
        return f"{scheme}://{host}"

    def _answers_to(self, name: str) -> bool:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in ("localhost", self.bound.lower(), *self._machine())
        # An address in `Host` was typed by a person: rebinding needs a name.
        return address.is_loopback or name == self.bound or self.bound in _ANY_ADDRESS

    def _machine(self) -> tuple[str, ...]:
        return (socket.gethostname().lower(),) if self.bound in _ANY_ADDRESS else ()


def is_own(headers: Headers, *, origin: str, must_tell: bool) -> bool:
    """Whether a page of this very server sends the request.

    Args:
        headers: of the request.
        origin: of this server.
        must_tell: whether a request that says nothing of its origin is refused; programs say nothing, browsers do.
    """
    site, told = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    if told is not None and told.lower() != origin:
        return False
    return told is not None or not must_tell
