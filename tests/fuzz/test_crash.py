"""A file that ends the process of its parser costs its own partition, with the reason, and nothing else."""

import gzip
import json
from pathlib import Path

import pytest

from resources.planning.planner import Status
from tests.build.small import opened, prose, write_raw
from tests.faults.command import run
from tests.raw.warc_files import response

MODULE = """
import ctypes, os

def text(html):
    if "SEGFAULT" in html:
        ctypes.string_at(0)
    if "ABORT" in html:
        os.abort()
    return html
"""
SIGNALS = {"SEGFAULT": "signal 11 (SIGSEGV)", "ABORT": "signal 6 (SIGABRT)"}


def page(number: int, body: str) -> bytes:
    return gzip.compress(response(body.encode(), url=f"https://example.org/{number}", kind="text/html"))


@pytest.mark.parametrize("crash", SIGNALS)
def test_a_crash_of_a_parser_costs_one_partition(crash: str, tmp_path: Path) -> None:
    (tmp_path / "crashing.py").write_text(MODULE)
    (tmp_path / "raw/web").mkdir(parents=True)
    (tmp_path / "raw/web/good.warc.gz").write_bytes(b"".join(page(n, prose(n)) for n in range(3)))
    (tmp_path / "raw/web/bad.warc.gz").write_bytes(page(1, prose(9)) + page(2, f"<p>{crash}"))
    write_raw(tmp_path, "books/one.jsonl", [{"id": str(n), "text": prose(f"b {n}")} for n in range(3)])
    config = {
        "sources": [
            {"name": "web", "location": "raw/web", "extractor": "crashing:text"},
            {"name": "books", "location": "raw/books"},
        ],
        "engine": {"workers": 2},
        "storage": {"sync": False},
    }
    (tmp_path / "corpus.yaml").write_text(json.dumps(config))
    code, out, err = run(tmp_path, "build", "--quiet", "--select", "+normalized_documents")
    assert code == 1
    assert "normalized_documents/web--bad" in out + err and SIGNALS[crash] in out + err
    decided = opened(tmp_path).planner().plan().of("normalized_documents")
    assert {one.partition: one.status is Status.FRESH for one in decided} == {
        "web--good": True,
        "web--bad": False,
        "books--one": True,
    }
