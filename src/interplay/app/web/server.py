"""The server: the page's files, the routes, and what guards them."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.staticfiles import StaticFiles

from interplay.app.web.api import router
from interplay.app.web.jobs import Jobs
from interplay.app.web.refusal import RefusedError
from interplay.app.web.security import Guard, is_local, needed_token
from interplay.data.errors import DataError

STATIC = Path(__file__).parent / "static"


class Server(uvicorn.Server):
    """A server that lets go of those who watch a job when it is told to end."""

    closing: asyncio.Event

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self.closing.set()
        super().handle_exit(sig, frame)


def create_app(folder: Path, token: str | None, local: bool, closing: asyncio.Event) -> FastAPI:
    """The application.

    Parameters
    ----------
    folder
        Where jobs are kept.
    token
        What must be shown to ask anything; None for nothing.
    local
        Whether it is bound to this machine alone.
    closing
        Set when the server ends.
    """
    jobs = Jobs(folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(jobs.close)

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(router(jobs, token, closing))
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    app.add_middleware(Guard, token=token, local=local)

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> JSONResponse:
        return JSONResponse({"message": error.message}, error.status)

    @app.exception_handler(DataError)
    async def unusable(request: Request, error: DataError) -> JSONResponse:
        return JSONResponse({"message": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        words = [f"{'.'.join(map(str, entry['loc'][1:]))}: {entry['msg']}" for entry in error.errors()]
        return JSONResponse({"message": "; ".join(words)}, 422)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse(
            {"message": f"The server failed ({type(error).__name__}). See its terminal."}, 500
        )

    return app


def serve(
    host: str = "127.0.0.1", port: int = 8000, token: str | None = None, folder: Path | None = None
) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    host
        Address to bind to. Only a loopback address, such as 127.0.0.1, keeps others out.
    port
        Port; 0 takes any that is free.
    token
        What must be shown to be let in. None asks for nothing on a loopback address, and makes a token
        otherwise.
    folder
        Where data and results are kept, by default `.interplay` in the home folder. A server that is
        started again on the same folder goes on with what was not finished.

    Raises
    ------
    OSError
        If the port or the folder is in use.
    """
    token = needed_token(host, token)
    sock = _bound(host, port)
    closing = asyncio.Event()
    app = create_app(folder or Path.home() / ".interplay", token, is_local(host), closing)
    address = f"http://{_shown(host)}:{sock.getsockname()[1]}/"
    print(f"The page is at {address}{f'#token={token}' if token else ''}", file=sys.stderr)
    print(
        "Ctrl-C ends the server; a fit that runs goes on when it is started again.",
        file=sys.stderr,
        flush=True,
    )
    server = Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
    server.closing = closing
    server.run(sockets=[sock])


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise OSError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}). Give another with --port."
        ) from error
