"""Real texts: pages of documentation as WARC, and a source tree as JSON lines, from Debian packages.

apt downloads the packages, and `dpkg-deb -x` unpacks them into a folder; nothing is installed, and no rights are
needed.
"""

import gzip
import hashlib
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

LANGUAGES = ("de", "en-us", "es", "fr", "it", "ja")
PAGES = (
    "rust-doc",
    "openjdk-17-doc",
    "scala-doc",
    "ghc-doc",
    "linux-doc",
    "libboost1.74-doc",
    "libboost1.81-doc",
    *(f"libreoffice-help-{language}" for language in LANGUAGES),
)
SOURCES = ("linux-source",)
SHARD_BYTES = 48_000_000
"""Bytes of pages, or of source files, in a raw file."""
_HTML = (".html", ".htm", ".xhtml")
_DATE = "2024-01-01T00:00:00Z"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


class AbsentError(Exception):
    """apt cannot give a package; the message says why."""


def download(package: str, cache: Path) -> list[Path]:
    """The `.deb` files of a package in a folder, downloaded unless they are there; of a mere name those it depends on.

    Raises AbsentError.
    """
    wanted = [name for name in [package, *_behind(package)] if not name.endswith("-common")]
    for name in wanted:
        if not list(cache.glob(f"{name}_*.deb")):
            _output(["apt-get", "download", "-qq", name], cache)
    return [file for name in wanted for file in sorted(cache.glob(f"{name}_*.deb"))[-1:]]


def _behind(package: str) -> list[str]:
    """The packages of one version that an empty one stands for, such as `linux-doc-6.1` for `linux-doc`."""
    said = _output(["apt-cache", "depends", "--no-recommends", "--no-suggests", package], Path.cwd())
    names = (line.split()[-1] for line in said.splitlines() if line.strip().startswith("Depends:"))
    return [name for name in names if name.startswith(f"{package}-")]


def _output(command: list[str], folder: Path) -> str:
    try:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise AbsentError(f"there is no {command[0]}") from None
    except subprocess.CalledProcessError as fault:
        said = (fault.stderr.strip() or fault.stdout.strip()).splitlines()
        raise AbsentError(said[-1] if said else f"{command[0]} failed") from None


def unpack(files: Iterable[Path], folder: Path) -> None:
    """Unpacks packages, and the archives of sources in them; raises AbsentError."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        _output(["dpkg-deb", "-x", str(file), str(folder)], Path.cwd())
    for archive in sorted(folder.rglob("linux-source-*.tar.*")):
        with tarfile.open(archive) as members:
            members.extractall(folder, filter="data")
        archive.unlink()


def pages(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every page below a folder, in the order of the names."""
    return _files(folder, _HTML)


def sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file below a folder that is UTF-8 and not empty."""
    for name, content in _files(folder, ("",)):
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        if text.strip() and "\0" not in text:
            yield name, content


def _files(folder: Path, ends: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.name.lower().endswith(ends) and path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), path.read_bytes()


def is_in(name: str, share: float) -> bool:
    """Whether a file is in a sample of all files; it is in every larger one too."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") < share * 2**64


def write_pages(found: Iterable[tuple[str, bytes]], target: Path, name: str) -> int:
    """Writes WARC files with a gzip member per page; returns the bytes of the pages."""
    return _write(found, target, f"{name}-{{:03}}.warc.gz", _warc_record)


def write_sources(found: Iterable[tuple[str, bytes]], target: Path, name: str) -> int:
    """Writes files of JSON lines; returns the bytes of the texts."""
    return _write(found, target, f"{name}-{{:03}}.jsonl.gz", _json_line)


def _write(found: Iterable[tuple[str, bytes]], target: Path, form: str, row: Callable[[str, bytes], bytes]) -> int:
    target.mkdir(parents=True, exist_ok=True)
    written = number = 0
    out: BinaryIO | None = None
    for name, content in found:
        if out is None or written >= SHARD_BYTES * number:
            if out is not None:
                out.close()
            out = (target / form.format(number)).open("wb")
            number += 1
        out.write(gzip.compress(row(name, content), compresslevel=1, mtime=0))
        written += len(content)
    if out is not None:
        out.close()
    return written


def _warc_record(name: str, content: bytes) -> bytes:
    identity = hashlib.sha256(name.encode()).hexdigest()[:32]
    head = [
        "WARC/1.0",
        "WARC-Type: response",
        f"WARC-Target-URI: http://pages.example/{name.replace(' ', '%20')}",
        f"WARC-Date: {_DATE}",
        f"WARC-Record-ID: <urn:uuid:{identity}>",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(_HEAD) + len(content)}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + _HEAD + content + b"\r\n\r\n"


def _json_line(name: str, content: bytes) -> bytes:
    return json.dumps({"id": name, "text": content.decode()}, ensure_ascii=False).encode() + b"\n"
