"""Entries of `dedupers` with `kind: substrings` as assets: what they mark, and what recomputes them."""

import random
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from corpus_assets.attributes.substrings.marks import BOILERPLATE as LISTED
from corpus_assets.attributes.substrings.units import tokens
from corpus_assets.card.steps import steps
from corpus_assets.config.selection.kinds.substrings import Substrings
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.report.model import decode
from corpus_assets.report.report import MODEL, PAGE
from resources.errors import ConfigError
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.attributes.substrings.plain import in_code_points, repeated
from tests.build.small import Built, contents, drive, live_records, opened, prose, write_config, write_raw, write_small

ENTRY: dict[str, Any] = {"kind": "substrings", "min_length": "16 bytes"}
KEY = "substrings__substrings__duplicate"
ASSETS = ("passages", "repeated_passages", "windows", "repeated_windows", "attributes")


def text_of(random_: random.Random) -> str:
    """A text of few letters that repeats pieces of itself and of others: some of more bytes than letters."""
    pieces = [random.Random(random_.randrange(12)).choices("ab é\n.", k=40) for _ in range(random_.randrange(6))]
    cut = ["".join(piece)[random_.randrange(20) : random_.randrange(20, 41)] for piece in pieces]
    return " ".join(["x", *cut]) + random_.choice(["", "z" * random_.randrange(70), "abcabc" * random_.randrange(14)])


def write(folder: Path, path: str, seed: int, count: int) -> None:
    random_ = random.Random(seed)
    write_raw(folder, path, [{"id": f"{path}-{n}", "text": text_of(random_)} for n in range(count)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small(tmp_path)
    for path, seed in (("books/some.jsonl", 1), ("web/more.jsonl", 2), ("web/third.jsonl", 3)):
        write(tmp_path, path, seed, 30)
    return tmp_path


def built(folder: Path, entry: Mapping[str, Any], **changes: Any) -> tuple[Corpus, Built]:
    values = {"dedupers": [entry], "dedup.ranges": 3, **{key.replace("__", "."): v for key, v in changes.items()}}
    write_config(folder, values)
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+substrings_attributes"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, done


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    records = live_records(corpus)
    return [Partition(corpus.storage, record) for (name, _), record in records.items() if name == asset]


def documents(corpus: Corpus) -> list[Document]:
    return [document for shard in partitions(corpus, "normalized_documents") for document in shard.documents()]


def rows(corpus: Corpus) -> list[AttributeRow]:
    return [row for shard in partitions(corpus, "substrings_attributes") for row in attribute_rows(shard.lines())]


def expected(texts: list[str], entry: Mapping[str, Any]) -> list[dict[str, list[tuple[int, int, float]]]]:
    """The attributes of texts by definition."""
    rule = Substrings.model_validate(entry)
    found: list[dict[str, list[tuple[int, int, float]]]] = [{} for _ in texts]
    keys: dict[str, dict[str, Any]] = {rule.key: {"keep": rule.keep}}
    if rule.boilerplate is not None:
        keys[rule.boilerplate_key] = {"more_than": rule.boilerplate}
    for key, how in keys.items():
        for place, spans in enumerate(by_definition(texts, rule, how)):
            if spans:
                found[place][key] = [(start, end, 1.0) for start, end in spans]
    return found


def by_definition(texts: list[str], rule: Substrings, how: Mapping[str, Any]) -> list[list[tuple[int, int]]]:
    if rule.unit == "bytes":
        units = repeated([text.encode() for text in texts], rule.length, **how)
        return [in_code_points(text, spans) for text, spans in zip(texts, units, strict=True)]
    edges = [[0, *tokens(text).tolist()] for text in texts]
    cut = [[text[a:b] for a, b in pairwise(ends)] for text, ends in zip(texts, edges, strict=True)]
    found = repeated(cut, rule.length, **how)
    return [[(ends[a], ends[b]) for a, b in spans] for ends, spans in zip(edges, found, strict=True)]


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        {**ENTRY, "keep": "none"},
        {**ENTRY, "boilerplate": 3},
        {**ENTRY, "boilerplate": 2, "keep": "none", "min_length": "20 bytes"},
        {**ENTRY, "min_length": "4 tokens"},
        {**ENTRY, "min_length": "33 bytes"},
    ],
    ids=str,
)
def test_rows_are_those_of_the_definition(folder: Path, entry: dict[str, Any]) -> None:
    corpus, _ = built(folder, entry)
    given, found = documents(corpus), rows(corpus)
    assert [(row.id, row.source) for row in found] == [(document.id, document.source) for document in given]
    assert [row.attributes for row in found] == expected([document.text for document in given], entry)
    assert sum(bool(row.attributes) for row in found) > 10


def test_whole_words_are_what_borders_leave(folder: Path) -> None:
    corpus, _ = built(folder, {**ENTRY, "borders": "words"})
    shrunk = 0
    given = [document.text for document in documents(corpus)]
    for text, row, plain in zip(given, rows(corpus), expected(given, ENTRY), strict=True):
        ends = [0, *tokens(text).tolist()]
        words = [(b - len(text[a:b].lstrip()), b) for a, b in pairwise(ends)]
        wanted = []
        for start, end, score in plain.get(KEY, ()):
            first = next((b for a, b in words if a < start < b), start)
            last = next((a for a, b in words if a < end < b), end)
            shrunk += (first, last) != (start, end)
            wanted += [(first, last, score)] if first < last else []
        assert row.attributes.get(KEY, []) == wanted
    assert shrunk > 3


@pytest.mark.parametrize("entry", [ENTRY, {**ENTRY, "keep": "none", "boilerplate": 2}], ids=str)
def test_neither_workers_nor_memory_change_anything(folder: Path, entry: dict[str, Any]) -> None:
    plain, _ = built(folder, entry)
    for number, workers in enumerate((2, 4)):
        memory = {"engine__workers": workers, "engine__memory": "64 KiB"}
        other, done = built(folder, entry, storage__root=f"other{number}", **memory)
        assert {f"substrings_{asset}" for asset in ASSETS} <= done.assets()
        assert contents(other) == contents(plain)


def test_a_new_shard_recomputes_what_depends_on_it(folder: Path) -> None:
    built(folder, ENTRY)
    write_raw(folder, "web/zz.jsonl", [{"id": "own", "text": "".join(map(chr, range(300, 360)))}])
    _, done = built(folder, ENTRY)
    for asset in ("passages", "windows", "attributes"):
        assert done.of(f"substrings_{asset}") == {"web--zz"}
    write_raw(folder, "books/aa.jsonl", [{"id": "first", "text": "".join(map(chr, range(300, 340)))}])
    corpus, done = built(folder, ENTRY)
    assert done.of("substrings_passages") == {"books--aa"}
    assert done.of("substrings_attributes") == {"books--aa", "web--zz"}
    assert [row.attributes for row in rows(corpus)] == expected([d.text for d in documents(corpus)], ENTRY)


def test_the_order_of_sources_decides_which_copy_is_the_first(folder: Path) -> None:
    corpus, _ = built(folder, ENTRY)
    order = [corpus.config.sources[place].model_dump(exclude_unset=True) for place in (1, 0, 2)]
    corpus, done = built(folder, ENTRY, sources=order)
    assert done.of("substrings_passages") == set()
    assert [row.attributes for row in rows(corpus)] == expected([d.text for d in documents(corpus)], ENTRY)


def test_documents_of_some_sources_alone(folder: Path) -> None:
    """They are marked as in a corpus without the others, of which nothing is said."""
    corpus, _ = built(folder, {**ENTRY, "sources": ["web"], "glob": ["m*", "t*"]})
    used = [d.id.startswith(("web/more", "web/third")) for d in documents(corpus)]
    wanted = iter(expected([d.text for d, own in zip(documents(corpus), used, strict=True) if own], ENTRY))
    assert [row.attributes for row in rows(corpus)] == [next(wanted) if own else {} for own in used]


def test_the_most_frequent_boilerplate_is_listed_once(folder: Path) -> None:
    common = "The same words stand below each of these pages, whatever it is about. "
    for shard, count in (("books/b.jsonl", 3), ("web/c.jsonl", 4)):
        write_raw(
            folder, shard, [{"id": f"{shard}{n}", "text": f"{chr(65 + n) * 9} {common}{n * 7}"} for n in range(count)]
        )
    corpus, _ = built(folder, {**ENTRY, "min_length": "40 bytes", "boilerplate": 5})
    listed = [one for shard in partitions(corpus, "substrings_attributes") for one in shard.record.statistics[LISTED]]
    own = [one for one in listed if "same words" in one["text"]]
    assert own == [{"documents": 7, "length": len(common) + 1, "id": "books/b.jsonl0", "text": f" {common}"}]


def test_the_report_says_what_is_repeated_and_lists_boilerplate(folder: Path) -> None:
    entry = {**ENTRY, "boilerplate": 5}
    write_config(folder, {"dedupers": [entry], "dedup.ranges": 3})
    corpus = opened(folder)
    assert drive(corpus, list(corpus.graph)).failed == []
    found = decode((folder / "corpus" / MODEL).read_bytes()).substrings
    assert found is not UNSET
    wanted = expected([d.text for d in documents(corpus)], entry)
    assert sum(one.get("spans", 0) for one in found[0].sources.values()) == sum(len(row.get(KEY, ())) for row in wanted)
    assert found[0].listed[0].documents == max(one.documents for one in found[0].listed) > 5
    page = (folder / "corpus" / PAGE).read_text(encoding="utf-8")
    assert "Repeated substrings" in page and "pieces in more than 5 documents" in page


def test_the_filter_cuts_what_is_marked(folder: Path) -> None:
    rule = {"span": "substrings.substrings.duplicate", "replacement": ""}
    write_config(folder, {"dedupers": [ENTRY], "filter": {"span_replacement": [rule]}})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    given = [document.text for document in documents(corpus)]
    wanted = []
    for text, attributes in zip(given, expected(given, ENTRY), strict=True):
        edges = [0, *(edge for start, end, _ in attributes.get(KEY, []) for edge in (start, end)), len(text)]
        wanted.append("".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)))
    left = [d.text for shard in partitions(corpus, "filtered_documents") for d in shard.documents()]
    assert left == wanted != given


def test_the_mix_leaves_out_what_is_flagged(folder: Path) -> None:
    write_raw(folder, "web/zz.jsonl", [{"id": "again", "text": prose("books/one.jsonl 0")}])
    entry = {**ENTRY, "flag_share": 0.9}
    write_config(folder, {"dedupers": [entry], "mix.leave_out": ["substrings_attributes"]})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select(["+mixed_pass1"])).failed == []
    given = [d.text for d in documents(corpus)]
    shares = [
        sum(end - start for start, end, _ in found.get(KEY, ())) / max(len(text), 1)
        for text, found in zip(given, expected(given, entry), strict=True)
    ]
    dropped = [shard.record.statistics.get("dropped", {}) for shard in partitions(corpus, "mixed_pass1")]
    assert sum(one.get("substrings_attributes", 0) for one in dropped) == sum(share >= 0.9 for share in shares) > 3


CHANGES = [
    ({"min_length": "20 bytes"}, "min_length 16 bytes -> 20 bytes", {"passages", "windows", "attributes"}),
    ({"keep": "none"}, "keep first -> none", set(ASSETS)),
    ({"boilerplate": 3}, "boilerplate None -> 3", set(ASSETS)),
    ({"borders": "words"}, "borders any -> words", {"attributes"}),
    ({"flag_share": 0.5}, "flag_share 1.0 -> 0.5", {"attributes"}),
    ({"sources": ["web"]}, "sources None -> ['web']", {"passages", "attributes"}),
    ({"glob": "b*"}, "glob None -> b*", {"passages", "attributes"}),
]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("once"))
    built(folder, ENTRY)
    return folder


@pytest.mark.parametrize(("change", "reason", "stale"), CHANGES, ids=[why for _, why, _ in CHANGES])
def test_the_plan_says_why(once: Path, change: dict[str, Any], reason: str, stale: set[str]) -> None:
    write_config(once, {"dedupers": [{**ENTRY, **change}], "dedup.ranges": 3})
    corpus = opened(once)
    plan = corpus.planner().plan(corpus.graph.select(["group:repetitions_substrings"]))
    found = {decision.asset: decision.reason for decision in plan.decisions if decision.status == "stale"}
    assert set(found) == {f"substrings_{asset}" for asset in stale}
    assert all(f"dedupers.substrings.{reason}" in words for words in found.values()), found


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"kind": "substring"}, "kind is 'substring'; valid: substrings, semantic, or no kind and `by`"),
        ({**ENTRY, "min_length": 500}, "min_length: received 500 (int)"),
        ({**ENTRY, "min_length": "500"}, "received '500' (str); valid: a number with its unit, such as 500 bytes"),
        ({**ENTRY, "min_length": "3 bytes"}, "received '3 bytes' (str); valid: 16 to 1,000,000 bytes"),
        ({**ENTRY, "min_length": "5 words"}, "such as 500 bytes or 50 tokens"),
        ({**ENTRY, "keep": "last"}, "keep: received 'last' (str); valid: 'first' or 'none'"),
        ({**ENTRY, "by": "text"}, "by: unknown key"),
        ({**ENTRY, "min_length": "50 tokens", "borders": "words"}, "borders goes with a min_length in bytes"),
        ({**ENTRY, "boilerplate": 0}, "boilerplate: received 0 (int)"),
        ({**ENTRY, "sources": ["nowhere"]}, "no source named 'nowhere'; valid: books, web, notes"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, entry: dict[str, Any], says: str) -> None:
    write_small(tmp_path)
    with pytest.raises(ConfigError, match=re.escape(says)):
        write_config(tmp_path, {"dedupers": [entry]})


def test_an_entry_is_a_step_in_words(once: Path) -> None:
    write_config(once, {"dedupers": [{**ENTRY, "sources": ["web"]}]})
    said = "Repeated substrings of 16 bytes or more, all but the first copy, were marked in sources web (substrings)."
    assert said in steps(opened(once).settings.values)
