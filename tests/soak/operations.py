"""Random operations on a corpus from a seed: its raw files, parameters, outputs and processes."""

import os
import random
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.ui_server import Server
from corpus_assets.orchestration.instance.services import RESTARTS, WITHIN
from tests.build.small import prose, write_config, write_raw

NAMES, LEAST_FILES = 20, 12
"""Different names, and files that are there at any time: a source that lost most of what it had is held back."""
NOTHING, _TRIES = "(nothing)", 20
VARIANTS: tuple[dict[str, object], ...] = (
    {},
    {"minhash.width": 6},
    {"split.holdout": 0.3},
    {"short_documents.threshold": 80},
)
SERVICES = {
    "daemon": "dagster._daemon",
    "code_server": "grpc",
    "web_server": "corpus_assets.webserver",
    "run": "multiprocessing.spawn",
    "worker": "multiprocessing.forkserver",
}
"""A part of the command of each kind of process."""
_RELOAD = """mutation { reloadRepositoryLocation(repositoryLocationName: "corpus") { __typename } }"""
RAW_FILES = {"add": 1, "edit": 1, "delete": 1}
"""How often each is done, where only raw files change."""
ALL = {
    **{"add": 4, "edit": 6, "touch": 3, "delete": 3, "rename": 3, "parameters": 2, "reload": 1},
    **{"lose_output": 3, "damage_output": 3, "kill": 2},
}
AT_REST = (
    *("add", "delete", "rename", "add", "edit", "touch"),
    *("parameters", "reload", "lose_output", "damage_output", "kill"),
)
"""All of them, in an order in which each is possible, whatever the number of files."""
_OUTPUTS = ("documents", "minhashes", "mixed", "splits", "tokens", "duplicate_pairs")


class Harm(NamedTuple):
    """A file of the store, or a record, that was lost or damaged. path: in the store."""

    when: datetime
    path: str


@dataclass
class Operations:
    """What is done to a corpus. base: changes of its configuration. done: how often each.

    harms: outputs that were removed and changed, each of which is made of the same again. times: when each operation
    was done, in seconds since 1970.
    """

    folder: Path
    server: Server
    chance: random.Random
    base: dict[str, object]
    done: Counter[str] = field(default_factory=Counter)
    harms: list[Harm] = field(default_factory=list)
    kills: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    times: list[float] = field(default_factory=list)

    def first(self) -> None:
        """Writes as many raw files as are there at any time."""
        for number in range(LEAST_FILES):
            self._write(f"soak-{number:02}.jsonl")

    def one(self, weights: Mapping[str, int] = ALL) -> str:
        """Does one of these operations; returns what it did, in words."""
        name = self.chance.choices(list(weights), list(weights.values()))[0]
        return self.do(name)

    def surely(self, name: str) -> str:
        """Does one operation; one that depends on what is chosen is tried again until it is possible."""
        for _ in range(_TRIES):
            if not (said := self.do(name)).endswith(NOTHING):
                break
        return said

    def do(self, name: str) -> str:
        """Does one operation; one that is not possible now does nothing."""
        operation: Callable[[], str] = getattr(self, name)
        if said := operation():
            self.done[name] += 1
            self.times.append(time.time())
        return f"{name} {said or NOTHING}"

    def add(self) -> str:
        """A new raw file."""
        free = sorted({f"soak-{number:02}.jsonl" for number in range(NAMES)} - {file.name for file in self._files()})
        return self._write(self.chance.choice(free)) if free else ""

    def edit(self) -> str:
        """Other content in a raw file."""
        return self._write(self.chance.choice(self._files()).name)

    def touch(self) -> str:
        """Another time of the same content."""
        file = self.chance.choice(self._files())
        os.utime(file)
        return file.name

    def delete(self) -> str:
        """One raw file less."""
        files = self._files()
        if len(files) <= LEAST_FILES:
            return ""
        file = self.chance.choice(files)
        file.unlink()
        return file.name

    def rename(self) -> str:
        """The same content under another name."""
        file = self.chance.choice(self._files())
        target = file.with_name(f"soak-{self.chance.randrange(NAMES):02}.jsonl")
        if target.exists():
            return ""
        file.rename(target)
        return f"{file.name} {target.name}"

    def parameters(self) -> str:
        """Another configuration, or one that was there before; the code location is loaded again."""
        chosen = self.chance.choice(VARIANTS)
        write_config(self.folder, {**self.base, **chosen})
        self.reload()
        return str(chosen)

    def reload(self) -> str:
        """The code location is loaded again."""
        with suppress(Exception):  # The web server may have been killed a moment ago.
            self.server.ask(_RELOAD)
        return "the code location"

    def lose_output(self) -> str:
        """A file of the store is gone, or a record."""
        file = self._output("ledger" if self.chance.random() < 0.3 else None)
        if file is None:
            return ""
        file.unlink(missing_ok=True)
        return self._harmed(file)

    def damage_output(self) -> str:
        """A byte of a file of the store is another one."""
        file = self._output(None)
        if file is None:
            return ""
        with suppress(FileNotFoundError):  # A build may just replace it.
            content = bytearray(file.read_bytes())
            if not content:
                return ""
            content[self.chance.randrange(len(content))] ^= 1 << self.chance.randrange(8)
            with file.open("r+b") as out:
                out.write(content)
        return self._harmed(file)

    def kill(self) -> str:
        """A process ends by SIGKILL: a service not more often than it is started again."""
        kind = self.chance.choice(list(SERVICES))
        recent = [when for when in self.kills[kind] if time.monotonic() - when < WITHIN + 60]
        if kind in ("daemon", "code_server", "web_server") and len(recent) >= RESTARTS - 1:
            return ""
        found = self.server.processes(SERVICES[kind])
        if not found:
            return ""
        chosen = self.chance.choice(found)
        with suppress(psutil.Error):
            chosen.kill()
        self.kills[kind].append(time.monotonic())
        return kind

    def _harmed(self, file: Path) -> str:
        self.harms.append(Harm(datetime.now(UTC), file.relative_to(self.folder / "corpus").as_posix()))
        return str(file.relative_to(self.folder))

    def _files(self) -> list[Path]:
        return sorted(self.folder.joinpath("raw/books").glob("soak-*.jsonl"))

    def _output(self, below: str | None) -> Path | None:
        top = self.folder / "corpus"
        folders = [below] if below else [name for name in _OUTPUTS if (top / name).is_dir()]
        files = sorted(file for name in folders for file in (top / name).rglob("*") if _is_output(file, top))
        return self.chance.choice(files) if files else None

    def _write(self, name: str) -> str:
        number = self.chance.randrange(1 << 30)
        count = self.chance.randint(1, 9)
        rows = [{"id": f"{name}-{number}-{n}", "text": prose(f"{number} {n}")} for n in range(count)]
        write_raw(self.folder, f"books/{name}.new", rows)
        shutil.move(self.folder / f"raw/books/{name}.new", self.folder / f"raw/books/{name}")
        return name


def _is_output(file: Path, top: Path) -> bool:
    return file.is_file() and not any(part.startswith(".") for part in file.relative_to(top).parts)
