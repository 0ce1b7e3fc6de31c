"""The benchmark of real texts: what is in its raw files, what it counts, and the memory of a family of processes."""

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import process_tree, real, real_plot, real_texts
from corpus_assets.raw.readers import RawFile, RowRules, read_documents
from resources.formats.documents import Document

PARENT = """
import subprocess, sys
child = "held = bytearray(b'x') * (48 << 20); [n * n for n in range(6_000_000)]"
for process in [subprocess.Popen([sys.executable, "-c", child]) for _ in range(2)]:
    process.wait()
print("over")
"""
PAGES = {"a/index.html": b"<p>One page of text.</p>", "b.htm": b"<p>Another page of text.</p>", "c.css": b"p {}"}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_pages_are_records_that_the_reader_of_web_crawls_reads(tmp_path: Path) -> None:
    folder = write(tmp_path / "texts", PAGES)
    size = real_texts.write_pages(real_texts.pages(folder), tmp_path / "raw", "docs")
    [file] = (tmp_path / "raw").iterdir()
    assert size == sum(len(content) for name, content in PAGES.items() if not name.endswith(".css"))
    records = gzip.decompress(file.read_bytes())
    assert records.count(b"WARC/1.0\r\n") == 2
    assert b"http://pages.example/a/index.html" in records


def test_sources_are_documents(tmp_path: Path) -> None:
    files = {"a.c": b"int a;\n", "b.bin": b"\xff\xfe", "c.txt": b"\0", "d.txt": b"  \n", "e.txt": "é".encode()}
    folder = write(tmp_path / "texts", files)
    real_texts.write_sources(real_texts.sources(folder), tmp_path / "raw", "code")
    [file] = (tmp_path / "raw").iterdir()
    read = list(read_documents(RawFile(file.name, lambda: file.open("rb")), RowRules("code")))
    assert [(row.id, row.text) for row in read if isinstance(row, Document)] == [("a.c", "int a;\n"), ("e.txt", "é")]


def test_a_raw_file_holds_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_texts, "SHARD_BYTES", 10)
    real_texts.write_sources(((f"{number}", b"12345") for number in range(6)), tmp_path, "code")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_sample_is_part_of_every_larger_one() -> None:
    names = [f"file {number}" for number in range(2000)]
    third, all_but_none = ({name for name in names if real_texts.is_in(name, share)} for share in (1 / 3, 1.0))
    assert third < all_but_none == {*names}
    assert 550 < len(third) < 790


def test_a_package_that_apt_does_not_know_says_so(tmp_path: Path) -> None:
    with pytest.raises(real_texts.AbsentError) as absent:
        real_texts.download("no-package-of-this-name", tmp_path)
    assert str(absent.value)


def size(raw_mb: float, **stages: float) -> dict[str, Any]:
    return {
        "files": 10,
        "raw_mb": raw_mb,
        "text_mb": raw_mb / 2,
        "wall_s": 5.0,
        "cpu_s": sum(stages.values()) + 1,
        "peak_memory_mb": 400,
        "disk_mb": 20,
        "stages": stages,
    }


def test_a_stage_that_is_slower_than_linear_has_a_growth_over_one() -> None:
    small, large = size(100, minhashes=10, train=2, inventory=0.1), size(300, minhashes=36, train=6, inventory=9)
    assert real.growths(small, large) == {"minhashes": 1.2, "train": 1.0}
    measured = {"absent": {"rust-doc": "no apt"}, "workers": 2, "small": small, "large": large, "peers": {}}
    figures = real.figures_of(measured)
    assert figures["largest_growth_of_a_stage"] == 1.2
    assert figures["mb_per_cpu_s"] == round(300 / 52, 2)
    shown = real.section(measured)
    assert "| minhashes | 36.0 | 120.00 | 1.20 |" in shown["real_stages"]
    assert shown["real_absent"] == "Left out: rust-doc (no apt)."


def test_the_chart_has_two_bars_for_each_stage() -> None:
    chart = real_plot.draw("a & b", [real_plot.Bar("minhashes", 30, 24), real_plot.Bar("train", 15, 30)])
    assert "a &amp; b" in chart
    assert chart.count('height="10"') == 2 + 4
    assert f'width="{real_plot.WIDTH / 2}"' in chart


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_and_time_are_those_of_all_processes(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    taken = process_tree.run([sys.executable, str(script)], folder=tmp_path)
    assert taken.output == "over\n"
    assert taken.peak_bytes > 2 * 48 << 20
    assert taken.cpu_seconds > 0
