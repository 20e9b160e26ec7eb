"""The routes: what the page can ask, in JSON."""

import asyncio
import json
import math
import re
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from interplay.app.web import upload
from interplay.app.web.fits import Fits
from interplay.app.web.job import ACTIVE, Files, Job, progress, read_json, stages, write_json
from interplay.app.web.jobs import Jobs
from interplay.app.web.refusal import RefusedError
from interplay.app.web.security import cookie_name, same
from interplay.app.web.words import in_words

EVERY = 0.3
"""Seconds between looks at a job that somebody watches."""

HEARTBEAT = 15.0
"""Seconds after which a watcher hears that the server is still there."""

Names = Annotated[list[str], Field(max_length=100_000)]
Asked = Annotated[list[str], Query(max_length=100)]


class Choice(BaseModel):
    """What is asked of a fit, as the page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    response: str
    drop: Names = []
    impute: bool = False
    expected_mains: float | int | None = Field(default=None, gt=0)
    quadratic: bool = True
    seed: int = Field(default=0, ge=0, lt=2**31)
    max_seconds: float | int | None = Field(default=None, gt=0)

    def fields(self) -> dict[str, Any]:
        """As the fields of `interplay.app.request.Request`, in plain values."""
        return {**self.model_dump(), "impute": "mean" if self.impute else None}


class Token(BaseModel):
    """What is shown to be let in."""

    token: str


def router(jobs: Jobs, token: str | None, closing: asyncio.Event) -> APIRouter:
    """All routes below `/api`.

    Parameters
    ----------
    jobs
        The jobs.
    token
        What must be shown, if anything; `interplay.app.web.security.Guard` sees to it.
    closing
        Set when the server ends, so that watchers are let go.
    """
    routes = APIRouter(prefix="/api")
    fits = Fits()

    def finished(identifier: str) -> Files:
        job = jobs.get(identifier)
        if job.state != "done":
            raise RefusedError(409, "There is no result yet. Wait until the job is done.")
        return jobs.files(job)

    def ask(identifier: str, question: Any, *details: Any) -> Any:
        try:
            return fits.ask(finished(identifier).fit, question, *details)
        except ValueError as error:
            raise RefusedError(422, in_words(str(error))) from error

    @routes.post("/session")
    async def session(shown: Token) -> Response:
        if token is None:
            return JSONResponse({})
        if not same(shown.token, token):
            await asyncio.sleep(0.5)
            raise RefusedError(401, "This is not the token. It was printed where the server was started.")
        answer = JSONResponse({})
        answer.set_cookie(cookie_name(token), token, httponly=True, samesite="strict", path="/api")
        return answer

    @routes.get("/jobs")
    def every() -> Any:
        return {"jobs": [_brief(job) for job in jobs.all()], "demos": upload.DEMOS}

    @routes.post("/jobs", status_code=201)
    async def add(request: Request, name: Annotated[str, Query(max_length=1000)] = "") -> Any:
        files = jobs.room()
        try:
            await upload.receive(request.stream(), request.headers.get("content-length"), files.data)
            job = await anyio.to_thread.run_sync(_added, jobs, files, name)
        except BaseException:
            shutil.rmtree(files.folder, ignore_errors=True)
            raise
        return _whole(jobs, job)

    @routes.post("/demos/{name}", status_code=201)
    def add_demo(name: str) -> Any:
        files = jobs.room()
        try:
            return _whole(jobs, _added(jobs, files, upload.write_demo(name, files.data)))
        except BaseException:
            shutil.rmtree(files.folder, ignore_errors=True)
            raise

    @routes.get("/jobs/{identifier}")
    def one(identifier: str) -> Any:
        return _whole(jobs, jobs.get(identifier))

    @routes.delete("/jobs/{identifier}")
    def remove(identifier: str) -> Any:
        jobs.remove(identifier)
        return {}

    @routes.post("/jobs/{identifier}/copy", status_code=201)
    def copy(identifier: str) -> Any:
        job = jobs.get(identifier)
        files = jobs.room()
        for name in ("data", "columns"):
            shutil.copyfile(getattr(jobs.files(job), name), getattr(files, name))
        return _whole(jobs, jobs.add(files, job.title))

    @routes.post("/jobs/{identifier}/plan")
    def plan(identifier: str, choice: Choice) -> Any:
        from interplay.app.web.planning import planned

        job = jobs.get(identifier)
        return planned(jobs.files(job).data, job.title, choice.fields())

    @routes.post("/jobs/{identifier}/start", status_code=202)
    def start(identifier: str, choice: Choice) -> Any:
        from interplay.app.web.planning import checked

        job = jobs.get(identifier)
        checked(jobs.files(job).data, job.title, choice.fields())
        return _watched(jobs, jobs.start(identifier, choice.fields()))

    @routes.post("/jobs/{identifier}/resume", status_code=202)
    def resume(identifier: str) -> Any:
        return _watched(jobs, jobs.resume(identifier))

    @routes.post("/jobs/{identifier}/stop", status_code=202)
    def stop(identifier: str) -> Any:
        return _watched(jobs, jobs.stop(identifier))

    @routes.get("/jobs/{identifier}/events")
    async def events(identifier: str) -> StreamingResponse:
        jobs.get(identifier)
        return StreamingResponse(_events(jobs, identifier, closing), media_type="text/event-stream")

    @routes.get("/jobs/{identifier}/results")
    def results(identifier: str) -> Response:
        return FileResponse(finished(identifier).results, media_type="application/json")

    @routes.get("/jobs/{identifier}/effects")
    def effects(identifier: str, term: Annotated[str, Query(max_length=1000)]) -> Any:
        from interplay.app.web import answers

        return {"rows": ask(identifier, answers.asked, term.strip())}

    @routes.get("/jobs/{identifier}/posterior")
    def posterior(identifier: str, part: Asked) -> Any:
        from interplay.app.web import answers

        return ask(identifier, answers.posterior, tuple(part))

    @routes.get("/jobs/{identifier}/pair")
    def pair(identifier: str, first: str, second: str) -> Any:
        from interplay.app.web import answers

        return ask(identifier, answers.pair, first, second)

    @routes.get("/jobs/{identifier}/effects.csv")
    def table(identifier: str) -> Response:
        return _file(finished(identifier).table, jobs.get(identifier), "effects.csv", "text/csv")

    @routes.get("/jobs/{identifier}/fit.nc")
    def fit(identifier: str) -> Response:
        return _file(finished(identifier).fit, jobs.get(identifier), "fit.nc", "application/x-netcdf")

    @routes.get("/jobs/{identifier}/report.html")
    def report(identifier: str) -> Response:
        from interplay.app.web import answers

        path = finished(identifier).report
        if not path.exists():
            ask(identifier, answers.report, path)
        return _file(path, jobs.get(identifier), "report.html", "text/html")

    return routes


def _added(jobs: Jobs, files: Files, name: str) -> Job:
    from interplay.app.web.columns import look
    from interplay.app.web.job import new_title

    write_json(files.columns, look(files.data, new_title(name)))
    return jobs.add(files, name)


def _brief(job: Job) -> dict[str, Any]:
    response = job.request["response"] if job.request else None
    return {
        **{name: getattr(job, name) for name in ("id", "title", "created", "state")},
        "response": response,
    }


def _watched(jobs: Jobs, job: Job) -> dict[str, Any]:
    """What a watcher is told: all there is, each time, so that nothing is lost with a connection."""
    files = jobs.files(job)
    stage, history = progress(stages(files))
    return {
        **asdict(job),
        "message": in_words(job.message, files.data, job.title),
        "stage": stage,
        "history": history,
        "ahead": jobs.ahead(job) if job.state == "queued" else 0,
        "resumable": job.state in ("stopped", "failed", "done") and files.checkpoint.exists(),
        "seconds": max(time.time() - job.started, 0.0) if job.started else 0.0,
    }


def _whole(jobs: Jobs, job: Job) -> dict[str, Any]:
    return {**_watched(jobs, job), "data": read_json(jobs.files(job).columns)}


async def _events(jobs: Jobs, identifier: str, closing: asyncio.Event) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    before, heard = None, math.inf
    while not closing.is_set():
        try:
            state = await anyio.to_thread.run_sync(lambda: _watched(jobs, jobs.get(identifier)))
        except RefusedError:
            yield "event: gone\ndata: {}\n\n"
            return
        now = {name: value for name, value in state.items() if name != "seconds"}
        if now != before:
            before, heard = now, time.monotonic()
            yield f"data: {json.dumps(state)}\n\n"
        elif time.monotonic() - heard > HEARTBEAT:
            heard = time.monotonic()
            yield ": still here\n\n"
        if state["state"] not in ACTIVE:
            return
        await asyncio.sleep(EVERY)


def _attached(job: Job, name: str) -> str:
    """A header that has the browser save the answer, under a name of harmless letters."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", job.title.rsplit(".", 1)[0]).strip("-") or "data"
    return f'attachment; filename="{stem}-{name}"'


def _file(path: Path, job: Job, name: str, kind: str) -> FileResponse:
    return FileResponse(path, media_type=kind, headers={"Content-Disposition": _attached(job, name)})
