"""A corpus that is built twice on a disk: its store lies there, or the copies of a store in a bucket."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_assets.verification.verify import verify
from resources.storage.s3.paths import unversioned
from tests.build.small import contents, drive, live_records, opened, prose, write_config, write_raw, write_small
from tests.power.machine import Machine

BUILDS = ("first", "second")
Names = set[tuple[str, str | None]]


@dataclass
class Twice:
    """Raw files and configurations of both builds. folder: where corpus.yaml and raw files lie while one is used.

    storage: its section in corpus.yaml. copies: whether only copies of the store lie on the disk, so that a power cut
    there loses nothing.
    """

    folder: Path
    storage: Mapping[str, Any]
    copies: bool = False
    whole: dict[str, dict[str, str]] = field(default_factory=dict)
    """Content after each build, of one that nothing disturbed."""
    made: dict[str, Names] = field(default_factory=dict)
    """Partitions that each build said it made."""

    def become(self, build: str, storage: Mapping[str, Any] | None = None, workers: int = 0) -> None:
        """Brings raw files, with their times, and configuration to what a build is made from."""
        kept = self.folder.with_name(build)
        if not kept.exists():
            write_small(kept)
            if build == "second":
                rows = [{"id": f"n{number}", "text": prose(f"changed {number}")} for number in range(7)]
                write_raw(kept, "books/one.jsonl", rows)
                (kept / "raw/web/b.jsonl.zst").unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(kept, self.folder)
        changes = {"short_documents.threshold": 70} if build == "second" else {}
        write_config(self.folder, {"storage": storage or self.storage, "engine.workers": workers, **changes})

    def build_undisturbed(self, store: Path) -> None:
        """Notes the content that each build makes elsewhere."""
        for build in BUILDS:
            self.become(build, {"root": str(store)})
            assert drive(opened(self.folder)).failed == []
            self.whole[build] = contents(opened(self.folder))

    def record(self, machine: Machine) -> None:
        """Builds twice on the disk of a machine; a mark follows each partition that a build said was done."""
        for build in BUILDS:
            self.become(build, workers=2)
            self.made[build] = set()
            machine.mark(build)
            command = [str(Path(sys.executable).with_name("corpus")), "build", "--events", "--no-checks"]
            asked = [*command, "--config", str(self.folder / "corpus.yaml")]
            with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    event = json.loads(line)
                    if event.get("kind") == "partition":
                        self.made[build].add((event["asset"], event["partition"]))
                        machine.mark(json.dumps([event["asset"], event["partition"]]))
            assert process.returncode == 0, f"the {build} build ended with {process.returncode}"
        machine.mark("end")

    def promised(self, marks: Sequence[str]) -> tuple[str, Names]:
        """Returns the build that ran at a cut, and the partitions that must be recorded after it."""
        if self.copies:
            return BUILDS[-1], set().union(*self.made.values())
        build, names = BUILDS[0], Names()
        for mark in marks:
            if mark in BUILDS:
                build = mark
                names -= self.made[mark]
            elif mark != "end":
                asset, key = json.loads(mark)
                names.add((asset, key))
        return build, names

    def look(self, build: str, names: Names) -> tuple[int, int, str]:
        """Looks at the store after a cut, and builds; returns partitions kept and made again, and what is wrong."""
        found = opened(self.folder)
        bad = verify(found, deep=True).bad
        kept = live_records(found)
        live = {(stage.name, key) for stage in found.graph for key in found.planner().partitions(stage)}
        lost = [name for name in names if name in live - kept.keys() and name[0] != "report"]
        built = drive(found)
        after = {unversioned(path): digest for path, digest in contents(opened(self.folder)).items()}
        wrong = [f"lost {sorted(lost, key=str)}"] if lost else []
        wrong += [f"verify finds {bad}"] if bad else []
        wrong += [f"the next build fails: {built.failed}"] if built.failed else []
        wrong += [f"computed again: {built.recomputed}"] if self.copies and built.recomputed else []
        wrong += ["the next build has another content"] if after != self.whole[build] else []
        return len(kept), len(built.recomputed), "; ".join(wrong)
