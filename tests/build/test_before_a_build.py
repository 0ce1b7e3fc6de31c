"""Before anything is computed or removed: what would fail later is said, and files are read again where asked."""

from typing import Any

import pytest
from typing_extensions import override

from corpus_assets.cli import clean
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress
from resources.errors import ConfigError
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome
from tests.build.small import Work, opened


class Silent(Progress):
    """Says nothing."""

    @override
    def stage(self, stage: Stage, due: int) -> None:
        raise AssertionError(f"{stage.name} was started")

    @override
    def outcome(self, outcome: Outcome) -> None:
        raise AssertionError(f"{outcome.name} was computed")

    @override
    def doing(self, what: str) -> None:
        pass

    @override
    def done(self) -> None:
        pass


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizer": {"kind": "tokenizer_json", "path": "own.json"}}, "tokenizer: "),
        ({"datasets": [{"name": "a", "tokenizer": {"kind": "neox", "path": "own.json"}}]}, "datasets.a.tokenizer: "),
        (
            {"datasets": [{"name": "a", "mode": "dpo", "input": {"location": "own"}, "chat_template": "{% for %}"}]},
            "datasets.a.chat_template: ",
        ),
    ],
)
def test_what_would_fail_after_hours_is_said_at_once(work: Work, changes: dict[str, Any], message: str) -> None:
    (work.folder / "own.json").write_text('{"model": {}}')
    (work.folder / "own").mkdir()
    (work.folder / "own/a.jsonl").write_text('{"prompt": "a b", "chosen": "c d", "rejected": "e f"}\n')
    work.config(**changes)
    corpus = opened(work.folder)
    with pytest.raises(ConfigError) as found:
        build(corpus, list(corpus.graph), Silent(), checks=False)
    assert str(found.value).startswith(message)


def test_files_that_are_read_again_and_are_the_same_cost_no_partition(work: Work) -> None:
    corpus = opened(work.folder)
    report = build(corpus, list(corpus.graph), Silent(), checks=False, rehash=True)
    assert (report.recomputed, report.failed, report.waiting) == (0, [], [])
    assert work.plan() == {}


def test_partitions_of_files_that_are_gone_are_removed_only_when_forced(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (work.folder / "raw/books").iterdir():
        file.unlink()
    before = opened(work.folder).ledger.records("raw_source").keys()
    with pytest.raises(ConfigError, match=r"source books: .*\n?.*corpus clean --force"):
        clean.run(work.folder / "corpus.yaml", dry_run=False)
    capsys.readouterr()
    clean.run(work.folder / "corpus.yaml", dry_run=True)
    said = capsys.readouterr().out
    assert "source books: " in said and "only with --force: without it corpus clean removes nothing" in said
    clean.run(work.folder / "corpus.yaml", dry_run=True, force=True)
    assert "--force" not in capsys.readouterr().out
    assert opened(work.folder).ledger.records("raw_source").keys() == before
    clean.run(work.folder / "corpus.yaml", dry_run=False, force=True)
    assert not [key for key in opened(work.folder).ledger.records("raw_source") if str(key).startswith("books--")]
