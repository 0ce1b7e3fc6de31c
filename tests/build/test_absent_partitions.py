"""The plan says why a partition has no record: its raw file is new, its asset is, or it was removed."""

from pathlib import Path

from corpus_assets.verification.verify import mended, verify
from tests.build.small import Work, drive, opened, prose, statuses, write_config, write_raw


def test_a_new_tagger_is_not_built_yet_and_no_shard_is_new(work: Work) -> None:
    write_config(work.folder, {"attributes": [{"name": "quality", "taggers": ["char_length_v1"]}]})
    plan = work.plan()
    reasons = {reason for (asset, _), reason in plan.items() if asset == "quality_attributes"}
    assert reasons == {("missing", "not built yet")}
    write_raw(work.folder, "books/zero.jsonl", [{"id": "new", "text": prose("added")}])
    plan = work.plan()
    assert plan["quality_attributes", "books--zero"] == ("missing", "new shard")
    assert plan["minhashes", "books--zero"] == ("missing", "new shard")
    assert plan["quality_attributes", "books--one"] == ("missing", "not built yet")


def test_a_partition_that_verify_removed_is_not_new(work: Work) -> None:
    (file,) = (work.folder / "corpus/minhashes/books").glob("one*signatures*.npy")
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    corpus = opened(work.folder)
    found = verify(corpus, deep=True)
    assert mended(corpus, found, deep=True) == ["minhashes/books--one"]
    assert work.plan()["minhashes", "books--one"] == ("missing", "not built, or removed by `corpus verify --mend`")


def test_what_a_build_makes_meanwhile_changes_no_reason(tmp_path: Path) -> None:
    write_raw(tmp_path, "books/one.jsonl", [{"id": "a", "text": prose("a")}])
    write_config(tmp_path, {"sources": [{"name": "books", "location": "raw/books"}]})
    corpus = opened(tmp_path)
    planner = corpus.planner()
    before = {key: found for key, found in statuses(planner.plan()).items() if key[0] == "normalized_documents"}
    assert before == {("normalized_documents", "books--one"): ("missing", "new shard")}
    drive(corpus, corpus.graph.select(["+raw_source"]))
    after = statuses(opened(tmp_path).planner().plan())
    assert after["normalized_documents", "books--one"] == ("missing", "not built yet")
