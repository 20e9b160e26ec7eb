"""Who may ask: this machine, or the bearer of the token; never another site's page."""

import hashlib
import hmac
import ipaddress
import json
import secrets
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interplay.app.web.refusal import RefusedError

SHORTEST_TOKEN = 12
"""Characters of a token that somebody chose: fewer could be guessed."""

LARGEST_QUESTION = 4_000_000
"""Bytes of a request that is not an upload."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer: scripts and styles come from this server's files alone, and no other site may hold it."""


def is_local(host: str) -> bool:
    """Whether an address to bind to can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def needed_token(host: str, token: str | None) -> str | None:
    """The token to ask for: the one given, a new one where others can reach the server, else none."""
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ValueError(
            f"the token has {len(token)} characters: expected at least {SHORTEST_TOKEN}. Choose a longer one,"
            " or give none and take the one that is made."
        )
    if token is None and not is_local(host):
        return secrets.token_urlsafe(24)
    return token


def cookie_name(token: str) -> str:
    """Name of the cookie: cookies are shared by all ports of a host, so each token has its own."""
    return f"interplay-{hashlib.sha256(token.encode()).hexdigest()[:8]}"


def same(given: str, token: str) -> bool:
    """Whether two tokens are equal, in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), token.encode())


@dataclass(frozen=True)
class Guard:
    """Middleware that lets in what may come in, and puts `HEADERS` on every answer.

    Parameters
    ----------
    app
        What it guards.
    token
        What must be shown to ask anything; None for nothing.
    local
        Whether the server is bound to this machine alone. A name other than this machine's own in the Host
        header is then somebody's trick to have a browser take this server for theirs.
    """

    app: ASGIApp
    token: str | None
    local: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store" if _asks(scope) else "no-cache")
            await send(message)

        try:
            self._check(Request(scope))
        except RefusedError as refusal:
            await _refuse(refusal, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _check(self, request: Request) -> None:
        host = request.headers.get("host", "")
        if self.local and not is_local(_host_name(host)):
            raise RefusedError(
                421, "This server answers to 127.0.0.1 and localhost only. Use one of these names."
            )
        if not _asks(request.scope):
            return
        _refuse_other_sites(request, host)
        _refuse_large(request)
        if self.token is not None and request.url.path != "/api/session" and not self._shown(request):
            raise RefusedError(401, "A token is needed. It was printed where the server was started.")

    def _shown(self, request: Request) -> bool:
        token = self.token or ""
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        return same(request.cookies.get(cookie_name(token), ""), token) or same(bearer, token)


def _asks(scope: Scope) -> bool:
    """Whether it is about data; the files of the page itself are the same for everybody."""
    return str(scope["path"]).startswith("/api/")


def _refuse_other_sites(request: Request, host: str) -> None:
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    if site not in ("same-origin", "none") or (origin is not None and _place(origin).netloc != host):
        raise RefusedError(403, "This request came from another site's page, and is refused.")


def _refuse_large(request: Request) -> None:
    if request.method == "POST" and request.url.path != "/api/jobs":
        length = request.headers.get("content-length", "")
        if not length.isdigit():
            raise RefusedError(411, "The length of the request is not known. Send a Content-Length.")
        if int(length) > LARGEST_QUESTION:
            raise RefusedError(413, "The request is too large. Leave out fewer columns by name.")


def _host_name(host: str) -> str:
    return _place(f"//{host}").hostname or ""


def _place(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


async def _refuse(refusal: RefusedError, send: Send) -> None:
    body = json.dumps({"message": refusal.message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
