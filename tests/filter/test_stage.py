"""The asset `filtered_documents`: what it holds, what recomputes it, and that all that follows reads it."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typing_extensions import override

from corpus_assets import stages
from corpus_assets.cli.questions.show import Asked, show_partition
from corpus_assets.cli.questions.wanted import wanted
from corpus_assets.normalize.text_table import row_of
from corpus_assets.split.checks import flows
from corpus_assets.verification.verify import verify
from resources.documents.row_rule import Discard, Drop, Replace, Replacement, Row, RowRule, RuleSet, Verdict
from resources.errors import ConfigError
from resources.formats.attributes import attribute_rows
from resources.formats.jsonl.members import TABLE
from resources.stage.hooks import Hooks, Values
from resources.stage.task import Task
from tests.build.small import Work, contents, drive, live_records, opened, write_raw
from tests.filter.corpora import ONE, changes, documents, filtered, partitions, small, words, write_texts

WORDS = "quality.gopher_v2.word_count"
_COMPARED = {"minhashes", "band_keys", "verified_pairs", "cluster_members", "guarded_clusters", "components"}
AFTER = {"report", "short_documents", "mixed_pass1", *_COMPARED}


def test_without_a_filter_the_graph_is_as_it_was(tmp_path: Path) -> None:
    graph = small(tmp_path, None).graph
    assert "filtered_documents" not in graph.stages
    assert all(edge.instead_of is None for stage in graph for edge in stage.inputs)


def test_all_that_follows_reads_what_is_left_and_attributes_do_not(tmp_path: Path) -> None:
    graph = small(tmp_path, {"min_text_length": 1}).graph
    assert {stage.name for stage in graph.readers("filtered_documents")} == AFTER
    read = {stage.name for stage in graph.readers("normalized_documents")}
    assert read == {"quality_attributes", "filtered_documents", "report"}
    assert pickle.loads(pickle.dumps(graph["filtered_documents"])).inputs == graph["filtered_documents"].inputs


def test_rows_are_kept_or_counted_with_their_rule(tmp_path: Path) -> None:
    corpus = filtered(small(tmp_path, {"rules": {WORDS: {"min": 3, "max": 100}}, "min_text_length": 20}))
    before, after = documents(corpus, "normalized_documents"), documents(corpus, "filtered_documents")
    gone = [document for document in before if document not in after]
    assert after == [document for document in before if 3 <= len(document.text.split()) <= 100] != []
    assert sorted(change["id"] for change in changes(corpus)) == sorted(document.id for document in gone)
    assert {change["dropped"] for change in changes(corpus)} == {WORDS}
    records = [one.record for one in partitions(corpus, "filtered_documents").values()]
    assert sum(record.statistics["rows_out"] for record in records) == len(after)
    assert sum(record.statistics.get("dropped", {}).get(WORDS, 0) for record in records) == len(gone)
    one = next(record for record in records if record.partition == ONE)
    assert one.statistics["examples"] == {WORDS: ["books-ks/one-1"]}
    assert one.statistics["dropped_examples"] == [f"books/books-ks/one-1: {WORDS}: 2 is under 3"]


def test_tables_are_those_of_the_documents_that_stay(tmp_path: Path) -> None:
    corpus = filtered(small(tmp_path, {"rules": {WORDS: {"min": 3}}}))
    for partition in partitions(corpus, "filtered_documents").values():
        expected = [row_of(document) for document in partition.documents()]
        texts = partition.array(".texts.npy")
        assert texts["bytes"].tolist() == [row.size for row in expected]
        assert texts["digest"].tobytes() == b"".join(row.digest for row in expected)
        assert texts["created"].tolist() == [row.created for row in expected]
        assert texts["id_end"].tolist() == np.cumsum([len(row.identifier) for row in expected]).tolist()
        assert partition.array(".ids.npy").tobytes() == b"".join(row.identifier for row in expected)
        assert partition.array(".lengths.npy").tolist() == [row.lengths for row in expected]
        assert int(partition.array(TABLE)["rows"].sum()) == len(expected)
    assert verify(corpus, deep=True).bad == []


def test_a_shard_without_a_change_has_the_same_content(tmp_path: Path) -> None:
    small(tmp_path, None)
    assert not drive(opened(tmp_path)).failed
    before = live_records(opened(tmp_path))
    corpus = small(tmp_path, {"rules": {WORDS: {"min": 1}}})
    built = drive(corpus)
    assert (built.failed, built.waiting) == ([], [])
    found = partitions(corpus, "filtered_documents")
    changed = {key for key, partition in found.items() if list(partition.lines(".changes.jsonl.gz"))}
    assert changed == {"notes--list"}
    for key, partition in found.items():
        same = partition.record.digest == before["normalized_documents", key].digest
        assert same == (key not in changed)
    for asset in ("short_documents", "minhashes", "band_keys", "mixed_pass1"):
        assert built.of(asset) == changed
    assert not built.assets() & {"normalized_documents", "train", "decontaminated_train", "train_tokens"}


def test_a_changed_rule_computes_only_what_it_changes(tmp_path: Path) -> None:
    small(tmp_path, {"rules": {WORDS: {"min": 1}}})
    assert not drive(opened(tmp_path)).failed
    work = Work(tmp_path)
    small(tmp_path, {"rules": {WORDS: {"min": 3}}})
    plan = work.plan()
    assert plan["filtered_documents", ONE] == ("stale", f"filter.rules.{WORDS}.min 1.0 -> 3.0")
    built = work.rebuild()
    assert built.of("minhashes") == built.of("mixed_pass1") == {ONE}
    assert built.of("quality_attributes") == built.of("normalized_documents") == set()
    small(tmp_path, {"rules": {WORDS: {"min": 3}}, "discard_fields": ["created"]})
    assert {reason for _, reason in work.plan().values()} >= {"filter.discard_fields (unset) -> ['created']"}


def test_the_reason_names_what_is_really_read(tmp_path: Path) -> None:
    small(tmp_path, {"rules": {WORDS: {"min": 1}}})
    assert not drive(opened(tmp_path)).failed
    corpus = small(tmp_path, {"rules": {WORDS: {"min": 3}}})
    filtered(corpus)
    reasons = {d.reason for d in opened(tmp_path).planner().plan().decisions if d.asset == "minhashes" and d.reason}
    assert reasons == {f"filtered_documents/{ONE} changed"}


def test_no_row_is_lost_on_the_way_to_the_splits(tmp_path: Path) -> None:
    corpus = small(tmp_path, {"rules": {WORDS: {"min": 3}}, "min_text_length": 340})
    assert not drive(corpus).failed
    records: dict[str, list[Any]] = {}
    for (asset, _), record in live_records(corpus).items():
        records.setdefault(asset, []).append(record)
    counts, equations = flows(records, filtered=True)
    assert len(equations) == 7
    assert [flow for flow in equations if flow.left != flow.right] == []
    assert counts["dropped by filtered_documents"] > 2


def test_workers_make_the_same(tmp_path: Path) -> None:
    section = {"rules": {WORDS: {"min": 3}, "quality.c4_v2.line_count": {"of": "count", "min": 1}}}
    found = []
    for workers in (0, 2):
        folder = tmp_path / str(workers)
        corpus = small(folder, section, **{"engine.workers": workers})
        filtered(corpus)
        found.append(contents(corpus))
    assert found[0] == found[1]


def test_show_says_why_a_document_went(tmp_path: Path) -> None:
    corpus = filtered(small(tmp_path, {"rules": {WORDS: {"min": 3}}}))
    (gone,) = (change for change in changes(corpus) if change["row"] == 1 and "one" in change["id"])
    shown = "\n".join(show_partition(corpus, "filtered_documents", ONE, Asked(3, wanted(gone["id"], []))))
    assert f'"dropped":"{WORDS}","found":"2 is under 3"' in shown


def test_a_source_that_goes_wholly_holds_back_the_rest(tmp_path: Path) -> None:
    built = drive(small(tmp_path, {"rules": {WORDS: {"max": 2}}}))
    assert built.failed == []
    reason = "filtered_documents is held back: source web: the filter drops all"
    assert any(reason in waiting for waiting in built.waiting)
    assert "short_documents" not in built.assets()


def test_members_that_stay_whole_are_copied(tmp_path: Path) -> None:
    corpus = small(tmp_path, {"rules": {WORDS: {"min": 3}}})
    write_texts(tmp_path, [*(words(400) for _ in range(100)), "Short.", *(words(400) for _ in range(100))])
    filtered(corpus)
    key = "books--more"
    before, after = (partitions(corpus, f"{name}_documents")[key] for name in ("normalized", "filtered"))
    digests = [{row["digest"].tobytes() for row in one.array(TABLE)} for one in (before, after)]
    assert len(digests[0]) > 4
    assert len(digests[0] - digests[1]) == 1
    assert after.record.statistics["rows_out"] == 200


def _made(task: Task) -> list[RowRule]:
    known = {line.strip() for line in task.local_files["list"].decode().splitlines()}

    def taken(row: Row) -> Verdict:
        return Drop("it is on the list") if row.document.id in known else None

    def first_word(row: Row) -> Verdict:
        text = row.document.text
        return Replace([Replacement(0, len(text.partition(" ")[0]), "<{}>")]) if row.number == 0 else None

    def created(row: Row) -> Verdict:
        return Discard(["created"]) if row.document.created else None

    def pointed(row: Row) -> Verdict:
        return Drop("it begins with <") if row.document.text.startswith("<") and row.number else None

    return [
        RowRule("list", taken),
        RowRule("first_word", first_word),
        RowRule("created", created),
        RowRule("pointed", pointed, last=True),
    ]


class _Listed(Hooks):
    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"list": 1}

    @override
    def local_files(self, settings: Values) -> dict[str, bytes]:
        return {"list": b"gone\n"}


@pytest.fixture
def _own_set(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = RuleSet("mine", _made, hooks=_Listed())
    monkeypatch.setattr(stages, "_rule_sets", lambda *_: [chosen])


@pytest.mark.usefixtures("_own_set")
def test_any_set_of_rules_makes_the_stage(tmp_path: Path) -> None:
    corpus = small(tmp_path, None)
    rows: list[dict[str, Any]] = [{"id": "first", "text": words(5)}, {"id": "gone", "text": words(9)}]
    rows += [{"id": "dated", "text": words(7), "created": "2020-01-01"}, {"id": "pointed", "text": "<b> " + words(5)}]
    write_raw(tmp_path, "books/more.jsonl", rows)
    filtered(corpus)
    more = partitions(corpus, "filtered_documents")["books--more"]
    first, dated = more.documents()
    word, _, rest = words(5).partition(" ")
    assert (first.id, first.text) == ("first", f"<{word}> {rest}")
    assert (dated.id, dated.text, dated.created) == ("dated", words(7), None)
    assert more.record.statistics["dropped"] == {"list": 1, "pointed": 1}
    assert more.record.statistics["changed"] == 2
    assert more.record.statistics["changed_by_rule"] == {"first_word": 1, "created": 1}
    assert more.array(".lengths.npy")["characters"].tolist() == [len(first.text), len(dated.text)]
    flags = drive(opened(tmp_path), [opened(tmp_path).graph["short_documents"]])
    assert flags.failed == []
    short = partitions(corpus, "short_documents")["books--more"]
    assert [row.id for row in attribute_rows(short.lines())] == ["first", "dated"]


OWN_STAGE = """
from resources import Partitioning, Stage, same


def loud(task):
    with task.attributes("loud") as rows:
        for document in task.input("normalized_documents").documents():
            spans = {"loud__capitals__any": [(0, len(document.text), float(document.text.isupper()))]}
            rows.add(document, spans, flagged=document.text.isupper())


STAGES = [
    Stage(name="loud", group="own", description="x", partitioning=Partitioning.SHARD, compute=loud,
          code_version="1", io="documents", inputs=(same("normalized_documents"),))
]
"""


def test_own_stages_come_after_the_filter_unless_it_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "loud_stages.py").write_text(OWN_STAGE)
    leave_out = {"mix.leave_out": ["short_documents", "duplicates", "loud"], "stages": ["loud_stages"]}
    after = small(tmp_path, {"rules": {WORDS: {"min": 3}}}, **leave_out)
    assert [edge.asset for edge in after.graph["loud"].inputs] == ["filtered_documents"]
    assert not drive(after).failed
    before = small(tmp_path, {"rules": {"loud.capitals.any": {"max": 0}}}, stages=["loud_stages"])
    assert [edge.asset for edge in before.graph["loud"].inputs] == ["normalized_documents"]
    write_texts(tmp_path, [words(20).upper(), words(20)])
    filtered(before)
    assert [change["dropped"] for change in changes(before)] == ["loud.capitals.any"]
    streams = [{"name": "quiet", "rules": {"loud.capitals.any": {"max": 0}}}]
    beside = small(tmp_path, {"rules": {WORDS: {"min": 3}}}, stages=["loud_stages"], streams=streams)
    assert [edge.asset for edge in beside.graph["loud"].inputs] == ["normalized_documents"]
    with pytest.raises(ConfigError, match=r"mix\.leave_out: 'loud' describes the documents before the filter"):
        small(tmp_path, {"rules": {"loud.capitals.any": {"max": 0}}}, **leave_out)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "nothing is given"),
        ({"rules": {"quality.word_count": {"min": 1}}}, "ENTRY.TAGGER.TYPE"),
        ({"rules": {WORDS: {}}}, "give min, max or both"),
        ({"rules": {WORDS: {"min": 3, "max": 2}}}, "min 3 is over max 2"),
        ({"rules": {WORDS: {"min": 3, "of": "count", "absent": "keep"}}}, "absent: without effect with of: count"),
        ({"rules": {WORDS: {"least": 3}}}, "least"),
        (
            {"rules": {"qualiti.gopher_v2.word_count": {"min": 1}}},
            "no attribute named 'qualiti' (did you mean 'quality'",
        ),
        ({"rules": {"quality.gopher_v1.word_count": {"min": 1}}}, "'quality' has no tagger 'gopher_v1'"),
        ({"discard_fields": ["text"]}, "discard_fields"),
        ({"discard_fields": ["added", "added"]}, "a field is named twice"),
        ({"min_text_length": 0}, "min_text_length"),
    ],
)
def test_a_section_that_cannot_be_is_refused(tmp_path: Path, section: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as found:
        small(tmp_path, section)
    assert message in str(found.value)
