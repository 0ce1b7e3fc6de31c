"""A stand-in of the Hugging Face hub on loopback: its API over a folder, and files on another host as it has them."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from tests import hub_writes
from tests.hub_writes import Writes, is_large, written
from tests.web_server import Site, serving

REPOSITORY = hub_writes.REPOSITORY
TOKEN = "hf_of_nobody"
PAGE = 3


@dataclass
class Hub:
    """The hub: commits are folders of the site that holds the content, branches lead to them.

    asked: how often each kind of request came. tokens: what came as authorization, here and where content lies. status:
    what every request is answered with, if it is not None. silent: whether it takes requests and answers none. writes:
    what it allows to be written, and what was.
    """

    content: Site
    branches: dict[str, str] = field(default_factory=dict)
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    tokens: set[str | None] = field(default_factory=set)
    status: int | None = None
    is_private: bool = False
    silent: bool = False
    writes: Writes = field(default_factory=Writes)

    def commit(self, files: dict[str, bytes], branch: str = "main") -> str:
        """Makes a commit of some files, and returns its id."""
        name = hashlib.sha1(json.dumps({path: _sha(raw) for path, raw in files.items()}).encode()).hexdigest()
        for path, raw in files.items():
            place = self.content.folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        self.branches[branch] = name
        return name

    def files(self, branch: str = "main") -> dict[str, bytes]:
        """Returns the content of all files of a branch."""
        top = self.content.folder / self.branches[branch]
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}

    def tree(self, commit: str, below: str) -> list[dict[str, Any]]:
        """Returns what the API says of the files of a commit."""
        top = self.content.folder / commit
        files = sorted(path for path in (top / below).rglob("*") if path.is_file())
        return [_entry(str(path.relative_to(top)), path.read_bytes()) for path in files]


def _sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _entry(path: str, raw: bytes) -> dict[str, Any]:
    blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest()
    entry: dict[str, Any] = {"type": "file", "path": path, "size": len(raw), "oid": blob}
    large = {"lfs": {"oid": _sha(raw), "size": len(raw), "pointerSize": 130}}
    return entry | (large if is_large(path, len(raw)) else {})


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, value: Any, status: int = 200, **headers: str) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._answered(b"")

    def do_POST(self) -> None:
        self._answered(b"".join(self._body()))

    def _body(self) -> Iterator[bytes]:
        if self.headers.get("Transfer-Encoding") != "chunked":
            yield self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def do_PUT(self) -> None:
        self.do_POST()

    def _answered(self, body: bytes) -> None:
        hub, parts = self.hub, urlsplit(self.path)
        hub.tokens.add(self.headers.get("Authorization"))
        api, resolve = f"/api/datasets/{REPOSITORY}/", f"/datasets/{REPOSITORY}/resolve/"
        path = parts.path
        if hub.silent:
            self.close_connection = not self.rfile.read(1)  # Until the client has enough.
        elif hub.status is not None:
            self._answer({"error": "fault"}, hub.status)
        elif (reply := written(hub, self.command, self.path, body)) is not None:
            self._answer(reply.value, reply.status, **reply.headers)
        elif (
            not hub.branches
            or not path.startswith((api, resolve))
            or (hub.is_private and not self.headers.get("Authorization"))
        ):
            self._answer({"error": "Repository not found"}, 401, X_Error_Code="RepoNotFound")
        elif path.startswith(resolve):
            hub.asked["resolve"] += 1
            self._answer({}, 302, Location=f"{hub.content.url}/{path.removeprefix(resolve)}?signature=secret")
        else:
            kind, _, rest = path.removeprefix(api).partition("/")
            hub.asked[kind] += 1
            self._described(kind, unquote(rest), parse_qs(parts.query), parse_qs(body.decode()))

    def _described(self, kind: str, rest: str, query: dict[str, list[str]], form: dict[str, list[str]]) -> None:
        hub = self.hub
        revision, _, below = rest.partition("/")
        if kind == "revision":
            revision = rest
        commit = hub.branches.get(revision, revision)
        if not (hub.content.folder / commit).is_dir():
            self._answer({"error": "Invalid rev id"}, 404, X_Error_Code="RevisionNotFound")
        elif kind == "revision":
            self._answer({"id": REPOSITORY, "sha": commit, "siblings": []})
        elif kind == "paths-info":
            self._answer([one for one in hub.tree(commit, "") if one["path"] in form["paths"]])
        elif not (hub.content.folder / commit / below).is_dir():
            self._answer({"error": "no such path"}, 404, X_Error_Code="EntryNotFound")
        else:
            self._page(hub.tree(commit, below), int(query.get("cursor", ["0"])[0]))

    def _page(self, entries: list[dict[str, Any]], start: int) -> None:
        more = {}
        if start + PAGE < len(entries):
            path = quote(urlsplit(self.path).path)
            more["Link"] = f'<{self.hub.url}{path}?recursive=true&cursor={start + PAGE}>; rel="next"'
        self._answer(entries[start : start + PAGE], 200, **more)


@contextmanager
def hub_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Runs the stand-in, and lets the client of this process ask it, which read its endpoint when it was loaded."""
    from huggingface_hub import constants

    with serving(folder) as content:
        hub = Hub(content)
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        hub.url = f"http://localhost:{server.server_port}"  # Another host than that of the content.
        template = "{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{hub.url}/{template}")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        try:
            yield hub
        finally:
            server.shutdown()
            server.server_close()
