"""jq that sees a document and nothing else: no environment, no files, no clock, no standard error.

People share filters. A filter must not copy secrets of the machine into a corpus, and must give the same result on
every machine and every day.
"""

import os
import re
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

_NONE = 'error("not available in a filter: a document may depend on itself alone")'
_MACHINE = ("now", "localtime", "strflocaltime(f)", "input", "inputs", "input_line_number", "modulemeta")
_STOPS = ("halt", "halt_error", "halt_error(f)")
_GUARD = " ".join(
    [
        "def env: {}; def get_search_list: []; def input_filename: null; def debug: .; def debug(f): .; def stderr: .;",
        *(f"def {name}: {_NONE};" for name in (*_MACHINE, *_STOPS)),
        "{} as $ENV |",
    ]
)
"""Definitions that replace the names by which jq reaches beyond its input.

Filters with modules are refused, since modules would have to come before these definitions.
"""

_OUTSIDE = re.compile(r"\b(?:env|ENV|now|localtime|strflocaltime|input\w*|modulemeta|get_search_list|halt\w*)\b")
_LINE = re.compile(r"(?<=, line )\d+")
_compiling = Lock()


def closed_program(expression: str) -> Callable[[str], list[Any]]:
    """Returns a function that gives all values of an expression for a JSON text; `ValueError` if jq cannot parse it."""
    import jq

    with _compiling:
        home = os.environ.pop("HOME", None)  # jq reads definitions from ~/.jq.
        try:
            program = jq.compile(f"{_GUARD}\n{expression if expression.strip() else '.'}")
        except ValueError as error:
            raise ValueError(_LINE.sub(lambda line: str(int(line[0]) - 1), str(error))) from None
        finally:
            if home is not None:
                os.environ["HOME"] = home
    return lambda text: list(program.input_text(text).all())


def reach_outside(expressions: Iterable[str]) -> bool:
    """Returns whether any of these is a name that `CLOSED` redefines."""
    return any(map(_OUTSIDE.search, expressions))
