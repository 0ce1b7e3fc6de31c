"""What ftfy changes beside broken characters is said in corpus.yaml, and was as it is where nothing is said."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.card.steps import steps
from corpus_assets.corpus.corpus import Corpus
from resources.errors import ConfigError
from tests.build.small import drive, opened, write_config, write_raw
from tests.export.exported import partitions

TEXT = "schÃ¶n &amp; \ufb01n \uff21 \u201cq\u201d"


def corpus_with(folder: Path, **normalize: Any) -> Corpus:
    sources = [{"name": "own", "location": "raw/own"}]
    write_config(folder, {"sources": sources, "datasets": [], "normalize": {"method": "ftfy", **normalize}})
    return opened(folder)


@pytest.mark.parametrize(
    ("fixes", "text"),
    [
        (None, 'schön & fin A "q"'),
        ({}, 'schön & fin A "q"'),
        ({"unescape_html": "auto", "uncurl_quotes": True}, 'schön & fin A "q"'),
        ({"unescape_html": False}, 'schön &amp; fin A "q"'),
        ({"fix_latin_ligatures": False}, 'schön & \ufb01n A "q"'),
        ({"fix_character_width": False}, 'schön & fin \uff21 "q"'),
        ({"uncurl_quotes": False}, "schön & fin A \u201cq\u201d"),
    ],
    ids=str,
)
def test_documents_and_what_makes_them_stale(tmp_path: Path, fixes: dict[str, Any] | None, text: str) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": "a", "text": TEXT}])
    usual = corpus_with(tmp_path)
    assert drive(usual, usual.graph.select(["+normalized_documents"])).failed == []
    corpus = corpus_with(tmp_path, ftfy=fixes)
    done = drive(corpus, corpus.graph.select(["+normalized_documents"]))
    (partition,) = partitions(corpus, "normalized_documents")
    assert [document.text for document in partition.documents()] == [text]
    changed = {key: value for key, value in (fixes or {}).items() if value is False}
    assert ("normalized_documents" in done.assets()) == bool(changed)
    given = {key: value for key, value in partition.record.parameters.items() if key.startswith("normalize.ftfy")}
    assert given == {f"normalize.ftfy.{key}": value for key, value in changed.items()}
    said = [step for step in steps(corpus.settings.values) if "otherwise than usual" in step]
    assert [f"{key} {value}" in step for step in said for key, value in changed.items()] == [True] * len(changed)


def test_fixes_go_with_ftfy(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": "a", "text": TEXT}])
    with pytest.raises(ConfigError, match="ftfy goes with `method: ftfy`; method is 'nfc'"):
        corpus_with(tmp_path, method="nfc", ftfy={"uncurl_quotes": False})
    with pytest.raises(ConfigError, match="uncurl_quote"):
        corpus_with(tmp_path, ftfy={"uncurl_quote": False})
