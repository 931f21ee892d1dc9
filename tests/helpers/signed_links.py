"""Links as Prolific signs them, and a local server of the keys that they are checked with."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa


@dataclass
class Keys:
    """The platform's side: its private key, and where its public ones are."""

    address: str = ""
    asked: int = 0
    """How often somebody fetched the keys."""
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    @property
    def text(self) -> str:
        """The key set."""
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        return json.dumps({"keys": [{**key, "kid": "one", "alg": "RS256", "use": "sig", "key_ops": ["verify"]}]})

    def link(self, said: Mapping[str, str], *, kid: str = "one", alg: str = "RS256", by: str = "", **claims: Any) -> str:
        """The query of a signed link; ``claims`` in place of the usual ones, None leaves one out."""
        usual = {
            "iss": "https://www.prolific.com", "aud": "https://study.test/enter", "exp": time.time() + 300,
            "prolific": {**said, "workspace_id": "1" * 24},
        }  # fmt: skip
        made = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        key: Any = rsa.generate_private_key(65537, 2048) if by else self.private
        key = {"none": None, "HS256": "a secret of 32 bytes and of some more"}.get(alg, key)
        return urlencode({**said, "prolific_token": jwt.encode(made, key, algorithm=alg, headers={"kid": kid})})


@contextlib.contextmanager
def key_server() -> Iterator[Keys]:
    """A running server of the key set."""
    made = Keys()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked += 1
            body = made.text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.address = f"http://127.0.0.1:{server.server_address[1]}/.well-known/study/jwks.json"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
