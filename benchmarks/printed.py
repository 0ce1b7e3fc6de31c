"""The command line that scripts share: `--quick`, `--json`, and figures one a line."""

import argparse
import json
from collections.abc import Callable
from typing import Any


def printed(description: str | None, measure: Callable[[bool], dict[str, Any]]) -> None:
    """Prints the figures of a script. measure: returns them, given whether inputs are to be small."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small inputs")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    chosen = parser.parse_args()
    figures = measure(chosen.quick)
    if chosen.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:40}{'not measured' if value is None else value:>14}")
