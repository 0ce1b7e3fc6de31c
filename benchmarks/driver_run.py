"""One build whose driver and workers are timed: `python -m benchmarks.driver_run FOLDER` prints the figures as JSON."""

import json
import sys
from pathlib import Path


def main() -> None:
    # Workers load this module like that of `corpus`, so it loads as little.
    from benchmarks.timed_build import timed_build

    print(json.dumps(timed_build(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
