"""A small corpus in every state that a person may find it in, each with what pages and commands must say of it."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from corpus_assets.orchestration.building.build import build
from resources.storage.holders import this_process
from tests.build.small import opened
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent


@dataclass(frozen=True)
class State:
    """make: puts a corpus that is built and fresh into the state, as long as the context lasts.

    overview: words on the first page of the viewer. plan: words of `corpus plan`; "" is nothing in particular.
    """

    make: Callable[[Path], AbstractContextManager[None]]
    overview: str
    plan: str = ""


def configured(folder: Path, **changes: Any) -> None:
    """Changes keys of corpus.yaml."""
    file = folder / "corpus.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump({**values, **changes}), encoding="utf-8")


def _fresh(_: Path) -> AbstractContextManager[None]:
    return nullcontext()


def _missing(folder: Path) -> AbstractContextManager[None]:
    shutil.rmtree(folder / "corpus")
    return nullcontext()


def _stale(folder: Path) -> AbstractContextManager[None]:
    configured(folder, short_documents={"threshold": 90})
    return nullcontext()


def _failed(folder: Path) -> AbstractContextManager[None]:
    (folder / "raw/books/two.jsonl.gz").write_bytes(b"\x1f\x8b no gzip")
    build(opened(folder), list(opened(folder).graph), Silent())
    return nullcontext()


def _orphans(folder: Path) -> AbstractContextManager[None]:
    (folder / "raw/books/two.jsonl.gz").unlink()
    build(opened(folder), list(opened(folder).graph), Silent())
    return nullcontext()


@contextmanager
def _another_builder(folder: Path) -> Iterator[None]:
    with opened(folder).storage.shared(this_process()):
        yield


def _by_dagster(folder: Path) -> AbstractContextManager[None]:
    _missing(folder)
    with dg.DagsterInstance.ephemeral() as instance:
        runs = Runs(folder, instance)
        runs.register()
        assert runs.materialize("inventory").success
        assert runs.materialize("raw_source", "normalized_documents", partition="books--one").success
    return nullcontext()


def _damaged_record(folder: Path) -> AbstractContextManager[None]:
    next((folder / "corpus/ledger/normalized_documents").rglob("*one*")).write_bytes(b"{")
    return nullcontext()


def _damaged_files(folder: Path) -> AbstractContextManager[None]:
    """Cuts every stored file in half, and flips a bit in what is left; records stay."""
    for file in sorted((folder / "corpus").rglob("*")):
        if file.is_file() and file.stat().st_size > 64 and "ledger" not in file.relative_to(folder).parts:
            content = bytearray(file.read_bytes()[: file.stat().st_size // 2])
            content[len(content) // 2] ^= 8
            times = file.stat()
            file.write_bytes(content)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    return nullcontext()


def _of_another(folder: Path) -> AbstractContextManager[None]:
    """Another corpus, beside the store of this one."""
    (folder / "else").mkdir()
    shutil.copy(folder / "raw/books/one.jsonl", folder / "else/one.jsonl")
    file = folder / "corpus.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    values |= {"name": "another", "sources": [{"name": "else", "location": "else"}]}
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return nullcontext()


def _empty_source(folder: Path) -> AbstractContextManager[None]:
    (folder / "raw/nothing").mkdir()
    values = yaml.safe_load((folder / "corpus.yaml").read_text(encoding="utf-8"))
    source = {"name": "nothing", "location": "raw/nothing", "may_be_empty": True}
    configured(folder, sources=[*values["sources"], source])
    return nullcontext()


def _without_files(folder: Path) -> AbstractContextManager[None]:
    """No source has a file."""
    shutil.rmtree(folder / "corpus")
    for file in (folder / "raw").rglob("*"):
        if file.is_file():
            file.unlink()
    return nullcontext()


STATES: Mapping[str, State] = {
    "fresh": State(_fresh, ">fresh<", "0 missing, 0 stale, 0 waiting"),
    "missing": State(_missing, "missing", "missing"),
    "stale": State(_stale, "stale", "stale"),
    "failed": State(_failed, "failed"),
    "orphans": State(_orphans, "orphan", "orphan"),
    "another builder": State(_another_builder, "is building on this store", "is building on this store"),
    "by Dagster": State(_by_dagster, "missing", "missing"),
    "damaged record": State(_damaged_record, "damaged record", "damaged record"),
    "damaged files": State(_damaged_files, "stale", "stale"),
    "of another": State(_of_another, "belongs to corpus", "belongs to corpus"),
    "empty source": State(_empty_source, "nothing"),
    "without files": State(_without_files, "missing"),
}
