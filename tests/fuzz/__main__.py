"""Gives hostile inputs to everything that reads what comes from outside: `make fuzz`.

Led by coverage where `atheris` is installed, else by changes from a seed. An input that breaks a reader, with any
other error than its typed ones, over 10 s or over 1 GiB of memory, is kept in `data/fuzz/NAME`; once it is mended, it
belongs in `tests/fuzz/regressions/NAME`.
"""

import argparse
import random
import sys
from pathlib import Path

from tests.fuzz.harness import harnesses
from tests.fuzz.running import has_atheris, run
from tests.house import TOP


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which; by default all: {', '.join(harnesses())}")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each of them")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(1 << 30)), help="of the changes")
    parser.add_argument("--plain", action="store_true", help="by changes from a seed, even where atheris is there")
    parser.add_argument("--finds", type=Path, default=TOP / "data/fuzz", help="folder of inputs that break something")
    given = parser.parse_args()
    if unknown := set(given.names) - harnesses().keys():
        parser.error(f"{', '.join(sorted(unknown))}: valid are {', '.join(harnesses())}")
    by_coverage = has_atheris() and not given.plain
    print(f"seed {given.seed}, {'led by coverage' if by_coverage else 'by changes from a seed'}", flush=True)
    broken = 0
    names = given.names or list(harnesses())
    for found in run(names, given.seconds, given.seed, given.finds, by_coverage=by_coverage):
        broken += bool(found.broke)
        told = f"BROKEN by {found.kept}\n{found.broke}" if found.broke else f"{found.runs:,} inputs"
        print(f"{found.name:32} {told}", flush=True)
    sys.exit(f"{broken} of them broke" if broken else 0)


if __name__ == "__main__":
    main()
