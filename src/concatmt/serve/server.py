"""Starting and stopping: models are loaded first, and at the end all requests are answered."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from concatmt.errors import UserError
from concatmt.progress import progress
from concatmt.serve import logs
from concatmt.serve.access import Access, read_keys
from concatmt.serve.app import make_app
from concatmt.serve.config import ServeConfig
from concatmt.serve.connections import PatientProtocol, allow_many_connections
from concatmt.serve.models import Models
from concatmt.serve.service import Service

BACKLOG = 2_048
KEEP_ALIVE_SECONDS = 30


class Server(uvicorn.Server):
    """Says where it listens, which a port of 0 leaves open, and when it ends."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM or Ctrl-C: clients are told to send no more on their connections."""
        self.service.draining = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: Any = None) -> None:
        """Bind and tell."""
        await super().startup(sockets)
        for server in getattr(self, "servers", []):
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                name = f"[{host}]" if ":" in host else host
                print(f"concatmt: serving at http://{name}:{port}", file=sys.stderr, flush=True)


def make_service(folders: Sequence[Path], config: ServeConfig) -> Service:
    """Models and keys, read and checked."""
    keys = None if config.api_keys is None else read_keys(Path(config.api_keys))
    return Service(config, Models(folders, config), Access(keys, config.limits))


def serve(folders: Sequence[Path], config: ServeConfig) -> None:
    """Until SIGTERM or Ctrl-C; then what was accepted is answered."""
    service = make_service(folders, config)
    with progress("load", unit="models"):
        service.models.load_first()
    allow_many_connections()
    logs.set_up()
    for pair in service.models.pairs.values():
        logs.event(
            "model",
            pair=f"{pair.source}-{pair.target}",
            loaded=pair.engine is not None,
            signature=pair.engine.signature if pair.engine else None,
        )
    server = Server(web_server(service), service)
    for number in (signal.SIGTERM, signal.SIGINT):
        # The web server raises again, at its end, the signal that ended it: all is well then.
        signal.signal(number, lambda *_: None)
    try:
        server.run()
    except SystemExit as error:
        if error.code:
            raise UserError(
                f"{config.host}:{config.port}: cannot listen there; is the port taken?"
            ) from None
        raise


def web_server(service: Service) -> uvicorn.Config:
    """How the web server runs our application."""
    config = service.config
    protocol = type("Protocol", (PatientProtocol,), {"head_seconds": config.limits.client_seconds})
    return uvicorn.Config(
        make_app(service),
        host=config.host,
        port=config.port,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # Else anybody on this machine could say with X-Forwarded-For to be somebody else.
        proxy_headers=config.forwarded,
        forwarded_allow_ips="*",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=config.limits.drain_seconds,
    )
