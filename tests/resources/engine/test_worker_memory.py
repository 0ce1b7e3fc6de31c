"""What `engine.memory` counts for a worker before it holds data, against a real worker of each engine."""

from pathlib import Path

import pytest

from benchmarks.engines import opened
from benchmarks.worker_memory import worker_bytes, write_tiny
from resources.engine.memory import OWN_MEMORY, RAY_OWN_MEMORY
from tests.golden import shared


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "ray"])
def test_a_worker_takes_no_more_than_is_counted_before_it_holds_data(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "ray":
        pytest.importorskip("ray", reason="it comes with the extra `ray`")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # `opened` would leave it to later tests.
    tokenizer = shared("tokenizers", "olmo-dolma2", "tokenizer.json")
    taken = worker_bytes(kind, write_tiny(tmp_path / "tiny", tokenizer), "store")
    with opened(kind, 1) as engine:
        assert 100 << 20 < taken <= engine.own_memory


def test_the_page_for_operators_says_what_is_counted() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "clusters.md").read_text(encoding="utf-8")
    for counted in (OWN_MEMORY, RAY_OWN_MEMORY):
        assert f"{counted >> 20} MiB" in page
