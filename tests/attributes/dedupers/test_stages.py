"""Entries of `dedupers` as assets: what they mark, what recomputes them, and what is refused."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.card.steps import steps
from corpus_assets.config.selection.dedupers import Deduper
from corpus_assets.corpus.corpus import Corpus
from docs.generate import FOLDER
from resources.errors import ConfigError
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.attributes.dedupers.plain import pieces, spans
from tests.build.small import Built, contents, drive, live_records, opened, prose, write_config, write_raw, write_small

TEXT = {"name": "texts", "by": "text"}
URL = {"name": "urls", "by": "url"}
PARAGRAPHS = {"name": "paragraphs", "by": "paragraphs", "min_words": 3}
NGRAMS: dict[str, Any] = {"name": "ngrams", "by": "ngrams", "ngram": {"length": 3, "stride": 2, "threshold": 0.5}}
FILTERED = {**PARAGRAPHS, "name": "filtered", "bloom": {"items": 10_000}}
ALL: list[dict[str, Any]] = [TEXT, URL, PARAGRAPHS, NGRAMS, FILTERED]
OLD = ["books--one", "books--three", "books--two", "web--b", "web--deep--a", "notes--list", "notes--single"]


def text_of(number: int) -> str:
    """Three paragraphs, of which other numbers share some or all."""
    return "\n".join([prose(number // 2, 8), prose(number % 5, 8), "Yes.", prose(-number, 4)[: 7 * (number % 3)]])


def write(folder: Path, path: str, first: int, last: int) -> None:
    rows = [{"id": f"{path}-{n}", "text": text_of(n % 30), "url": f"u{n % 7}"} for n in range(first, last)]
    write_raw(folder, path, rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small(tmp_path)
    write(tmp_path, "books/paragraphs.jsonl", 0, 25)
    write(tmp_path, "web/more.jsonl", 20, 50)
    return tmp_path


def built(folder: Path, *entries: Mapping[str, Any], **changes: Any) -> tuple[Corpus, Built]:
    write_config(folder, {"dedupers": list(entries), **{key.replace("__", "."): v for key, v in changes.items()}})
    corpus = opened(folder)
    wanted = [f"+{entry['name']}_attributes" for entry in entries]
    done = drive(corpus, corpus.graph.select(wanted))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, done


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    """The partitions of an asset in corpus order."""
    records = live_records(corpus)
    return [Partition(corpus.storage, record) for (name, _), record in records.items() if name == asset]


def documents(corpus: Corpus) -> list[Document]:
    return [document for shard in partitions(corpus, "normalized_documents") for document in shard.documents()]


def rows(corpus: Corpus, asset: str) -> list[AttributeRow]:
    return [row for shard in partitions(corpus, asset) for row in attribute_rows(shard.lines())]


def test_rows_are_those_of_the_definition(folder: Path) -> None:
    corpus, _ = built(folder, TEXT, PARAGRAPHS, NGRAMS, FILTERED)
    given = documents(corpus)
    for entry in (TEXT, PARAGRAPHS, NGRAMS, FILTERED):
        rule = Deduper.model_validate(entry)
        found = rows(corpus, f"{rule.name}_attributes")
        assert [(row.id, row.source) for row in found] == [(document.id, document.source) for document in given]
        expected = [{rule.key: marked} if marked else {} for marked in spans([d.text for d in given], rule)]
        assert [row.attributes for row in found] == expected
        assert any(expected)


@pytest.mark.parametrize("entry", [TEXT, PARAGRAPHS, NGRAMS, {"name": "ids", "by": "id"}], ids=lambda one: one["name"])
def test_what_certain_sources_have(folder: Path, entry: dict[str, Any]) -> None:
    """Every copy of it is marked, wherever it stands, and nothing else."""
    write_raw(folder, "notes/again.jsonl", [{"id": f"web/more.jsonl-{n}", "text": text_of(n)} for n in (21, 21 + 30)])
    corpus, _ = built(folder, {**entry, "against": ["web"]})
    rule, given = Deduper.model_validate(entry), documents(corpus)
    subjects = [d.id if entry["by"] == "id" else d.text for d in given]
    known = [subject for subject, d in zip(subjects, given, strict=True) if d.source == "web"]
    keys = {key for text in known for _, _, found in pieces(text, rule) for key in found}
    found = rows(corpus, f"{rule.name}_attributes")
    some = 0
    for row, subject, document in zip(found, subjects, given, strict=True):
        marked = []
        for start, end, asked in pieces(subject, rule):
            share = sum(key in keys for key in asked) / len(asked)
            if share >= (rule.ngram.threshold if rule.by == "ngrams" else 1):
                marked.append((start, len(document.text) if entry["by"] == "id" else end, round(share, 5)))
        assert row.attributes == ({rule.key: marked} if marked else {})
        some += bool(marked) and document.source != "web"
    assert some
    said = f"Repetitions of what web have, by {rule.by} were marked ({rule.name})."
    assert said in steps(corpus.settings.values)


@pytest.mark.parametrize("more", [{}, {"against": ["web"]}, {"compat": "dolma"}], ids=str)
@pytest.mark.parametrize("entry", [TEXT, PARAGRAPHS, NGRAMS], ids=lambda one: one["name"])
def test_documents_of_some_sources_alone(folder: Path, entry: dict[str, Any], more: dict[str, Any]) -> None:
    """They are marked as in a corpus without the others, of which nothing is said."""
    entry = {key: value for key, value in {**entry, **more}.items() if key != "min_words"}
    write(folder, "notes/again.jsonl", 0, 30)
    write(folder, "books/later.jsonl", 10, 40)
    narrow = {**entry, "sources": ["books", "notes"], "glob": ["**/p*.jsonl", "later.jsonl", "again.jsonl"]}
    corpus, _ = built(folder, narrow)
    asset = f"{entry['name']}_attributes"
    given = {shard.key: list(attribute_rows(shard.lines())) for shard in partitions(corpus, asset)}
    own = {"books--paragraphs", "books--later", "notes--again"}
    marked = {key for key, found in given.items() if any(row.attributes for row in found)}
    assert marked and marked <= own
    assert " in files **/p*.jsonl, later.jsonl, again.jsonl of sources books, notes (" in " ".join(
        steps(corpus.settings.values)
    )
    for file in (folder / "raw").rglob("*"):
        other = file.is_file() and file.name not in ("paragraphs.jsonl", "later.jsonl", "again.jsonl")
        if other and not ("against" in more and "web" in file.parts):
            file.unlink()
    alone, _ = built(folder, entry, storage__root="alone", sources__1__may_be_empty=True)
    expected = {shard.key: list(attribute_rows(shard.lines())) for shard in partitions(alone, asset)}
    assert {key: given[key] for key in own} == {key: expected[key] for key in own}


def test_memory_changes_nothing_of_what_certain_sources_have(folder: Path) -> None:
    write_raw(folder, "web/empty.jsonl", [{"id": str(n), "text": "\n" * 3000 + prose(n, 900)} for n in range(5)])
    entry = {**NGRAMS, "skip_empty": False, "against": ["web"]}
    plain, _ = built(folder, entry)
    other, done = built(folder, entry, storage__root="other", engine__workers=2, engine__memory="64 KiB")
    assert "ngrams_seen" in done.assets()
    assert contents(other) == contents(plain)


@pytest.mark.parametrize(
    ("length", "skip_short", "expected"),
    [
        (
            1,
            False,
            [
                [(0, 6, 0.0), (6, 10, 1.0), (10, 15, 1.0), (15, 17, 1.0), (17, 21, 0.5), (21, 22, 1.0)],
                [(0, 4, 1.0), (4, 12, 0.75), (12, 17, 1.0)],
            ],
        ),
        (
            1,
            True,
            [
                [(0, 6, 0.0), (6, 10, 1.0), (10, 15, 0.0), (15, 17, 0.0), (17, 21, 0.5), (21, 22, 0.0)],
                [(0, 4, 1.0), (4, 12, 0.75), (12, 17, 1.0)],
            ],
        ),
        (
            2,
            False,
            [
                [(0, 6, 0.0), (6, 10, 0.0), (10, 15, 0.0), (15, 17, 0.0), (17, 21, 0.0), (21, 22, 0.0)],
                [(0, 4, 1.0), (4, 12, 0.3333333432674408), (12, 17, 0.0)],
            ],
        ),
        (2, True, [[(0, 6, 0.0), (17, 21, 0.0)], [(4, 12, 0.3333333432674408), (12, 17, 0.0)]]),
    ],
)
def test_words_as_dolma_has_them(tmp_path: Path, length: int, skip_short: bool, expected: list[Any]) -> None:
    """What release 1.2.1 wrote of these texts: U+001C is a word, and a whole paragraph an n-gram of one word."""
    write_small(tmp_path)
    texts = ["x hot\nhot\ncold\n\x1c\n\x1c a\nb", "hot\n\x1c a b \x1f\nhot x"]
    source = {"name": "odd", "location": "raw/odd"}
    write_raw(tmp_path, "odd/rows.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    entry = {"name": "n", "by": "ngrams", "compat": "dolma", "skip_empty": False, "attribute": "x"}
    entry["ngram"] = {"length": length, "threshold": 0, "skip_short": skip_short}
    corpus, _ = built(tmp_path, entry, sources=[source], normalize__method="none")
    assert [row.attributes for row in rows(corpus, "n_attributes")] == [{"x": spans} for spans in expected]


@pytest.mark.parametrize("compat", ["dolma", None])
def test_the_first_copy_is_that_of_the_first_path_with_compat(tmp_path: Path, compat: str | None) -> None:
    write_small(tmp_path)
    by_path = ["B/x", "a/B", "a/b", "a-b/x", "part-1", "part"]
    for name in by_path:
        write_raw(
            tmp_path, f"odd/{name}.jsonl", [{"id": name, "text": "the same"}, {"id": f"{name}-own", "text": name}]
        )
    entry = {"name": "n", "by": "text", "compat": compat}
    corpus, _ = built(tmp_path, entry, sources=[{"name": "odd", "location": "raw/odd"}])
    first = [row.id for row in rows(corpus, "n_attributes") if not row.attributes and "own" not in row.id]
    assert first == (["B/x"] if compat else ["a/b"])


def test_metadata_is_compared_where_it_is_given(folder: Path) -> None:
    corpus, _ = built(folder, URL)
    seen: set[str] = set()
    for row, document in zip(rows(corpus, "urls_attributes"), documents(corpus), strict=True):
        raw = bytes(document.metadata)
        url = json.loads(raw).get("url") if raw else None
        again = url in seen
        seen |= {url} if url else set()
        assert row.attributes == ({"urls__url__duplicate": [(0, len(document.text), 1.0)]} if again else {})
    assert len(seen) == 7
    left_out = corpus.ledger.records("urls_hashes")["books--one"].statistics["left_out"]
    assert left_out == {"absent": 9}


def test_neither_workers_nor_memory_change_anything(folder: Path) -> None:
    plain, _ = built(folder, NGRAMS, FILTERED)
    other, done = built(folder, NGRAMS, FILTERED, storage__root="other", engine__workers=2, engine__memory="64 KiB")
    assert {"ngrams_seen", "filtered_seen"} <= done.assets()
    assert contents(other) == contents(plain)


def test_a_new_shard_leaves_the_hashes_of_the_others(folder: Path) -> None:
    built(folder, *ALL)
    write(folder, "web/zz.jsonl", 10, 40)
    _, done = built(folder, *ALL)
    for entry in ALL:
        name = entry["name"]
        assert done.of(f"{name}_hashes") == {"web--zz"}
        assert done.of(f"{name}_seen") == {None}
        assert done.of(f"{name}_attributes") == {"web--zz"}
    write(folder, "books/aa.jsonl", 41, 42)
    corpus, done = built(folder, PARAGRAPHS)
    assert done.of("paragraphs_hashes") == {"books--aa"}
    assert done.of("paragraphs_attributes") == {"books--aa", "books--paragraphs"}
    rule = Deduper.model_validate(PARAGRAPHS)
    expected = [{rule.key: m} if m else {} for m in spans([d.text for d in documents(corpus)], rule)]
    assert [row.attributes for row in rows(corpus, "paragraphs_attributes")] == expected


def test_the_order_of_sources_decides_which_copy_is_the_first(folder: Path) -> None:
    corpus, _ = built(folder, TEXT)
    order = [corpus.config.sources[place].model_dump(exclude_unset=True) for place in (1, 0, 2)]
    corpus, done = built(folder, TEXT, sources=order)
    assert done.of("texts_hashes") == set()
    assert "books--paragraphs" in done.of("texts_attributes")
    rule = Deduper.model_validate(TEXT)
    expected = [{rule.key: m} if m else {} for m in spans([d.text for d in documents(corpus)], rule)]
    assert [row.attributes for row in rows(corpus, "texts_attributes")] == expected


KEYS: list[tuple[dict[str, Any], dict[str, Any], str, set[str]]] = [
    (PARAGRAPHS, {"separator": "\n\n"}, "separator \n -> \n\n", {"hashes"}),
    (PARAGRAPHS, {"skip_empty": False}, "skip_empty True -> False", {"hashes"}),
    (PARAGRAPHS, {"min_length": 5}, "min_length 0 -> 5", {"hashes"}),
    (PARAGRAPHS, {"min_words": 4}, "min_words 3 -> 4", {"hashes"}),
    (PARAGRAPHS, {"flag_share": 0.5}, "flag_share 1.0 -> 0.5", {"attributes"}),
    (PARAGRAPHS, {"attribute": "again"}, "attribute paragraphs__paragraphs__duplicate -> again", {"attributes"}),
    (PARAGRAPHS, {"min_words": 0, "compat": "dolma"}, "compat None -> dolma", {"hashes", "seen", "attributes"}),
    (
        PARAGRAPHS,
        {"bloom": {"items": 1000, "error": 0.01}},
        "bloom.bytes None -> 1200",
        {"seen"},
    ),
    (NGRAMS, {"ngram": {**NGRAMS["ngram"], "length": 4}}, "ngram.length 3 -> 4", {"hashes"}),
    (NGRAMS, {"ngram": {**NGRAMS["ngram"], "stride": 1}}, "ngram.stride 2 -> 1", {"hashes"}),
    (NGRAMS, {"ngram": {**NGRAMS["ngram"], "threshold": 1.0}}, "ngram.threshold 0.5 -> 1.0", {"attributes"}),
    (NGRAMS, {"ngram": {**NGRAMS["ngram"], "skip_short": True}}, "ngram.skip_short False -> True", {"hashes"}),
    (TEXT, {"by": "url"}, "by text -> url", {"hashes", "attributes"}),
    (TEXT, {"sources": ["web"]}, "sources (unset) -> ['web']", {"hashes", "attributes"}),
    (TEXT, {"glob": "b*"}, "glob (unset) -> b*", {"hashes", "attributes"}),
    (TEXT, {"against": ["web"]}, "against (unset) -> ['web']", {"hashes", "seen"}),
]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("once"))
    built(folder, TEXT, PARAGRAPHS, NGRAMS)
    return folder


@pytest.mark.parametrize(("entry", "change", "reason", "stale"), KEYS, ids=[why for _, _, why, _ in KEYS])
def test_the_plan_says_why(
    once: Path, entry: dict[str, Any], change: dict[str, Any], reason: str, stale: set[str]
) -> None:
    others = [other for other in (TEXT, PARAGRAPHS, NGRAMS) if other is not entry]
    write_config(once, {"dedupers": [*others, {**entry, **change}]})
    corpus = opened(once)
    plan = corpus.planner().plan(
        corpus.graph.select([f"group:repetitions_{one['name']}" for one in (TEXT, PARAGRAPHS, NGRAMS)])
    )
    found = {decision.asset: decision.reason for decision in plan.decisions if decision.status == "stale"}
    name = entry["name"]
    assert set(found) == {f"{name}_{asset}" for asset in stale}
    assert any(f"dedupers.{name}.{reason}" in words for words in found.values()), found
    foretold = [note for note in plan.notes if "Bloom" in note]
    assert foretold == (
        [
            "dedupers.paragraphs: Bloom filter of 1,200 bytes, 7 hash functions; with 1,000 different items 1.0e-02 of "
            "the first copies are marked by mistake"
        ]
        if "bloom" in change
        else []
    )


def test_the_mix_leaves_out_what_is_flagged(folder: Path) -> None:
    entries = [TEXT, {**PARAGRAPHS, "flag_share": 0.4}]
    leave_out = ["texts_attributes", "paragraphs_attributes"]
    write_config(folder, {"dedupers": entries, "mix.leave_out": leave_out})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select(["+mixed_pass1"])).failed == []
    given = [d.text for d in documents(corpus)]
    texts = [bool(found) for found in spans(given, Deduper.model_validate(TEXT))]
    dropped: dict[str, int] = {}
    for shard in partitions(corpus, "mixed_pass1"):
        for reason, count in shard.record.statistics.get("dropped", {}).items():
            dropped[reason] = dropped.get(reason, 0) + count
    assert dropped["texts_attributes"] == sum(texts)
    repeated = list(spans(given, Deduper.model_validate(PARAGRAPHS)))
    shares = []
    for text, found in zip(given, repeated, strict=True):
        sizes = [len(line) + 1 for line in text.split("\n") if len(line.split()) > 2]
        ends = not text.endswith("\n") and len(text.split("\n")[-1].split()) > 2
        shares.append(sum(end - start for start, end, _ in found) >= 0.4 * (sum(sizes) - ends) and bool(found))
    assert dropped["paragraphs_attributes"] == sum(
        share and not text for share, text in zip(shares, texts, strict=True)
    )


def test_a_filter_that_is_too_small_for_what_comes_fails_with_its_key(folder: Path) -> None:
    write_config(folder, {"dedupers": [{**TEXT, "bloom": {"items": 20}}]})
    corpus = opened(folder)
    failed = drive(corpus, corpus.graph.select(["+texts_seen"])).failed
    assert len(failed) == 1
    assert "dedupers.texts.bloom.items is 20, but there are more different hashes than that" in failed[0]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"by": "texts"}, "text, id, added, created, url, metadata.KEY, paragraphs or ngrams"),
        ({"by": "metadata."}, "text, id, added, created, url, metadata.KEY, paragraphs or ngrams"),
        ({"against": ["book"]}, "dedupers.0.against: no source named 'book'; valid: books, web, notes"),
        ({"against": ["web", "web"]}, "against: a source is named twice in web, web"),
        ({"sources": ["book"]}, "dedupers.0.sources: no source named 'book'; valid: books, web, notes"),
        ({"sources": ["web", "web"]}, "sources: a source is named twice in web, web"),
        ({"against": ["web"], "bloom": {"items": 10}}, "against goes without bloom"),
        ({"ngram": {"length": 3}}, "ngram goes with `by: ngrams`; by is 'text'"),
        ({"separator": "\n"}, "separator goes with `by: paragraphs` or `by: ngrams`; by is 'text'"),
        ({"flag_share": 0.5}, "flag_share goes with `by: paragraphs` or `by: ngrams`"),
        ({"min_words": 3, "compat": "dolma"}, "min_words turns deduplication off in Dolma 1.2.1"),
        ({"bloom": {"items": 1_000_000, "size": "1 MiB"}}, "an error of 1.0e-06 needs 3,5"),
        ({"bloom": {"items": 10**9}}, "which is over engine.memory"),
        ({"bloom": {"items": 10**12}}, "valid: at most 34,359,738,368 bytes, or no filter"),
        ({"bloom": {"items": 10, "size": "4 GiB"}}, "the filter has 4,294,967,296 bytes, which is over engine.memory"),
        ({"attribute": "a b"}, "attribute"),
        ({"name": "duplicates"}, "short_documents and duplicates are attributes already"),
        ({"name": "quality"}, "'quality' and 'quality' have the same keys"),
        ({"name": "holdout"}, "two assets are named 'holdout_hashes'"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(tmp_path: Path, entry: Mapping[str, Any], message: str) -> None:
    write_small(tmp_path)
    with pytest.raises(ConfigError) as found:
        tagged = [{"name": "quality", "taggers": ["c4_v1"]}]
        write_config(tmp_path, {"attributes": tagged, "dedupers": [{**TEXT, **entry}]})
        opened(tmp_path)
    assert message in str(found.value)


def test_the_page_says_what_works(tmp_path: Path) -> None:
    write_small(tmp_path)
    page = (FOLDER / "dedupers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    for block, name in zip(blocks, ("overlap", "leaked", "pages", "overlap"), strict=True):
        write_config(tmp_path, yaml.safe_load(block))
        assert f"{name}_attributes" in opened(tmp_path).graph.stages


def test_without_entries_the_graph_is_as_it_was(tmp_path: Path) -> None:
    write_small(tmp_path)
    assert not [group for group in opened(tmp_path).graph.groups() if group.startswith("repetitions")]
