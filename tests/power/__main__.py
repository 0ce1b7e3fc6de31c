"""The power of the machine is cut while a corpus is built: `make power`.

A corpus is built and, after changes of raw files and parameters, built again, with its store on a disk that writes down
all that reaches it (`disk.py`), on each of ext4, XFS and Btrfs. Then, for places in this log, the disk is made as a
power cut there would have left it: all that was flushed, and of the rest nothing, all, or some sectors. The file system
recovers, and this is looked at: every partition of which the build had said that it is done is recorded, unless the
second build was about to replace it; `verify --deep` finds nothing; the next build makes the content of an undisturbed
one. With `--copies` the store is in a bucket (extra s3-server), and its copies are on the disk: nothing is computed
again. Needs root, loop devices and FUSE.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.every_call import ONE_THREAD, forked_or_words
from tests.object_store import ENVIRONMENT, moto
from tests.power.corpora import BUILDS, Twice
from tests.power.cuts import HOWS, Cut, How, apply, between, cuts
from tests.power.machine import SYSTEMS, Machine, lacks


@dataclass
class Tally:
    """What became of the cuts. kept and made_again: partitions, over all cuts."""

    cuts: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    made_again: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, how: How, cut: Cut, build: str, found: tuple[int, int, str] | str) -> None:
        kept, again, wrong = (0, 0, found) if isinstance(found, str) else found
        self.cuts[how] += 1
        self.kept, self.made_again = self.kept + kept, self.made_again + again
        if wrong:
            self.wrong.append(f"cut at {cut.place}, {how} of {len(cut.pending)} writes, {build} build: {wrong}")
            sys.stderr.write(f"{self.wrong[-1]}\n")

    def __str__(self) -> str:
        ways = ", ".join(f"{how} {self.cuts[how]}" for how in HOWS)
        return (
            f"{self.cuts.total()} cuts (of what was not flushed there is {ways}); partitions kept {self.kept:,}, made "
            f"again {self.made_again:,}; wrong {len(self.wrong)}"
        )


def cut_power(machine: Machine, corpus: Twice, cut: Cut, how: How, seed: int, tally: Tally) -> None:
    """Makes the disk as after the cut, and looks at it."""
    build, names = corpus.promised(cut.marks)
    corpus.become(build)
    with machine.tried() as image:
        with image.open("r+b") as file:
            apply(cut.lost(how, seed), file)
        try:
            with machine.mounted():
                found = forked_or_words(tuple[int, int, str], partial(corpus.look, build, names))
        except OSError as fault:
            found = str(fault)
    tally.add(how, cut, build, found)


@contextmanager
def storage_of(folder: Path, files: Path, *, copies: bool, sync: bool) -> Iterator[Mapping[str, Any]]:
    """Yields the section `storage` of a store, or of copies, on the disk."""
    if not copies:
        yield {"root": str(files / "store"), "sync": sync}
        return
    os.environ.update(ENVIRONMENT)
    folder.mkdir()
    with moto(folder) as server:
        cache = {"folder": str(files / "copies")}
        yield {"root": f"s3://{server.bucket}/power", "s3": server.section, "cache": cache}


def measure(system: str, given: argparse.Namespace, seed: int) -> Tally:
    """Cuts the power at places of the log of two builds, in each way."""
    tally, until = Tally(), time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        machine = Machine(top / "machine", given.python)
        with storage_of(top / "server", machine.files, copies=given.copies, sync=not given.no_sync) as storage:
            corpus = Twice(top / "corpus", storage, given.copies)
            corpus.build_undisturbed(top / "undisturbed")
            with machine.recording(system):
                corpus.record(machine)
            places = between(machine.log, BUILDS[0], given.cuts, seed)
            with machine.log.open("rb") as log, machine.durable.open("r+b") as durable:
                for cut in cuts(log, durable, places):
                    for how in HOWS if cut.pending else HOWS[:1]:
                        if time.monotonic() < until:
                            cut_power(machine, corpus, cut, how, seed, tally)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.power", description=__doc__)
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS, help="file systems")
    parser.add_argument("--cuts", type=int, default=100, help="places for cuts, in each file system")
    parser.add_argument("--seconds", type=float, default=3600, help="longest time for each file system")
    parser.add_argument("--seed", type=int, default=None, help="of the places; by default another one each time")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with the package mfusepy")
    parser.add_argument("--copies", action="store_true", help="the store is in a bucket, its copies are on the disk")
    parser.add_argument("--no-sync", action="store_true", help="storage.sync: false, so that cuts must do harm")
    given = parser.parse_args()
    seed = Random().randrange(1 << 30) if given.seed is None else given.seed
    os.environ.update(ONE_THREAD)
    sys.stderr.write(f"seed {seed}\n")
    right = True
    for system in given.systems:
        if missing := lacks(system):
            sys.exit(f"{system}: this machine lacks {missing}")
        tally = measure(system, given, seed)
        print(f"{system}: {tally}", flush=True)
        right &= bool(tally.wrong) == given.no_sync and bool(tally.cuts)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
