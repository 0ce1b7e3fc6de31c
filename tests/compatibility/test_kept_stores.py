"""Today's code reads what earlier versions wrote: records, plan and every file."""

from pathlib import Path

import msgspec
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.verification.verify import verify
from resources.ledger.ledger import Ledger
from resources.ledger.records import decode_record, encode_record
from resources.planning.decisions import Status
from tests.build.small import opened
from tests.compatibility.changed import RAISED, changed_recipes
from tests.compatibility.kept import STORES, archive_of, pack, unpack


@pytest.fixture(scope="module", params=STORES, ids=lambda archive: archive.name)
def corpora(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Corpus]:
    folder = tmp_path_factory.mktemp("kept")
    return [opened(folder / name) for name in unpack(request.param, folder)]


def test_the_first_version_that_is_read_is_kept() -> None:
    assert archive_of("0.2.0") in STORES


def test_every_record_is_read(corpora: list[Corpus]) -> None:
    assert corpora
    for corpus in corpora:
        ledger = Ledger(corpus.storage, snapshots=False)
        read = sum(len(ledger.records(asset)) for asset in ledger.assets())
        assert ledger.unreadable == {}
        assert read == sum(entry.path.endswith(".json") for entry in corpus.storage.entries("ledger")) > 10


def test_all_is_fresh_but_what_a_changed_recipe_asks_for(corpora: list[Corpus]) -> None:
    assert [said for corpus in corpora for said in changed_recipes(corpus)] == []


def test_every_file_is_read(corpora: list[Corpus]) -> None:
    for corpus in corpora:
        result = verify(corpus, deep=True)
        assert result.checked > 0
        assert (result.bad, result.unread, result.suspect) == ([], [], [])


def _altered(folder: Path, asset: str, **changes: object) -> Corpus:
    """The smallest kept corpus, with something changed in all records of an asset."""
    unpack(archive_of("0.2.0"), folder)
    corpus = opened(folder / "pages")
    for file in (folder / "pages" / "corpus" / "ledger" / asset).glob("*.json"):
        file.write_bytes(encode_record(msgspec.structs.replace(decode_record(file.read_bytes()), **changes)))
    return corpus


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"code_version": "0", "recipe": "0"}, "code version 0 ->"),
        ({"parameters": {"gone": 1}, "recipe": "0"}, "gone"),
    ],
)
def test_a_changed_recipe_names_its_stage_and_what_to_do(
    changes: dict[str, object], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage alone is named, and not what reads it: that only waits."""
    corpus = _altered(tmp_path, "normalized_documents", **changes)
    (said,) = changed_recipes(corpus)
    assert said.startswith("normalized_documents of corpus pages: ")
    assert words in said
    assert "docs/compatibility.md" in said
    monkeypatch.setitem(RAISED, "normalized_documents", "0.3.0")
    assert changed_recipes(corpus) == []
    waiting = [d for d in corpus.planner().plan().decisions if d.status is Status.WAITING]
    assert len(waiting) > 5


def test_what_is_packed_is_unpacked_without_caches(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "one"
    (folder / "corpus" / "ledger" / ".snapshots").mkdir(parents=True)
    (folder / "corpus.yaml").write_text("name: one\n")
    (folder / "corpus" / "ledger" / ".snapshots" / "a").write_text("cache")
    pack(folder.parent, tmp_path / "kept.tar.xz")
    assert unpack(tmp_path / "kept.tar.xz", tmp_path / "back") == ["one"]
    assert [file.name for file in (tmp_path / "back").rglob("*") if file.is_file()] == ["corpus.yaml"]
