"""Extractors of main text, beside each other: `python -m benchmarks.web_text [--quick] [--json] [--python PYTHON]`.

The pages are two thirds of the article extraction benchmark of Zyte (then Scrapinghub; MIT licence), from the shared
data. Its measure: words are `\\w+`; per page the multisets of sequences of four words, wanted and found; precision and
recall are means over pages, and F1 is of these two means. Ours read the pages from a WARC file as a build does. The
rules of `combined` were chosen on one half of the pages, by a keyed hash of their names; the other half is `held out`.
Peers run in an environment that is thrown away (`--python` names its interpreter: some need Python 3.12); one that pip
cannot install is left out, with the reason.
`benchmarks.web_code` measures code blocks.
"""

import argparse
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import web_code
from benchmarks.peers.web_text import EXTRACTORS, licence_of
from corpus_assets.raw.readers import RawFile, RowRules, read_documents
from corpus_assets.raw.rows.rules import FormatOptions
from corpus_assets.raw.web.charsets import read
from corpus_assets.raw.web.extractors import Extraction, extractor
from corpus_assets.raw.web.libraries import PARTS
from resources.errors import ConfigError
from resources.formats.documents import Document
from tests.golden import SHARED
from tests.raw.warc_files import response

FOLDER = SHARED / "data" / "extraction"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "web-text.md"
PEERS = Path(__file__).resolve().parent / "peers" / "web_text.py"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
ROUNDS = 3
_WORD = re.compile(r"\w+", re.UNICODE)
_NAME = re.compile(r"[0-9a-f]{64}")

Texts = Mapping[str, str]


def pages(quick: bool) -> dict[str, bytes]:
    """The pages by their name; a few of them for a quick look."""
    files = sorted((FOLDER / "html").glob("*.html.gz"))
    return {file.name.partition(".")[0]: gzip.decompress(file.read_bytes()) for file in files[: 12 if quick else None]}


def is_held_out(name: str) -> bool:
    """Whether a page is of the half that no rule was chosen on."""
    return bool(hashlib.blake2b(name.encode(), key=b"extraction half").digest()[0] & 1)


def scores(wanted: Texts, found: Texts) -> tuple[float, float, float]:
    """Precision, recall and F1 by the measure of the benchmark."""
    shares = [_page_scores(text, found.get(name, "")) for name, text in wanted.items()]
    precision, recall = (sum(values) / max(1, len(values)) for values in zip(*shares, strict=True))
    return precision, recall, 2 * precision * recall / ((precision + recall) or 1)


def _page_scores(wanted: str, found: str) -> tuple[float, float]:
    ours, theirs = _sequences(found), _sequences(wanted)
    hits, extra, missed = (ours & theirs).total(), (ours - theirs).total(), (theirs - ours).total()
    if not extra and not missed:
        return 1.0, 1.0
    return hits / ((hits + extra) or 1), hits / ((hits + missed) or 1)


def _sequences(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[start : start + 4]) for start in range(max(1, len(words) - 3)) if words)


def texts_of(content: bytes, how: Extraction) -> dict[str, str]:
    """The texts of a WARC file as a build reads them, by the name in the address of each page."""
    options = FormatOptions(extractors=how.extractors, least=how.least, form=how.form)
    rows = read_documents(
        RawFile("pages.warc", lambda: io.BytesIO(content)), RowRules("pages", format="warc", options=options)
    )
    found = {}
    for row in rows:
        if isinstance(row, Document) and (name := _NAME.search(bytes(row.metadata).decode())):
            found[name.group()] = row.text
    return found


def measured(content: bytes, size: int, how: Extraction, rounds: int) -> tuple[dict[str, str], float]:
    """Texts, and MB of HTML per CPU-second of the best round."""
    seconds, found = [], {}
    for _ in range(rounds):
        started = time.process_time()
        found = texts_of(content, how)
        seconds.append(time.process_time() - started)
    return found, size / 1e6 / min(seconds)


def row_of(wanted: Texts, found: Texts, rate: float) -> dict[str, float]:
    """The figures of one extractor."""
    precision, recall, f1 = scores(wanted, found)
    held = {name: text for name, text in wanted.items() if is_held_out(name)}
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "F1": round(f1, 4),
        "F1 held out": round(scores(held, found)[2], 4),
        "MB of HTML per CPU-second": round(rate, 2),
    }


def articles(quick: bool, python: str) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Figures of ours and of peers by name, and why some are absent."""
    raw = pages(quick)
    truth = json.loads((FOLDER / "ground-truth.json").read_text(encoding="utf-8"))
    wanted = {name: truth[name]["articleBody"] for name in raw}
    content = b"".join(
        response(page, url=f"https://example.org/{name}", kind="text/html") for name, page in raw.items()
    )
    size = sum(map(len, raw.values()))
    rows: dict[str, dict[str, Any]] = {}
    absent: dict[str, str] = {}
    for name, (names, form) in web_code.OURS.items():
        try:
            how = Extraction(names, web_code.LEAST, form)
            extractor(how)
        except ConfigError as fault:
            absent[name] = str(fault)
            continue
        rows[name] = row_of(wanted, *measured(content, size, how, 1 if quick else ROUNDS))
        rows[name]["of"] = "; ".join(_named(part, version(part), licence_of(part)) for part in _packages(names))
    decoded = {name: read(page, None, is_html=True).text for name, page in raw.items()}
    for name, found in peers(decoded, python).items():
        if "texts" not in found:
            absent[name] = found["fault"]
            continue
        rows[name] = row_of(wanted, found["texts"], size / 1e6 / found["seconds"])
        rows[name]["of"] = _named(name, found["version"], found["licence"])
    return rows, absent


def peers(decoded: Mapping[str, str], python: str) -> dict[str, dict[str, Any]]:
    """What `benchmarks/peers/web_text.py` says in an environment of its own, package by package."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        given, own = Path(place, "pages.json"), str(Path(place, "venv", "bin", "python"))
        given.write_text(json.dumps(decoded), encoding="utf-8")
        _run([python, "-m", "venv", str(Path(place, "venv"))])
        pip = [own, "-m", "pip", "install", "--prefer-binary", "--upgrade"]
        _run([*pip, "pip"])
        for package in EXTRACTORS:
            try:
                _run([*pip, package, "lxml-html-clean"])
                found[package] = json.loads(_run([own, str(PEERS), package, str(given)]))
            except subprocess.CalledProcessError as fault:
                found[package] = {"fault": (fault.stderr.strip().splitlines() or ["it fails"])[-1]}
    return found


def _packages(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield from PARTS if name == "combined" else (name,)


def _named(package: str, number: str, licence: str) -> str:
    return f"{package} {number} ({licence})"


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(rows: Mapping[str, Mapping[str, Any]], first: str) -> str:
    """One row per extractor."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    head = [f"| {first} | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    return "\n".join([*head, *(f"| {name} | {' | '.join(map(_shown, row.values()))} |" for name, row in rows.items())])


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def measure(quick: bool, python: str = sys.executable) -> dict[str, Any]:
    """All figures; none without the shared data."""
    if not FOLDER.is_dir():
        return {"articles": {}, "absent": {"all": "there is no shared data beside the checkout"}, "code": {}}
    rows, absent = articles(quick, python)
    return {"articles": rows, "absent": absent, "code": web_code.measure(quick)}


def section(figures: Mapping[str, Any]) -> str:
    """Both tables, and what is absent."""
    parts = [table(figures["articles"], "extractor")] if figures["articles"] else []
    parts += [table(figures["code"], "share of code blocks")] if figures["code"] else []
    parts += [f"- {name} is not measured: {why}" for name, why in figures["absent"].items()]
    return "\n\n".join(parts)


def write_page(figures: Mapping[str, Any]) -> None:
    """Puts the figures into docs/web-text.md."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{section(figures)}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few pages")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environments of peers")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/web-text.md")
    given = parser.parse_args()
    figures = measure(given.quick, given.python)
    if given.write:
        write_page(figures)
    print(json.dumps(figures) if given.json else section(figures))


if __name__ == "__main__":
    main()
