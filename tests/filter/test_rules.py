"""Ranges, conditions, replacements and fields, through corpus.yaml and the stage."""

import gzip
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from docs.generate import FOLDER
from resources.errors import ConfigError
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, statuses, write_raw
from tests.filter.corpora import changes, filtered, partitions, small, words

LINES = "quality.c4_v2.lines_with_too_few_words"
KEY = "quality__c4_v2__lines_with_too_few_words"
MISSPELT = "c4_v2 gives no 'lines_with_too_fwe_words' (did you mean 'lines_with_too_few_words'"
WORDS = "quality__gopher_v2__word_count"
ROWS: list[dict[str, Any]] = [
    {"id": "long", "text": prose("long", 30), "metadata": {"lang": "en", "year": 2020}},
    {"id": "lines", "text": f"Menu\n{prose('b', 12)}\nNext page\n{prose('c', 12)}", "metadata": {"lang": "de"}},
    {"id": "two", "text": "Two words", "created": "2020-01-01", "metadata": {"lang": "fr"}},
    {"id": "blank", "text": " \n ", "added": "2020-01-01"},
]


def one_shard(folder: Path, section: Mapping[str, Any], **changed: Any) -> Corpus:
    """A small corpus with one file more, filtered."""
    corpus = small(folder, section, **changed)
    write_raw(folder, "books/rows.jsonl", ROWS)
    return filtered(corpus)


def left(corpus: Corpus) -> dict[str, str]:
    """The texts of that file by id, as the filter leaves them."""
    return {one.id: one.text for one in partitions(corpus, "filtered_documents")["books--rows"].documents()}


def kept(folder: Path, section: Mapping[str, Any], **changed: Any) -> list[str]:
    return list(left(one_shard(folder, section, **changed)))


ALL = ["long", "lines", "two", "blank"]


@pytest.mark.parametrize(
    ("rules", "ids"),
    [
        ({"quality.gopher_v2.word_count": {"min": 2, "max": 27}}, ["lines", "two"]),
        ({LINES: {"max": 0}}, ["long"]),
        ({LINES: {"max": 0, "absent": "drop"}}, []),
        ({LINES: {"min": 1}}, ["lines", "two", "blank"]),
        ({LINES: {"min": 1, "absent": "keep"}}, ALL),
        ({LINES: {"of": "count", "min": 2}}, ["lines", "blank"]),
        ({LINES: {"of": "count", "max": 1}}, ["long", "two"]),
        ({LINES: {"of": "share", "max": 0.5}}, ["long", "lines"]),
        ({LINES: {"of": "share", "min": 0.01, "max": 0.99}}, ["lines"]),
        ({LINES: {"of": "share", "min": 0.01}, "quality.gopher_v2.word_count": {"min": 1, "max": 2}}, ["two"]),
        ({"quality.c4_v2.has_naughty_word": {"max": 0}}, ALL),
    ],
)
def test_ranges(tmp_path: Path, rules: Mapping[str, Any], ids: list[str]) -> None:
    assert kept(tmp_path, {"rules": rules}, **{"sources.0.may_be_empty": True}) == ids


def test_a_build_says_which_rule_never_found_a_span(tmp_path: Path) -> None:
    rules = {"quality.gopher_v2.word_count": {"min": 1}, "quality.c4_v2.has_naughty_word": {"max": 0}}
    corpus = one_shard(tmp_path, {"rules": rules})
    stage = corpus.graph["filtered_documents"]
    shards = corpus.listing().by_key()
    records = [partition.record for partition in partitions(corpus, stage.name).values()]
    built = [Partition(corpus.storage, record, shards[record.partition or ""]) for record in records]
    assert list(stage.hooks.notes(built, corpus.settings.values)) == [
        "source books: the filter drops 1 of 27 documents (quality.gopher_v2.word_count 1)",
        "source notes: the filter drops 1 of 6 documents (quality.gopher_v2.word_count 1)",
        "filter rule quality.c4_v2.has_naughty_word: none of 46 documents has such a span (is its type spelt right?)",
    ]


@pytest.mark.parametrize(
    ("section", "ids"),
    [
        ({"include": [f"$.attributes[?(@.{WORDS}[0][2] >= 2)]"]}, ["long", "lines", "two"]),
        ({"include": ["$.metadata[?(@.lang == 'en' || @.lang == \"de\")]"]}, ["long", "lines"]),
        ({"include": ["$.metadata.lang[?(@ == 'en')]"]}, ["long"]),
        ({"include": ["$.metadata.year", "$.added"]}, ["long", "blank"]),
        ({"exclude": [f"$@.attributes[?(@.{KEY} && @.{KEY}[0] && @.{KEY}[0][2] > 0)]"]}, ["long"]),
        ({"exclude": ["$.metadata[?(@.year > 1999)]", "$.added"]}, ["lines", "two"]),
        ({"exclude": ["$.attributes[?(@.quality__c4_v2__has_naughty_word[0][2] <= 9)]"]}, ALL),
        ({"include": [f".attributes.{WORDS}[0][2] >= 2"], "syntax": "jq"}, ["long", "lines", "two"]),
        ({"include": ['.metadata.lang == ("en", "de")'], "syntax": "jq"}, []),
        ({"exclude": ['.metadata.lang == ("en", "de")'], "syntax": "jq"}, ["two", "blank"]),
        ({"include": [f".attributes.{KEY} // [] | length"], "syntax": "jq"}, ["lines", "two", "blank"]),
        ({"include": ["empty"], "syntax": "jq"}, []),
        ({"exclude": ["empty"], "syntax": "jq"}, ALL),
        ({"include": ["$.text"], "exclude": ["$.created"], "attributes": []}, ["long", "lines", "blank"]),
    ],
)
def test_conditions(tmp_path: Path, section: Mapping[str, Any], ids: list[str]) -> None:
    assert kept(tmp_path, section, **{f"sources.{n}.may_be_empty": True for n in range(3)}) == ids


@pytest.mark.parametrize(
    ("test", "by_value", "as_dolma"),
    [
        (f"$.attributes[?(@.{WORDS}[0][2] >= 2)]", ["long", "lines", "two"], ["long", "lines"]),
        (f"$.attributes[?(2 <= @.{WORDS}[0][2])]", ["long", "lines", "two"], ["long", "lines"]),
        (f"$.attributes[?(@.{WORDS}[0][2] >= 2.0)]", ["long", "lines", "two"], ["long", "lines", "two"]),
        (f"$.attributes[?(@.{WORDS}[0][2] > 1)]", ["long", "lines", "two"], ["long", "lines", "two"]),
        (f"$.attributes[?(@.{WORDS}[0][2] != 2)]", ["long", "lines", "blank"], ALL),
        ("$.metadata[?(@.year == 2020)]", ["long"], ["long"]),
        ("$.metadata[?(@.year <= 2020.0)]", ["long"], []),
        ("$.metadata[?(@.list == @.floats)]", ["long", "lines", "two"], ["lines", "two"]),
        ("$.metadata[?(@.lang < 'ex')]", ["long", "lines"], []),
        ("$.metadata[?(@.flag < 2)]", [], []),
    ],
)
def test_compat_compares_json_not_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: str, by_value: list[str], as_dolma: list[str]
) -> None:
    more = {"flag": True, "list": [{"a": 1}], "floats": [{"a": 1.0}]}
    monkeypatch.setitem(ROWS[0], "metadata", {**ROWS[0]["metadata"], **more})
    empty = {f"sources.{n}.may_be_empty": True for n in range(3)}
    assert kept(tmp_path / "value", {"include": [test]}, **empty) == by_value
    assert kept(tmp_path / "dolma", {"include": [test], "compat": "dolma"}, **empty) == as_dolma


def test_compat_compares_scores_of_spans_as_json(tmp_path: Path) -> None:
    section = {"span_replacement": [{"span": f"$.attributes.{WORDS}[?(@[2] == 2)]", "replacement": "-"}]}
    assert left(one_shard(tmp_path / "value", section))["two"] == "-"
    assert left(one_shard(tmp_path / "dolma", {**section, "compat": "dolma"}))["two"] == "Two words"


def test_what_conditions_dropped_is_counted_one_by_one(tmp_path: Path) -> None:
    expressions = [f"$.attributes[?(@.{WORDS}[0][2] == 2)]", "$.added"]
    corpus = one_shard(tmp_path, {"include": ["$.added", "$.metadata"], "exclude": expressions})
    record = partitions(corpus, "filtered_documents")["books--rows"].record
    assert record.statistics["dropped"] == {"exclude.0": 1, "exclude.1": 1}
    found = {change["id"]: change["found"] for change in changes(corpus) if change["dropped"] == "exclude.0"}
    assert found == {"two": f"{expressions[0]} matches"}
    assert {change["dropped"] for change in changes(corpus)} == {"include", "exclude.0", "exclude.1"}


def test_spans_are_replaced(tmp_path: Path) -> None:
    replacements = [
        {"span": LINES, "replacement": "[{}]"},
        {"span": f"$.attributes.{WORDS}", "min_score": 2, "max_score": 3, "replacement": "$.id + .created"},
    ]
    corpus = one_shard(tmp_path, {"span_replacement": replacements})
    assert left(corpus) == {
        "long": ROWS[0]["text"],
        "lines": f"[Menu\n]{prose('b', 12)}\n[Next page\n]{prose('c', 12)}",
        "two": "[Two words]",
        "blank": "[ \n][ ]",
    }
    record = partitions(corpus, "filtered_documents")["books--rows"].record
    assert record.statistics["changed_by_rule"] == {"span_replacement.0": 5, "span_replacement.1": 1}
    changed = {change["id"]: change["changed"] for change in changes(corpus)}
    assert changed["two"] == {"span_replacement.0": 1, "span_replacement.1": 1}
    jq = {"span": f".attributes.{KEY}", "syntax": "jq", "replacement": "$$5"}
    assert left(one_shard(tmp_path, {"span_replacement": [jq]}))["two"] == "$5"
    computed = {"span": f"$.attributes.{KEY}", "replacement": "$.id"}
    assert left(one_shard(tmp_path, {"span_replacement": [computed]}))["two"] == "two"


@pytest.mark.parametrize(
    ("span", "syntax"),
    [
        (f"$.attributes.{KEY}[*]", "jsonpath"),
        (f"$.attributes.{KEY}[?(@[2] > 0.5)]", "jsonpath"),
        (f".attributes.{KEY}[]?", "jq"),
    ],
)
def test_an_expression_may_select_spans_one_by_one(tmp_path: Path, span: str, syntax: str) -> None:
    replacement = {"span": span, "syntax": syntax, "replacement": "[{}]"}
    expected = left(one_shard(tmp_path / "all", {"span_replacement": [{"span": LINES, "replacement": "[{}]"}]}))
    assert left(one_shard(tmp_path / "each", {"span_replacement": [replacement]})) == expected


SECRET = "not for a corpus"
OUTSIDE = [
    "env.A_KEY",
    "$ENV.A_KEY",
    '"\\($ENV | tojson)"',
    "def f: env; [f, $ENV, {$ENV}] | tojson",
    "reduce ($ENV | to_entries[]) as $one (.text; . + $one.value)",
    "$ENV as {A_KEY: $key} | $key",
    "of_home",
    "try input_filename catch .",
    "get_search_list | tojson",
    "[try now catch ., try (0 | localtime) catch .] | tojson",
    "[inputs] | tojson",
]


@pytest.mark.parametrize("expression", OUTSIDE)
def test_jq_sees_nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expression: str) -> None:
    (tmp_path / ".jq").write_text(f'def of_home: "{SECRET}"; def now: "{SECRET}";')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("A_KEY", SECRET)
    whole = {"span": "quality.gopher_v2.word_count", "replacement": f"${expression}"}
    corpus = small(tmp_path, {"span_replacement": [whole]})
    write_raw(tmp_path, "books/rows.jsonl", ROWS)
    drive(corpus, corpus.graph.select(["+filtered_documents"]))
    for file in (tmp_path / "corpus").rglob("*"):
        if file.suffix == ".gz":
            assert SECRET not in gzip.decompress(file.read_bytes()).decode()
    assert os.environ["HOME"] == str(tmp_path)


def test_jq_writes_to_no_console_and_stops_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert kept(tmp_path, {"include": ["debug | stderr | true"], "syntax": "jq"}) == ALL
    assert "Two words" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "expression", ['import "a" as a; .', 'include "a"; true', 'import "a" as $a; $a', "# a\nimport"]
)
def test_jq_has_no_modules(tmp_path: Path, expression: str) -> None:
    corpus = small(tmp_path, {"include": [expression], "syntax": "jq"})
    check = corpus.graph["filtered_documents"].hooks.check_before
    with pytest.raises(ConfigError, match=r"not a valid expression in jq.*(import|include)"):
        check(corpus.settings.values)


def test_what_is_wrong_with_an_expression_is_told_by_its_own_line(tmp_path: Path) -> None:
    corpus = small(tmp_path, {"include": ["true and\nnowhere"], "syntax": "jq"})
    check = corpus.graph["filtered_documents"].hooks.check_before
    with pytest.raises(ConfigError, match=r"nowhere/0 is not defined at <top-level>, line 2"):
        check(corpus.settings.values)


def test_the_least_length_counts_what_replacements_leave(tmp_path: Path) -> None:
    section = {"span_replacement": [{"span": LINES}], "min_text_length": 1}
    corpus = one_shard(tmp_path, section)
    assert left(corpus) == {"long": ROWS[0]["text"], "lines": f"{prose('b', 12)}\n{prose('c', 12)}"}
    record = partitions(corpus, "filtered_documents")["books--rows"].record
    assert record.statistics["dropped"] == {"min_text_length": 2}


def test_fields_are_left_out(tmp_path: Path) -> None:
    corpus = one_shard(tmp_path, {"discard_fields": ["created", "added", "metadata"]})
    lines = list(partitions(corpus, "filtered_documents")["books--rows"].lines())
    assert [sorted(json.loads(line)) for line in lines] == [["id", "source", "text"]] * 4


def test_compat_counts_bytes_and_does_not_unite(tmp_path: Path) -> None:
    small(tmp_path, None)
    write_raw(tmp_path, "books/bytes.jsonl", [{"id": "two", "text": " éé "}, {"id": "one", "text": " éa\x1c"}])
    section = {"min_text_length": 4, "compat": "dolma"}
    corpus = one_shard(tmp_path, section)
    assert [one.id for one in partitions(corpus, "filtered_documents")["books--bytes"].documents()] == ["two", "one"]
    text = "quality__gopher_v2__word_count"
    pieces = [{"span": LINES, "replacement": "[{}]"}, {"span": f"$.attributes.{text}", "max_score": 3}]
    assert left(one_shard(tmp_path, {"span_replacement": pieces}))["blank"] == ""
    assert left(one_shard(tmp_path, {"span_replacement": pieces, "compat": "dolma"}))["blank"] == "[ \n][ ]"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"include": [".text + 1"], "syntax": "jq"}, "rule include: ValueError: string "),
        ({"span_replacement": [{"span": "$.text"}]}, "rule span_replacement.0: selected "),
        (
            {"span_replacement": [{"span": LINES, "replacement": "$.metadata"}]},
            "span_replacement.0: $.metadata gives",
        ),
    ],
)
def test_a_rule_that_fails_is_named_with_its_document(tmp_path: Path, section: dict[str, Any], message: str) -> None:
    corpus = small(tmp_path, section)
    write_raw(tmp_path, "books/rows.jsonl", ROWS)
    failed = drive(corpus, corpus.graph.select(["+filtered_documents"])).failed
    where = "filtered_documents/books--rows: books/rows.jsonl (document "
    assert any(words.startswith(where) and message in words for words in failed)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"include": ["$.a[?("]}, "filter.include.0: '$.a[?(' is not a valid expression in jsonpath"),
        ({"exclude": [".a ||| b"], "syntax": "jq"}, "filter.exclude.0: '.a ||| b' is not a valid expression in jq"),
        ({"span_replacement": [{"span": LINES, "replacement": "$|"}]}, "filter.span_replacement.0.replacement: '|' is"),
        ({"span_replacement": [{"span": "$.a[", "attributes": []}]}, "attributes"),
        ({"span_replacement": [{"span": "$.a["}]}, "filter.span_replacement.0.span: '$.a[' is not a valid expression"),
    ],
)
def test_an_expression_is_read_before_a_build(tmp_path: Path, section: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as found:
        corpus = small(tmp_path, section)
        stage = corpus.graph["filtered_documents"]
        stage.hooks.check_before(corpus.settings.values)
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            {"include": ["$.attributes.dup"]},
            "names no key of an attribute; keys begin with quality__",
        ),
        (
            {"include": ["$.text"], "attributes": ["qualities"]},
            "filter.attributes.0: no attribute named 'qualities'",
        ),
        ({"min_text_length": 1, "attributes": ["quality"]}, "attributes: without effect"),
        ({"span_replacement": [{"span": ".attributes.x"}]}, "ENTRY.TAGGER.TYPE"),
        ({"rules": {LINES.replace("few", "fwe"): {"max": 0}}}, MISSPELT),
        ({"span_replacement": [{"span": LINES.replace("few", "fwe")}]}, MISSPELT),
        ({"include": [f"$.attributes.{KEY}", f"$.attributes['{KEY.replace('few', 'fwe')}'][0]"]}, MISSPELT),
        ({"exclude": [f".attributes.{KEY.replace('few', 'fwe')} | length"], "syntax": "jq"}, MISSPELT),
        ({"exclude": ["$.attributes.quality__c4__line_count"]}, "'quality' has no tagger 'c4'"),
        ({"span_replacement": [{"span": "a.b.c"}]}, "filter.span_replacement.0.span: no attribute named 'a'"),
        (
            {"span_replacement": [{"span": LINES, "min_score": 1, "max_score": 1}]},
            "min_score 1 is not under max",
        ),
    ],
)
def test_a_rule_that_cannot_be_is_refused(tmp_path: Path, section: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as found:
        small(tmp_path, section)
    assert message in str(found.value)


SECTION: dict[str, Any] = {
    "include": ["$.text"],
    "exclude": ["$.nothing"],
    "attributes": ["quality"],
    "span_replacement": [{"span": LINES, "replacement": "-"}],
    "min_text_length": 1,
}


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("include", ["$.id"], "filter.include ['$.text'] -> ['$.id']"),
        ("exclude", [], "filter.exclude ['$.nothing'] -> []"),
        ("syntax", "jq", "filter.syntax jsonpath -> jq"),
        ("span_replacement", [], "filter.compat None -> (unset), filter.span_replacement"),
        ("min_text_length", 2, "filter.min_text_length 1 -> 2"),
        ("compat", "dolma", "filter.compat None -> dolma"),
    ],
)
def test_the_plan_says_what_changed(tmp_path: Path, key: str, value: Any, reason: str) -> None:
    section = {name: held for name, held in SECTION.items() if key != "span_replacement" or name != "min_text_length"}
    filtered(small(tmp_path, section))
    small(tmp_path, {**section, key: value})
    found = statuses(opened(tmp_path).planner().plan())
    stale = {name: words for (name, _), (status, words) in found.items() if status == "stale"}
    assert stale.keys() == {"filtered_documents"}
    assert stale["filtered_documents"].startswith(reason)


def test_the_page_says_what_can_be_written(tmp_path: Path) -> None:
    page = (FOLDER / "filter.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    assert len(blocks) == 4
    for block in blocks:
        section = block.pop("filter", None)
        corpus = small(tmp_path, section, **block)
        stage = corpus.graph["filtered_documents" if section else "clean_stream_documents"]
        stage.hooks.check_before(corpus.settings.values)
        assert stage.inputs[-1].asset.endswith("_attributes")


def test_dedupers_are_named_by_what_they_compare(tmp_path: Path) -> None:
    dedupers = [
        {"name": "same", "by": "text"},
        {"name": "places", "by": "metadata.lang", "attribute": "dup_lang"},
        {"name": "lines", "by": "paragraphs"},
    ]
    copies = [{"id": "copy", "text": ROWS[0]["text"]}, {"id": "menu", "text": "Menu\nis new"}]
    rules = {"same.text.duplicate": {"max": 0}, "places.metadata_lang.duplicate": {"max": 0}}
    replaced = [{"span": "lines.paragraphs.duplicate"}, {"span": "$.attributes.lines__paragraphs__duplicate"}]
    section = {"rules": rules, "exclude": ["$.attributes.dup_lang"], "span_replacement": replaced}
    small(tmp_path, None)
    write_raw(tmp_path, "books/zcopies.jsonl", copies)
    corpus = one_shard(tmp_path, section, dedupers=dedupers)
    found = partitions(corpus, "filtered_documents")["books--zcopies"]
    assert [(one.id, one.text) for one in found.documents()] == [("menu", "is new")]
    assert found.record.statistics["dropped"] == {"same.text.duplicate": 1}
    with pytest.raises(ConfigError, match="'same' has no tagger 'texts'"):
        small(tmp_path, {"rules": {"same.texts.duplicate": {"max": 0}}}, dedupers=dedupers)


def test_attributes_that_no_expression_names_are_not_read(tmp_path: Path) -> None:
    lengths = {"name": "lengths", "taggers": ["char_length_v1"]}
    quality = {"name": "quality", "taggers": ["c4_v2"]}
    corpus = small(tmp_path, {"include": [f"$.attributes.{KEY}"]}, attributes=[quality, lengths])
    reads = [edge.asset for edge in corpus.graph["filtered_documents"].inputs]
    assert reads == ["normalized_documents", "quality_attributes"]
    corpus = small(tmp_path, {"include": ["$.text"], "attributes": ["lengths"]}, attributes=[quality, lengths])
    reads = [edge.asset for edge in corpus.graph["filtered_documents"].inputs]
    assert reads == ["normalized_documents", "lengths_attributes"]
    assert words(3).count(" ") == 2


def test_a_wrong_name_of_a_tagger_is_met_where_it_is_given(tmp_path: Path) -> None:
    entry = {"name": "quality", "taggers": ["gopher_v3"]}
    with pytest.raises(ConfigError, match=r"attributes\.0\.taggers.*gopher_v3.*gopher_v2"):
        small(tmp_path, {"rules": {"quality.gopher_v2.word_count": {"min": 1}}}, attributes=[entry])


@pytest.mark.parametrize(
    ("expression", "of_values"),
    [
        ("$.metadata[?(@.lang == 'en')]", False),
        ("$@.attributes[?(@.quality__c4_v2__line_count)]", False),
        ("$.metadata.lang[?(@ == 'en')]", True),
        ("$.metadata[?(@.lang)].lang[?(@ == 'en')]", True),
    ],
)
def test_documents_are_filtered_anew_where_filters_of_values_selected_nothing_once(
    tmp_path: Path, expression: str, of_values: bool
) -> None:
    corpus = small(tmp_path, {"include": [expression]})
    parameters = corpus.planner().parameters(corpus.graph["filtered_documents"], "books--one")
    assert ("filter.filters of values" in parameters) == of_values


@pytest.mark.parametrize(
    ("section", "compare"),
    [
        ({"include": ["$.metadata[?(@.year >= 2020)]"]}, True),
        ({"include": ["$.metadata[?(@.year >= 2020)]"], "compat": None}, False),
        ({"include": ["$.metadata[?(@.year)]"]}, False),
        ({"include": [".metadata.year >= 2020"], "syntax": "jq"}, False),
        ({"span_replacement": [{"span": f"$.attributes.{KEY}[?(@[2] == 1)]"}]}, True),
        ({"span_replacement": [{"span": f"$.attributes.{KEY}"}]}, False),
    ],
)
def test_documents_are_filtered_anew_where_compat_compared_by_value_once(
    tmp_path: Path, section: dict[str, Any], compare: bool
) -> None:
    corpus = small(tmp_path, {"compat": "dolma", **section})
    parameters = corpus.planner().parameters(corpus.graph["filtered_documents"], "books--one")
    assert ("filter.comparisons of JSON" in parameters) == compare
