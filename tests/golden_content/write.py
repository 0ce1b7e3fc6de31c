"""Builds the corpora and writes what their stages make: `.venv/bin/python -m tests.golden_content.write`.

It refuses to write other content of a stage whose code version was not raised.
"""

import sys
import tempfile
from pathlib import Path

from tests.golden_content.corpora import NAMES, built, content_of
from tests.golden_content.digests import FILE, read, unraised, write


def main() -> int:
    """Write all digests; returns 1 if nothing was written, since a code version must be raised first."""
    kept = read()
    with tempfile.TemporaryDirectory() as folder:
        found = {name: content_of(built(name, Path(folder, name))) for name in NAMES}
    if faults := [fault for name in NAMES for fault in unraised(name, kept.get(name, {}), found[name])]:
        print("\n".join(faults), file=sys.stderr)
        return 1
    write(found)
    print(f"{FILE.name}: {sum(map(len, found.values()))} stages of {len(found)} corpora")
    return 0


if __name__ == "__main__":
    sys.exit(main())
