"""Random operations on a corpus for an hour, from a printed seed: `make soak`, or `make soak SECONDS=300`.

`corpus ui` runs with the sensor on. Raw files are added, edited, touched, deleted and renamed; parameters go back and
forth; outputs and records are deleted or damaged; the daemon, the code server, the web server, runs and workers are
killed; the code location is loaded again. Then this is looked at, and the command ends with 1 if any is not so: the
content equals that of a new build, digest by digest; nothing was computed twice of the same; after each of these
operations at rest exactly what the plan says was computed; a file that cannot be read is explained, and tried at most
twice; processes and memory are back; no secret of the environment is anywhere.

With `--raw-files` only raw files are added, edited and deleted, and no tick of the sensor may fail, nor more than one
(at which no run is active) come between a change and the run that builds it. With `--postgres` Dagster keeps its runs
in Postgres (extras postgres and postgres-server).
"""

import argparse
import json
import random
import sys

from tests.soak.soaking import faults, measure

SECONDS, TICK = 3600.0, 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long operations follow each other")
    parser.add_argument("--tick", type=int, default=TICK, help="seconds between two ticks of the sensor")
    parser.add_argument("--seed", type=int, default=None, help="of the operations; by default another one each time")
    parser.add_argument("--raw-files", action="store_true", help="only raw files change, and nothing is killed")
    parser.add_argument("--postgres", action="store_true", help="Dagster keeps its runs in a server of Postgres")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 30) if given.seed is None else given.seed
    sys.stderr.write(f"seed {seed}\n")
    found = measure(given.seconds, given.tick, seed, raw_files=given.raw_files, postgres=given.postgres)
    print(json.dumps(found) if given.json else "\n".join(f"{name:24}{value:>12,}" for name, value in found.items()))
    if wrong := faults(found):
        sys.exit(f"seed {seed}: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
