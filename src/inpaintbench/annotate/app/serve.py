"""Serve a study to browsers until it is told to stop."""

from __future__ import annotations

import errno
import logging
import os
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inpaintbench.annotate import study as studies
from inpaintbench.annotate.app.allowed import Delivery, Forwarded, Limits, Origins, parsed
from inpaintbench.annotate.crowd import MTURK_HOSTS
from inpaintbench.annotate.journal import backup, restore
from inpaintbench.annotate.media import check_there, origin_of, where_of
from inpaintbench.errors import InpaintBenchError, InputError, MissingExtraError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.participants import Arrival
    from inpaintbench.annotate.study import Study


# Backups while a study is served, for machines whose disk does not last: every minute that brought something, and at the end.

_LOG = logging.getLogger(__name__)


@contextmanager
def backed_up(journal: Journal, file: Path | None, *, every_seconds: float) -> Iterator[None]:
    """Keep ``file`` at most so many seconds behind the journal; None keeps none. One that fails is logged and tried again."""
    if file is None:
        yield
        return
    ended, path = threading.Event(), journal.database.path
    held: object = None

    def store() -> None:
        nonlocal held
        # By times and sizes of the journal's files a quiet study writes no backup; a server has no such files.
        files = [] if path is None else [path, path.with_name(f"{path.name}-wal")]
        try:
            facts = [one.stat() for one in files if one.exists()]
            state = [(one.st_mtime_ns, one.st_size) for one in facts]
            if path is not None and state == held:
                return
            backup(journal, file, replace=True)
            held = state
        except (InpaintBenchError, OSError) as error:
            _LOG.warning("backup %s failed, the next one is tried soon: %s", file, error)

    def keep() -> None:
        while not ended.wait(every_seconds):
            store()

    thread = threading.Thread(target=keep, name="backup", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        store()


# TCP ports are 16-bit numbers.
MOST_PORT = 65_535
# Nothing that this process loads calls another machine.
_STAYS_HERE = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_RUN_HISTORY": "False",
    "GRADIO_SSR_MODE": "False",
    "GRADIO_MCP_SERVER": "False",
    "GRADIO_SHARE": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


def serve(
    study_folder: Path,
    *,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 7860,
    public_origin: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    trusted_proxies: Sequence[str] = (),
    embed: Sequence[str] = (),
    backup: Path | None = None,
    backup_seconds: float = 60.0,
    ready: Callable[[str], None],
    warn: Callable[[str], None] | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> None:
    """Serve until SIGINT or SIGTERM; then at most a second for what is under way.

    The process works in an empty private folder meanwhile, which is removed at the end.

    Args:
        study_folder: a prepared study.
        database: of the journal: a path, ``sqlite:///path`` or ``postgresql://...``; ``journal.sqlite`` in the study by default.
            The study remembers another one.
        host: to bind to; loopback unless raters come from elsewhere.
        port: to listen on; 0 takes a free one.
        public_origin: ``https://name[:port]`` as browsers see it, where something in front of the server ends TLS.
        certificate: PEM file of the server's certificate chain; ``key`` is its key.
        key: see ``certificate``.
        trusted_proxies: addresses or networks of proxies in front, whose word on clients' addresses is taken.
        embed: origins whose pages may show the app in a frame.
        backup: file to which the journal is copied while raters are at work; where there is none, it comes back from it.
        backup_seconds: that the copy is behind at most.
        ready: called once with the address, when the pages can be opened.
        warn: called with one sentence when the server is open to others without TLS, and for a language that lacks a text.
        limits: how fast and how much anybody may ask.

    Raises:
        InputError: no prepared study, a journal that cannot be opened or is known to lie elsewhere, a port that is taken, a
            certificate that cannot be used.
        MissingExtraError: the extra ``annotate`` is not installed.
    """
    if (certificate is None) != (key is None):
        raise InputError("a certificate and its key come together; name both")
    folder = study_folder.absolute()
    with _of_the_extra():
        from inpaintbench.annotate.journal import Journal
        from inpaintbench.annotate.journal.engines import note, place
    # Before the folder changes: relative paths are those of the caller.
    url = place(database, folder)
    backup = None if backup is None else backup.absolute()
    tls = None if certificate is None or key is None else (certificate.absolute(), key.absolute())
    sentence = exposure(host, has_tls=tls is not None or (public_origin or "").startswith("https://"))
    if sentence and warn is not None:
        warn(sentence)
    # Gradio takes seconds to load: whatever can be wrong is found out before.
    study = studies.load(folder)
    for lacking in studies.missing_words(study):
        if warn is not None:
            warn(lacking)
    crowd = study.file.crowd
    knows_networks = tls is not None or public_origin is None or bool(trusted_proxies)
    if crowd is not None and not crowd.signed and crowd.places_a_network and not knows_networks and warn is not None:
        warn("people of one network cannot be told apart from others behind a proxy; name it with --trusted-proxy")
    Origins(bound=host, public=public_origin)
    forwarded = Forwarded(trusted_proxies)
    hosts = MTURK_HOSTS if crowd is not None and crowd.platform == "mturk" else ()
    where = where_of(study)
    check_there(study, folder)
    media_from = "" if where is None else origin_of(where)
    delivery = Delivery(tls is not None or urlsplit(public_origin or "").scheme == "https", tuple(embed), hosts, media_from)
    for origin in embed:
        Origins(public=origin)
    if embed and not delivery.secure:  # frames get no cookie then
        raise InputError(
            f"a page of {embed[0]} can show the app over TLS alone: give a certificate, or the public origin of a proxy with TLS"
        )
    if tls is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*tls)
        except OSError as error:
            raise InputError(f"certificate {str(tls[0])!r} with key {str(tls[1])!r} cannot be used: {error}") from error
    with ExitStack() as stack:
        listening = stack.enter_context(_listening(host, port))
        stack.enter_context(_private_folder())
        is_new = url.get_backend_name() == "sqlite" and not Path(url.database or "").exists()
        if backup is not None and backup.is_file() and is_new:
            restore(backup, url, study_id=study.study_id)
        journal = stack.enter_context(Journal(url))
        stack.enter_context(backed_up(journal, backup, every_seconds=backup_seconds))
        journal.register(study.study_id, title=study.file.title)
        note(folder, url)
        took_part = stack.enter_context(_took_part(study, journal, url))
        # Imported last: Gradio takes seconds, and reads the environment while it loads.
        with _of_the_extra():
            from inpaintbench.annotate.app.server import make_app, run
        app = make_app(
            study, folder, journal=journal, took_part=took_part, public_origin=public_origin, delivery=delivery,
            forwarded=forwarded, bound=host, limits=limits, knows_networks=knows_networks,
        )  # fmt: skip
        number = listening.getsockname()[1]
        address = f"{'http' if tls is None else 'https'}://{f'[{host}]' if ':' in host else host}:{number}"
        run(
            app, listening, tls=tls, head_seconds=limits.head_seconds, started=lambda: ready(public_origin or address),
            is_proxy=forwarded.trusts,
        )  # fmt: skip


@contextmanager
def _took_part(study: Study, journal: Journal, url: URL) -> Iterator[Callable[[Arrival], bool]]:
    """Tell who agreed to one of the studies that ``exclude_studies`` names, each in its own journal.

    Raises:
        InputError: one of them is no study, was closed, or its answers lie in a database that is not the study's own.
    """
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.engines import name_of, noted, place
    from inpaintbench.annotate.journal.participants import Arrival, Closed, Participants

    crowd, others = study.file.crowd, list[tuple[str, Participants]]()
    with ExitStack() as stack:
        for folder in map(Path, () if crowd is None else crowd.exclude_studies):
            other = studies.load(folder)
            together = noted(folder) == name_of(url)
            book = journal if together else stack.enter_context(Journal(place(None, folder)))
            people = Participants(book)
            try:
                people.rater_of(other.study_id, Arrival("link", ""))
            except Closed as error:
                raise InputError(
                    f"crowd.exclude_studies names {str(folder)!r}, which was closed: nobody can tell any more who took part in it"
                ) from error
            others.append((other.study_id, people))
        yield lambda arrival: any(people.agreed(study_id, arrival) for study_id, people in others)


def exposure(host: str, *, has_tls: bool) -> str | None:
    """The warning for a server that others can reach without TLS, or ``None``."""
    address = parsed(host)
    if has_tls or host == "localhost" or (address is not None and address.is_loopback):
        return None
    return (
        f"{host} can be reached from other machines and there is no TLS: invitation links and answers cross the network in "
        "clear; give a certificate, or put a server with TLS in front and name its public origin"
    )


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket, so that a port that is taken is found out before anything is loaded."""
    if not 0 <= port <= MOST_PORT:
        raise InputError(f"host {host!r} and port {port} cannot be bound: ports go from 0 to {MOST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"host {host!r} and port {port} cannot be bound: {error}") from error
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(socket.SOMAXCONN)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise InputError(f"port {port} of {host} is taken; choose another one, or 0 for any that is free") from error
            raise InputError(f"host {host!r} and port {port} cannot be bound: {error.strerror}") from error
        yield listening


@contextmanager
def _private_folder() -> Iterator[None]:
    """Work in an empty folder that nobody else may read, with the temporary files inside; all is put back at the end."""
    before, temporary = Path.cwd(), tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        Path(folder).chmod(0o700)
        empty, scratch = Path(folder) / "empty", Path(folder) / "temporary"
        empty.mkdir(mode=0o700)
        scratch.mkdir(mode=0o700)
        given = {**_STAYS_HERE, "TMPDIR": str(scratch), "GRADIO_TEMP_DIR": str(scratch / "gradio")}
        environment = {name: os.environ.pop(name) for name in given if name in os.environ}
        try:
            os.environ.update(given)
            tempfile.tempdir = str(scratch)
            os.chdir(empty)
            yield
        finally:
            tempfile.tempdir = temporary
            for name in given:
                os.environ.pop(name, None)
            os.environ.update(environment)
            os.chdir(before)


@contextmanager
def _of_the_extra() -> Iterator[None]:
    """Around imports of what is optional."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError("serving a study", "annotate") from error
