"""Calls `answer(given)` of a module of this folder, with JSON from the input and as the last line of the output."""

import importlib
import json
import sys

if __name__ == "__main__":
    found = importlib.import_module(f"tests.export.readers.inside.{sys.argv[1]}").answer(json.load(sys.stdin))
    print(f"\n{json.dumps(found)}", flush=True)
