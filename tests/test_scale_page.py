"""`docs/scale.md` shows the runs that are stored, and says what larger corpora take from the largest of them."""

import json

from benchmarks.scale_page import FIGURES, TARGET, larger, tables


def test_the_page_shows_the_stored_runs() -> None:
    shown = tables(json.loads(FIGURES.read_text()))
    assert shown in TARGET.read_text(encoding="utf-8"), "python -m benchmarks.scale_page"


def test_larger_corpora_take_what_the_largest_run_took_per_document() -> None:
    costs = {"cpu_s": 3.6, "disk_mb": 300}
    stages = {
        "duplicate_pairs": costs,
        "cluster_roots": costs,
        "components": costs,
        "holdout_hashes": costs,
    }
    largest = {"documents": 1_000_000, "memory_mb": 1_000, "stages": stages}
    page = larger([{"documents": 1, "stages": {}}, largest])
    assert "From the run over 1,000,000 documents." in page
    # Four stages of ten hours. Per document 16 bytes; on disk 288 and twice 12.
    assert page.splitlines()[-1] == "| 10,000,000,000 | 40.0 | 30.0 | 161.0 | 3,120.0 | 5,120.0 |"
