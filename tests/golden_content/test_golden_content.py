"""No content changes without a raised code version, and every kind of stage is in a corpus whose content is known."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from resources.formats.jsonl.compressions import COMPRESSIONS, LZ4, ZSTD
from tests.golden_content import digests, kinds
from tests.golden_content.corpora import NAMES, built, content_of, placed
from tests.golden_content.digests import Kept

WAS = {"normalized_documents": Kept("2", "of the same", "old")}


COMPRESSED = list(zip(NAMES, cycle((ZSTD.name, LZ4.name)), strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "compression"), COMPRESSED)
def test_content_follows_code_versions(name: str, compression: str, tmp_path: Path) -> None:
    """Rows of the kept content were in gzip: content does not depend on how it is compressed."""
    corpus = built(name, tmp_path / name, compression)
    found, kept = content_of(corpus), digests.read().get(name, {})
    assert any(path.endswith(COMPRESSIONS[compression].ending) for path in corpus.storage.paths(""))
    assert digests.unraised(name, kept, found) == []
    assert digests.outdated(name, kept, found) == []
    assert kept == found


def test_every_kind_of_stage_is_in_a_corpus(tmp_path: Path) -> None:
    found = {kind for name in NAMES for kind in kinds.found_in(placed(name, tmp_path / name))}
    missing = sorted(kinds.possible() - found)
    assert missing == [], "add what has them to a file of tests/golden_content/corpora"


def test_every_corpus_is_kept() -> None:
    assert sorted(digests.read()) == NAMES


def test_other_content_of_the_same_asks_for_a_code_version() -> None:
    now = {"normalized_documents": replace(WAS["normalized_documents"], content="new")}
    (said,) = digests.unraised("web", WAS, now)
    assert said.startswith("normalized_documents makes other content of the same input than it did (corpus web)")
    assert "its code_version is still '2'" in said
    assert said.endswith(f"raise the code_version of the stage if the change is meant, then run {digests.AGAIN}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code_version": "3", "content": "new"}, "has code_version '3', and '2' in digests.yaml"),
        ({"made_of": "of another", "content": "new"}, "reads other content or has other parameters"),
    ],
)
def test_digests_are_written_again_where_a_change_is_declared(change: dict[str, str], words: str) -> None:
    now = {name: replace(kept, **change) for name, kept in WAS.items()}
    assert digests.unraised("web", WAS, now) == []
    (said,) = digests.outdated("web", WAS, now)
    assert words in said
    assert said.endswith(f"; run {digests.AGAIN}")


def test_new_stages_and_those_that_are_gone_are_named() -> None:
    (new,) = digests.outdated("web", {}, WAS)
    assert new.startswith("normalized_documents of corpus web is not in digests.yaml")
    (gone,) = digests.outdated("web", WAS, {})
    assert gone.startswith("normalized_documents is in digests.yaml, and not in corpus web any more")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    digests.write({"web": WAS}, tmp_path / "kept.yaml")
    assert digests.read(tmp_path / "kept.yaml") == {"web": WAS}


def test_a_changed_algorithm_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all stages only the one that changed is told to raise its code version; what reads it is not."""
    monkeypatch.setattr("corpus_assets.normalize.assets.normalizer_of", lambda *_: str.upper)
    found = content_of(built("sampled", tmp_path / "sampled"))
    said = digests.unraised("sampled", digests.read()["sampled"], found)
    assert [words.partition(" ")[0] for words in said] == ["normalized_documents"]
