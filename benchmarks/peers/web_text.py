"""Extracts pages with one package, in the environment that has it: `web_text.py PACKAGE PAGES`.

PAGES is a JSON object of pages by name. It prints a JSON object: the texts by name, the CPU seconds of the best of two
rounds, version and licence. It imports nothing of this project.
"""

import json
import logging
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from typing import Any


def magic_html() -> Callable[[str], str]:
    extract = import_module("magic_html").GeneralExtractor().extract
    return lambda page: plain(extract(page, base_url="https://example.org/")["html"])


def rs_trafilatura() -> Callable[[str], str]:
    extract = import_module("rs_trafilatura").extract
    return lambda page: extract(page).main_content or ""


def readability() -> Callable[[str], str]:
    document = import_module("readability").Document
    return lambda page: plain(document(page).summary())


def justext() -> Callable[[str], str]:
    module = import_module("justext")
    words = module.get_stoplist("English")
    return lambda page: "\n".join(part.text for part in module.justext(page, words) if not part.is_boilerplate)


def plain(html: str) -> str:
    """The text of a piece of HTML."""
    return str(import_module("lxml.html").fromstring(html).text_content())


EXTRACTORS = {
    "magic-html": magic_html,
    "rs-trafilatura": rs_trafilatura,
    "readability-lxml": readability,
    "justext": justext,
}


def licence_of(package: str) -> str:
    known: Any = metadata(package)
    given = known.get("License-Expression") or known.get("License")
    classifiers = [line.rpartition(" :: ")[2] for line in known.get_all("Classifier", []) if line.startswith("License")]
    return str(given or ", ".join(classifiers) or "no licence given").splitlines()[0]


def main() -> None:
    logging.disable(logging.CRITICAL)
    package, file = sys.argv[1:]
    pages: dict[str, str] = json.loads(Path(file).read_text(encoding="utf-8"))
    extract = EXTRACTORS[package]()
    texts: dict[str, str] = {}
    seconds = []
    for _ in range(2):
        started = time.process_time()
        for name, page in pages.items():
            try:
                texts[name] = extract(page) or ""
            except Exception:  # A page that it cannot read has no text.
                texts[name] = ""
        seconds.append(time.process_time() - started)
    found = {"texts": texts, "seconds": min(seconds)}
    print(json.dumps(found | {"version": metadata(package)["Version"], "licence": licence_of(package)}))


if __name__ == "__main__":
    main()
