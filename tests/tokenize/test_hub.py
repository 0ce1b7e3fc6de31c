"""Download of a tokenizer from a small hub on this machine, through the real client."""

import errno
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest

from corpus_assets.tokenize.tokenizers import hub as tokenizers_hub
from corpus_assets.tokenize.tokenizers.hub import download
from resources.errors import BadFileError, ConfigError, StorageError
from resources.outside.agreed import MisreadError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {"tokenizer.json": b"{}", "tokenizer_config.json": b'{"a": 1}' * 1000, "model.safetensors": b"weights"}


class Hub(BaseHTTPRequestHandler):
    """Answers what the client asks for a repository `some/model` with a branch `main`."""

    seen: ClassVar[list[str]] = []
    sizes: ClassVar[dict[str, int]] = {}

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do_GET(self) -> None:
        self.seen.append(self.path)
        path = self.path.partition("?")[0]
        if path == "/api/models/some/model/revision/main":
            siblings = [{"rfilename": name, "size": self.sizes.get(name, len(FILES[name]))} for name in FILES]
            self.answer(json.dumps({"id": "some/model", "sha": COMMIT, "siblings": siblings}).encode())
        elif path.startswith(f"/some/model/resolve/{COMMIT}/"):
            name = path.rpartition("/")[2]
            self.answer(FILES[name], ETag=f'"{name}"', X_Repo_Commit=COMMIT)
        else:
            self.answer(b'{"error": "not found"}', 404, X_Error_Code="RepoNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Hub]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    Hub.seen.clear()
    Hub.sizes.clear()
    yield Hub
    server.shutdown()
    server.server_close()


def downloaded(name: str, revision: str) -> str:
    """What a new process downloads: the client reads its endpoint when it is imported."""
    code = (
        "import sys; from corpus_assets.tokenize.tokenizers.hub import download\n"
        "try: print({name: len(raw) for name, raw in download(*sys.argv[1:]).items()})\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", code, name, revision]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_only_tokenizer_files_of_one_commit_are_fetched(hub: type[Hub]) -> None:
    assert downloaded("some/model", "main") == "{'tokenizer.json': 2, 'tokenizer_config.json': 8000}\n"
    fetched = [path for path in hub.seen if "/resolve/" in path]
    assert fetched
    assert all(f"/resolve/{COMMIT}/" in path and "safetensors" not in path for path in fetched)


def test_what_is_not_there_or_too_large_is_told(hub: type[Hub]) -> None:
    assert downloaded("some/other", "main").startswith(
        "ConfigError tokenizer 'some/other' at revision 'main' cannot be"
    )
    hub.sizes["tokenizer.json"] = 1 << 40
    assert downloaded("some/model", "main").startswith(
        f"{BadFileError.__name__} some/model/tokenizer.json: has 1099511"
    )


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be downloaded"):
        download("../a/b/c", "main")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), MemoryError(), MisreadError("tokenizer.json")])
def test_a_fault_of_the_machine_is_not_one_of_the_name(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(tokenizers_hub, "hub_api", Mock(side_effect=error))
    with pytest.raises(StorageError, match=r"the machine failed|several readings") as fault:
        download("some/model", "main")
    assert "public repository" not in str(fault.value)
