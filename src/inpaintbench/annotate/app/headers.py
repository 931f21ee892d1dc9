"""The headers of every answer. Pages get a content security policy that allows their own inline scripts by hash."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inpaintbench.annotate.app.allowed import Message, Rule, Send

# Scripts within a page; those with `src` are allowed by `'self'`.
_INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), display-capture=()"),
)
# Headers of Gradio and uvicorn that say what serves, open the server to other sites, or would weaken the policy.
# Times of files say in which order they were made, and with it which method is which.
_DROPPED = (b"server", b"access-control-", b"content-security-policy", b"x-powered-by", b"last-modified")
# A year, as browsers' own lists ask for.
_HSTS = ("Strict-Transport-Security", "max-age=31536000")


@dataclass(frozen=True)
class Delivery:
    """How answers reach browsers."""

    secure: bool = False
    """Over TLS, here or at a proxy: browsers are told to come no other way."""
    embed: tuple[str, ...] = ()
    """Origins whose pages may show the app in a frame."""
    post_to: tuple[str, ...] = ()
    """Origins to which the page hands in a form, beside its own."""

    @property
    def ancestors(self) -> str:
        """Sources of ``frame-ancestors``."""
        return " ".join(self.embed) or "'none'"

    @property
    def nothing(self) -> str:
        """Policy of everything but Gradio's pages: it loads and runs nothing."""
        return (
            "default-src 'none'; base-uri 'none'; form-action 'self'; "
            f"frame-ancestors {self.ancestors}; style-src 'unsafe-inline'"
        )

    def cookie(self, name: str, value: str, *, seconds: int) -> str:
        """``Set-Cookie`` of the session. In another site's frame browsers keep it apart for that site (``Partitioned``)."""
        same_site = "none" if self.embed else "lax"
        parts = [f"{name}={value}", "HttpOnly", f"Max-Age={seconds}", "Path=/", f"SameSite={same_site}"]
        return "; ".join([*parts, *["Secure"] * self.secure, *["Partitioned"] * bool(self.embed)])


def page_policy(html: bytes, delivery: Delivery = Delivery()) -> str:
    """The content security policy of a Gradio page. Gradio compiles templates (``unsafe-eval``) and styles elements."""
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _INLINE.findall(html)]
    scripts = " ".join(f"'sha256-{digest}'" for digest in dict.fromkeys(hashes))
    forms = " ".join(["'self'", *delivery.post_to])
    return (
        f"default-src 'none'; script-src 'self' 'unsafe-eval' {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; media-src 'self' blob:; connect-src 'self'; "
        f"base-uri 'self'; form-action {forms}; frame-ancestors {delivery.ancestors}"
    )


def guarded(send: Send, rule: Rule | None, *, delivery: Delivery) -> Send:
    """A ``send`` that adds the headers; it holds pages back until their scripts are known."""
    held: list[Message] = []

    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = _headers(message, rule, delivery)
            is_page = rule is not None and rule.kind == "page" and message["status"] == 200
        else:
            is_page = bool(held)
        if not is_page:
            await send(message)
            return
        held.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            policy = page_policy(b"".join(part.get("body", b"") for part in held), delivery)
            held[0]["headers"] = [header for header in held[0]["headers"] if header[0] != b"content-security-policy"]
            held[0]["headers"].append((b"content-security-policy", policy.encode()))
            for part in held:
                await send(part)

    return add


def _headers(message: Message, rule: Rule | None, delivery: Delivery) -> list[tuple[bytes, bytes]]:
    given = [(name.lower(), value) for name, value in message.get("headers", [])]
    headers = [(name, value) for name, value in given if not name.startswith(_DROPPED)]
    # With `no-referrer` browsers send `Origin: null` with forms. The address of the login page holds no secret.
    policy = "same-origin" if rule is not None and rule.path.pattern == "/login" else "no-referrer"
    added = [*_ALWAYS, ("Content-Security-Policy", delivery.nothing), ("Referrer-Policy", policy)]
    added += [("X-Frame-Options", "DENY")] * (not delivery.embed) + [_HSTS] * delivery.secure
    names = {name for name, _ in headers}
    if rule is not None and rule.of_gradio and rule.kind == "file" and message["status"] == 200:
        # Gradio's tags are made of file times; the names of its files are hashes already.
        headers = [(name, value) for name, value in headers if name not in (b"cache-control", b"etag")]
        added.append(("Cache-Control", "private, max-age=86400"))
    elif b"cache-control" not in names or rule is None or rule.kind != "file":
        headers = [(name, value) for name, value in headers if name != b"cache-control"]
        added.append(("Cache-Control", "no-store"))
    return headers + [(name.lower().encode(), value.encode()) for name, value in added]
