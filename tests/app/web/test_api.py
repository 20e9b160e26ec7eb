"""The server: who is let in, what is taken, and that no job is lost."""

import io
import json
import re
import signal
import sys
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import httpx
import patience
import pytest
from live import Live, small_csv
from patience import wait_for

import interplay as ip
from interplay.app.web.job import progress
from interplay.app.web.security import is_local, needed_token
from interplay.app.web.upload import LARGEST
from interplay.app.web.words import in_words

TOKEN = "a token to be known"


def test_files_of_the_page_are_few_and_locked_to_this_server(live: Live) -> None:
    page = live.client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    # No script or style in the page itself, and nothing from elsewhere.
    assert not re.search(r"<script(?![^>]*src=)|<style|style=|https?://", page.text)
    assert live.client.get("/../api.py").status_code == 404
    assert live.client.get("/..%2f..%2fserver.py").status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "[::1"}, 421),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Host": "localhost:9999"}, 200),
        ({"Host": "localhost:9999", "Origin": "http://localhost:9999"}, 200),
    ],
)
def test_requests_of_other_sites_are_refused(live: Live, headers: dict[str, str], status: int) -> None:
    assert live.client.get("/api/jobs", headers=headers).status_code == status
    if status != 200:
        before = len(live.client.get("/api/jobs").json()["jobs"])
        assert live.client.post("/api/demos/diabetes", headers=headers).status_code == status
        assert len(live.client.get("/api/jobs").json()["jobs"]) == before


def test_a_token_is_asked_for_where_others_can_reach_the_server() -> None:
    assert is_local("127.0.0.1")
    assert is_local("localhost")
    assert is_local("::1")
    assert not is_local("0.0.0.0")
    assert not is_local("example.org")
    assert needed_token("127.0.0.1", None) is None
    assert needed_token("127.0.0.1", TOKEN) == TOKEN
    assert len(needed_token("0.0.0.0", None) or "") >= 32
    with pytest.raises(ValueError, match="5 characters: expected at least 12"):
        needed_token("0.0.0.0", "short")


def test_nothing_is_told_without_the_token(tmp_path: Path) -> None:
    server = Live(tmp_path, "--token", TOKEN)
    try:
        client = server.client
        assert client.get("/").status_code == 200
        for path in ("/api/jobs", "/api/jobs/0000000000000000", "/api/jobs/0000000000000000/fit.nc"):
            assert client.get(path).status_code == 401
        assert client.get("/api/jobs", headers={"Authorization": "Bearer something"}).status_code == 401
        assert client.get("/api/jobs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.post("/api/session", json={"token": "something"}).status_code == 401
        entered = client.post("/api/session", json={"token": TOKEN})
        assert {"HttpOnly", "SameSite=strict"} <= set(entered.headers["set-cookie"].split("; "))
        assert client.get("/api/jobs").status_code == 200
        with httpx.Client(base_url=server.url) as other:
            assert other.get("/api/jobs").status_code == 401
    finally:
        server.end()


def in_pieces(size: int):  # type: ignore[no-untyped-def]
    piece = b"1,2\n" * 250_000
    for _ in range(0, size, len(piece)):
        yield piece


def test_files_that_are_no_tables_are_refused_in_words_and_leave_nothing(live: Live) -> None:
    before = set(live.folder.iterdir())
    bad = {
        "empty": (b"", 422, "is empty"),
        "blank": (b" \n \n", 422, "is empty"),
        "binary": (bytes(range(256)) * 40, 422, "binary"),
        "an Excel sheet": (b"PK\x03\x04" + bytes(100), 415, "compressed"),
        "gzip": (b"\x1f\x8b\x08" + bytes(100), 415, "Unpack"),
        "wrong delimiter": (b"a|b|c\n1|2|3\n4|5|6\n7|8|9\n", 422, "Check the separator"),
        "duplicate header": (b"a,a,y\n1,2,3\n4,5,6\n7,8,8\n", 422, "more than once"),
        "no header": (b"1,2\n3,4\n5,6\n", 422, "header"),
        "no rows": (b"a,b,c\n", 422, "rows"),
        "odd rows": (b"a,b\n1,2\n3,4,5\n6,7\n", 422, "regular"),
        "not UTF-8": ("größe,b\n1,2\n3,4\n5,6\n".encode("latin-1"), 422, "UTF-8"),
    }
    for what, (content, status, words) in bad.items():
        answer = live.client.post("/api/jobs", params={"name": "mine.csv"}, content=content)
        message = answer.json()["message"]
        assert (answer.status_code, words in message) == (status, True), (what, message)
        assert str(live.folder) not in message
        assert "data.csv" not in message
    assert set(live.folder.iterdir()) == before


def test_files_that_are_too_large_are_refused(live: Live) -> None:
    before = set(live.folder.iterdir())
    # What is announced as too large is refused before it is sent.
    connection = HTTPConnection(live.url.split("/")[2])
    connection.putrequest("POST", "/api/jobs")
    connection.putheader("Content-Length", str(LARGEST + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    try:
        answer = live.client.post("/api/jobs", content=in_pieces(LARGEST + 5_000_000))
        assert answer.status_code == 413
        assert "larger than 50 MB" in answer.json()["message"]
    except (httpx.WriteError, httpx.RemoteProtocolError):
        # The server may hang up while there is more to come.
        pass
    big = {"response": "y", "drop": ["x" * 1000] * 5000}
    assert live.client.post("/api/jobs/0000000000000000/start", json=big).status_code == 413
    assert set(live.folder.iterdir()) == before


def test_no_word_of_a_client_becomes_a_path(live: Live) -> None:
    before = set(live.folder.iterdir())
    job = live.upload(small_csv(), "../../../etc/<b>pass\x00wd</b>.csv")
    assert job["title"] == "b>.csv"
    (new,) = set(live.folder.iterdir()) - before
    assert new.name == job["id"]
    assert {file.name for file in new.iterdir()} == {"data.csv", "columns.json", "job.json"}
    for identifier in (
        "..",
        "%2e%2e",
        "..%2f..%2fetc",
        "0" * 16,
        f"{job['id']}%2f..%2f{job['id']}",
        "server.lock",
    ):
        for path in (
            f"/api/jobs/{identifier}",
            f"/api/jobs/{identifier}/fit.nc",
            f"/api/jobs/{identifier}/events",
        ):
            assert live.client.get(path).status_code == 404, path
    assert live.client.delete("/api/jobs/..").status_code in (404, 405)
    assert live.client.get(f"/api/jobs/{job['id']}/fit.nc").status_code == 409
    assert live.client.delete(f"/api/jobs/{job['id']}").status_code == 200
    assert set(live.folder.iterdir()) == before


def test_columns_and_their_problems_are_told(live: Live) -> None:
    content = (
        "when;same;<script>alert(1)</script>;kind;gap;y\n"
        + "".join(
            f"2020-01-{k:02};1;{k},5;{'ab'[k % 2]};{'' if k == 3 else k * k};{k % 7},25\n"
            for k in range(1, 29)
        )
    ).encode("utf-16")
    job = live.upload(content)
    data = job["data"]
    found = {column["name"]: column for column in data["columns"]}
    assert data["rows"] == 28
    assert data["response"] == "y"
    assert [found[name]["kind"] for name in ("<script>alert(1)</script>", "kind", "y")] == [
        "numeric",
        "categorical",
        "numeric",
    ]
    assert "identifier" in found["when"]["problem"] or "date" in found["when"]["problem"]
    assert "drop=" not in found["when"]["problem"]
    assert found["same"]["problem"] == "It has the same value in every row."
    assert found["gap"]["missing"] == 1
    assert found["y"]["words"].startswith("0.25 to 6.25")

    def start(**choice: object) -> httpx.Response:
        return live.client.post(f"/api/jobs/{job['id']}/start", json={"drop": ["when"], **choice})

    refused = start(response="y")
    assert refused.status_code == 422
    assert "'gap' 1" in refused.json()["message"]
    assert "fill in the mean" in refused.json()["message"]
    assert start(response="nothing").json()["message"].startswith("No column 'nothing'")
    assert start(response="kind").status_code == 422
    assert start(response="y", impute=True, expected_mains=-1).status_code == 422
    assert start(response="y", impute=True, expected_mains=100).status_code == 422
    assert start(response="y", impute=True, checkpoint="/etc/passwd").status_code == 422
    assert live.job(job["id"])["state"] == "new"
    made = live.client.post(
        f"/api/jobs/{job['id']}/plan", json={"response": "y", "drop": ["when"], "impute": True}
    ).json()
    assert (made["rows"], made["variables"], made["pairs"], made["too_large"]) == (28, 3, 3, False)
    assert 0 < made["seconds"][0] <= made["seconds"][1]


def test_progress_of_a_run_that_was_begun_anew_is_told_from_there() -> None:
    def stage(phase: str, draws: int) -> dict:
        return {"phase": phase, "done": 0.5, "draws": draws, "r_hat": 1.1, "ess": 2.0 * draws}

    told = [stage("sampling", 25), stage("sampling", 50), stage("warm-up", 0), stage("sampling", 25)]
    last, history = progress([*told, stage("checking", 0)])
    assert history == [[25, 1.1, 50.0]]
    assert last is not None
    assert (last["phase"], last["draws"]) == ("checking", 25)
    assert progress([]) == (None, [])


def test_advice_for_python_becomes_advice_for_the_page() -> None:
    assert in_words("leave it out with drop=['a'], or mend it.") == "Leave it out below, or mend it."
    assert in_words("convert it, or leave it out with drop=['a'].") == "Convert it, or leave it out below."
    assert in_words("'/x/data.csv' is empty", Path("/x/data.csv"), "mine.csv") == "'mine.csv' is empty"


def told(server: Live, identifier: str) -> list[dict]:
    """All that a watcher hears, until the job has ended."""
    with server.client.stream("GET", f"/api/jobs/{identifier}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]


def draws(job: dict) -> int:
    return job["stage"]["draws"] if job["stage"] else 0


def workers(folder: Path) -> int:
    """How many processes work on jobs in the folder."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().decode().split("\0")
            found += "interplay.app.web.worker" in words and str(folder) in words[-2]
    return found


def test_jobs_wait_stop_and_outlive_a_killed_server(tmp_path: Path) -> None:
    server = Live(tmp_path)
    try:
        first, second = (server.upload(small_csv(seed), f"{seed}.csv")["id"] for seed in (0, 1))
        for identifier in (first, second):
            answer = server.client.post(f"/api/jobs/{identifier}/start", json={"response": "y", "seed": 1})
            assert answer.status_code == 202
        assert server.client.post(f"/api/jobs/{first}/start", json={"response": "y"}).status_code == 409
        server.reach(first, "running")
        waiting = server.job(second)
        assert (waiting["state"], waiting["ahead"]) == ("queued", 1)
        assert workers(tmp_path) == 1
        assert server.client.delete(f"/api/jobs/{second}").status_code == 409
        assert server.client.post(f"/api/jobs/{second}/stop").json()["state"] == "stopped"
        assert server.client.delete(f"/api/jobs/{second}").status_code == 200
        assert server.client.get(f"/api/jobs/{first}/results").status_code == 409

        rival = patience.run(
            [sys.executable, "-m", "interplay", "serve", "--port", "0", "--folder", str(tmp_path)]
        )
        assert rival.returncode == 1
        assert "another server is using" in rival.stderr

        wait_for(lambda: (tmp_path / first / "run.nc").exists(), "a checkpoint")
        server.end(signal.SIGKILL)
        wait_for(lambda: workers(tmp_path) == 0, "the end of the worker")
        before = (tmp_path / first / "progress.jsonl").read_text().splitlines()

        server.start()
        wait_for(lambda: draws(server.job(first)) > 0, "draws")
        after = (tmp_path / first / "progress.jsonl").read_text().splitlines()
        # It went on, rather than beginning again.
        assert [json.loads(line)["phase"] for line in after].count("start") == 1
        assert after[: len(before)] == before

        if server.client.post(f"/api/jobs/{first}/stop").json()["state"] == "stopping":
            assert told(server, first)[-1]["state"] == "done"
        job = server.reach(first, "done")
        results = server.client.get(f"/api/jobs/{first}/results").json()
        assert results["summary"]["rows"] == 60
        assert {row["kind"] for row in results["effects"]} == {"main", "pair", "quadratic"}
        saved = server.client.get(f"/api/jobs/{first}/fit.nc")
        assert saved.headers["content-disposition"] == 'attachment; filename="0-fit.nc"'
        (tmp_path / "taken.nc").write_bytes(saved.content)
        fit = ip.load(tmp_path / "taken.nc")
        assert fit.draws.length == results["summary"]["draws"] >= draws(job) > 0
        assert job["resumable"] == (fit.diagnostics.ended == "interrupted")
        table = server.client.get(f"/api/jobs/{first}/effects.csv").content
        assert len(io.BytesIO(table).readlines()) == len(results["effects"]) + 1

        asked = server.client.get(f"/api/jobs/{first}/effects", params={"term": "x0:x2"}).json()["rows"]
        assert {row["term"] for row in asked} == {f"x0:x2[{level}]" for level in ("low", "middle", "high")}
        wrong = server.client.get(f"/api/jobs/{first}/effects", params={"term": "x99"})
        assert wrong.status_code == 422
        assert "'x99' is not a variable" in wrong.json()["message"]
        pair = server.client.get(f"/api/jobs/{first}/pair", params={"first": "x0", "second": "x2"}).json()
        assert len(pair["effects"]) == len(pair["densities"]) == 3
        assert set(pair["surface"]) == {"first", "second", "mean", "lower", "upper"}
        # A density over an interval that holds nearly all of it.
        for made in pair["densities"]:
            step = made["x"][1] - made["x"][0]
            assert sum(made["density"]) * step == pytest.approx(1.0, abs=0.03)
    finally:
        server.end()
