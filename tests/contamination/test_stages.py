"""Benchmark items in the documents of a corpus: what is found, what is reported, and what recomputes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resources.errors import ConfigError
from tests.build.small import digests, drive, opened, prose, write_config, write_raw, write_small
from tests.contamination.planted import (
    FACTS,
    SUMS,
    configure,
    item,
    marked,
    partitions,
    report,
    searched,
    shares,
    write_items,
)

SHORT = "Seven words are all that this has."
TEMPLATE = "which of the following four answers is right when all of them are read twice "


def respaced(text: str) -> str:
    return text.replace(" ", " \n\t\u00a0 ")


def repunctuated(text: str) -> str:
    return text.replace(".", "!?").replace(" ", ", ", 5).replace("a", "a’", 3)


PLANTS: dict[str, Callable[[str], str]] = {
    "exact": lambda text: text,
    "respaced": respaced,
    "recased": str.upper,
    "repunctuated": repunctuated,
    "decomposed": lambda text: text.replace("a", "ａ"),
}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A small corpus with an item of each benchmark in some way in a document of its own, and one item in none."""
    write_small(tmp_path)
    rows = []
    for number, (name, change) in enumerate(PLANTS.items()):
        text = change(f"{item(f'sum {number}')}\n\n{item(f'answer {number}', 4)}")
        rows.append({"id": name, "text": f"{prose(f'before {name}')}\n{text}\n{prose(f'after {name}')}"})
    part = " ".join(item("fact", 50).split()[:30])
    rows.append({"id": "partial", "text": f"{prose('p')} {part} {prose('q')}"})
    rows.append({"id": "short", "text": f"{prose('s')} {SHORT} {prose('t')}"})
    write_raw(tmp_path, "books/planted.jsonl", rows)
    sums = [{"id": f"s{n}", "question": item(f"sum {n}"), "answer": item(f"answer {n}", 4)} for n in range(len(PLANTS))]
    write_items(tmp_path, "sums/test.jsonl", [*sums, {"id": "clean", "question": item("clean"), "answer": 4}])
    facts = [{"id": "f", "text": item("fact", 50)}, {"id": "seven", "text": SHORT}, {"id": "two", "text": "Too few."}]
    write_items(tmp_path, "facts/test.jsonl", facts)
    return tmp_path


def test_items_are_found_however_they_are_written(planted: Path) -> None:
    corpus = configure(planted, [SUMS, FACTS], contamination__shortest_item=7)
    searched(corpus)
    found = marked(corpus)
    touched = {name for name, (_, row) in found.items() if row.attributes}
    assert touched == {*PLANTS, "partial", "short"}
    for number, name in enumerate(PLANTS):
        document, row = found[name]
        assert shares(row) == {f"s{number}": 1.0}
        ((start, end, share),) = row.attributes["contamination__sums__share"]
        before, after = prose(f"before {name}"), prose(f"after {name}")
        assert document.text[:start].strip() == before
        assert document.text[end:].lstrip(".!? \n").strip() == after
        assert row.attributes["contamination__sums__item"] == [(start, end, float(number))]
        assert row.attributes["contamination__any__share"] == [(start, end, share)]
    assert shares(found["partial"][1]) == {"f": 0.6}
    assert shares(found["short"][1]) == {"seven": 1.0}
    ((start, end, _),) = found["short"][1].attributes["contamination__facts_1_0__share"]
    assert found["short"][0].text[start:end] == SHORT.rstrip(".")


def test_the_report_says_what_was_found_and_what_was_not_looked_for(planted: Path) -> None:
    corpus = configure(planted, [SUMS, FACTS], contamination__shortest_item=7)
    searched(corpus)
    found = report(corpus)
    sums, facts = found["sums"], found["facts-1.0"]
    assert (sums["items"], sums["touched"], sums["held"], sums["whole"]) == (len(PLANTS) + 1,) + 3 * (len(PLANTS),)
    assert (facts["items"], facts["touched"], facts["whole"], facts["too_short"]) == (3, 2, 1, 1)
    assert {row["id"] for row in sums["worst_documents"]} == set(PLANTS)
    assert facts["worst_documents"][0] | {"shard": "", "row": 0} == {
        "source": "books", "id": "short", "shard": "", "row": 0, "items": 1, "held": 1, "share": 1.0,
    }  # fmt: skip
    assert {row["id"]: row["share"] for row in facts["worst_items"]} == {"f": 0.6, "seven": 1.0}
    record = corpus.ledger.read("contamination_report", None)
    assert record is not None
    assert record.statistics["sums: items held"] == len(PLANTS)
    notes = corpus.graph["contamination_report"].hooks.notes
    said = list(notes(list(partitions(corpus, "contamination_report").values()), corpus.settings.values))
    assert "benchmark facts-1.0: 1 items were not looked for (too_short 1)" in said


@pytest.mark.parametrize(("level", "found"), [("loose", {}), ("default", {"f": 0.3}), ("strict", {"f": 0.5})])
def test_levels(tmp_path: Path, level: str, found: dict[str, float]) -> None:
    """Fifteen words of an item and, elsewhere, ten others."""
    write_small(tmp_path)
    words = item("fact", 50).split()
    text = f"{prose('p')} {' '.join(words[:15])} {prose('q')} {' '.join(words[30:40])} {prose('r')}"
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "planted", "text": text}])
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": item("fact", 50)}])
    corpus = configure(tmp_path, [FACTS], contamination__words=level)
    searched(corpus)
    assert shares(marked(corpus)["planted"][1]) == found


def test_boilerplate_and_templates_do_not_count(tmp_path: Path) -> None:
    write_small(tmp_path)
    notice = prose("notice", 20)
    both = [{"id": f"both {n}", "text": f"{prose(n)} {notice} {item('own', 20)}"} for n in range(2)]
    alone = [{"id": f"notice {n}", "text": f"{prose(f'x{n}')} {notice} {prose(f'y{n}')}"} for n in range(3)]
    template = [{"id": "template", "text": f"{prose('z')} {TEMPLATE} {prose('w')}"}]
    write_raw(tmp_path, "books/planted.jsonl", [*both, *alone, *template])
    asked = [{"id": f"q{n}", "text": f"{TEMPLATE} {item(n, 20)}"} for n in range(4)]
    rows = [{"id": "a", "text": f"{notice} {item('own', 20)}"}, {"id": "b", "text": notice}, *asked]
    write_items(tmp_path, "facts/test.jsonl", [*rows, *({"id": f"t{n}", "text": TEMPLATE} for n in range(2))])
    limits: dict[str, Any] = {"contamination__document_limit": 4, "contamination__item_limit": 3}
    corpus = configure(tmp_path, [FACTS], **limits)
    searched(corpus)
    found = {name: shares(row) for name, (_, row) in marked(corpus).items() if row.attributes}
    assert found == {"both 0": {"a": 1.0}, "both 1": {"a": 1.0}}
    counts = report(corpus)["facts-1.0"]
    assert (counts["boilerplate"], counts["template"], counts["touched"]) == (1, 2, 1)
    corpus = configure(tmp_path, [FACTS], **{**limits, "contamination__document_limit": 5})
    assert searched(corpus).assets() == {"boilerplate_ngrams", "contamination_attributes", "contamination_report"}
    assert shares(marked(corpus)["notice 0"][1]) == {"a": 0.5, "b": 1.0}


INSTRUCTION = " ".join(f"instruct{n}" for n in range(40))


def planted_set(folder: Path, size: int) -> None:
    """A set of items with one instruction, of which a document holds one, and another document the instruction."""
    write_small(folder)
    leak = {"id": "leak", "text": f"{prose('p')} {INSTRUCTION} {item('1', 20)} {prose('q')}"}
    alone = {"id": "instruction", "text": f"{prose('z')} {INSTRUCTION} {prose('w')}"}
    write_raw(folder, "books/planted.jsonl", [leak, alone])
    asked = [{"id": f"q{n}", "text": f"{INSTRUCTION} {item(str(n), 20)}"} for n in range(size)]
    write_items(folder, "facts/test.jsonl", asked)


@pytest.mark.parametrize("size", [3, 4, 10, 40, 1000])
def test_an_instruction_that_a_set_shares_is_no_leak(tmp_path: Path, size: int) -> None:
    planted_set(tmp_path, size)
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    found = report(corpus)["facts-1.0"]
    assert (found["items"], found["held"], found["touched"], found["documents_touched"]) == (size, 1, 1, 1)
    assert found["alike"] == 0
    assert shares(marked(corpus)["leak"][1]) == {"q1": 1.0}
    assert shares(marked(corpus)["instruction"][1]) == {}


@pytest.mark.parametrize(("size", "share"), [(3, 1), (40, 1)])
def test_a_note_says_that_what_is_held_is_alike(tmp_path: Path, size: int, share: float) -> None:
    planted_set(tmp_path, size)
    corpus = configure(tmp_path, [FACTS], contamination__item_share=share)
    searched(corpus)
    assert report(corpus)["facts-1.0"]["held"] == report(corpus)["facts-1.0"]["alike"] == size
    notes = corpus.graph["contamination_report"].hooks.notes
    said = list(notes(list(partitions(corpus, "contamination_report").values()), corpus.settings.values))
    assert any(f"of the {size} items held, {size} are alike" in note and "item_share" in note for note in said)
    assert f"{size} of {size} items are in documents, with 50% of their words or more (2 documents)" in said[0]


def test_a_form_of_one_set_counts_in_another(tmp_path: Path) -> None:
    planted_set(tmp_path, 10)
    write_items(tmp_path, "sums/test.jsonl", [{"id": "s", "question": INSTRUCTION, "answer": "a b c d e f g h"}])
    corpus = configure(tmp_path, [SUMS, FACTS])
    searched(corpus)
    assert report(corpus)["facts-1.0"]["held"] == 1
    assert report(corpus)["sums"]["held"] == 1
    assert set(shares(marked(corpus)["instruction"][1])) == {"s"}


def test_few_items_of_a_passage_are_no_template(tmp_path: Path) -> None:
    write_small(tmp_path)
    passage = item("passage", 40)
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "leak", "text": f"{prose('p')} {passage} {prose('q')}"}])
    rows = [{"id": f"q{n}", "text": f"{passage} {item(str(n), 10)}"} for n in range(4)]
    write_items(tmp_path, "facts/test.jsonl", [*rows, *({"id": f"r{n}", "text": item(f"r{n}", 30)} for n in range(4))])
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert report(corpus)["facts-1.0"]["held"] == 4


def test_documents_are_searched_again_only_if_n_grams_are_left_out(planted: Path) -> None:
    searched(configure(planted, [SUMS, FACTS], contamination__item_share=1))
    built = searched(configure(planted, [SUMS, FACTS]))
    assert "benchmark_ngrams" in built.assets()
    assert not {"benchmark_hits", "contamination_attributes"} & built.assets()


def test_punctuation_separates(tmp_path: Path) -> None:
    write_small(tmp_path)
    code = "def f(a, b): return g(a + b, c[1], d.e) - h(a, b) * 2"
    text = f"{prose('p')}\n{code.replace(' + ', '+').replace(', ', ',')}\n{prose('q')}"
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "code", "text": text}])
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": code}])
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert shares(marked(corpus)["code"][1]) == {}
    corpus = configure(tmp_path, [FACTS], contamination__punctuation="separates")
    searched(corpus)
    assert shares(marked(corpus)["code"][1]) == {"f": 1.0}


def test_only_what_changed_is_computed_again(planted: Path) -> None:
    corpus = configure(planted, [SUMS, FACTS])
    upstream = ["+contamination_report", "+train"]
    assert drive(corpus, corpus.graph.select(upstream)).failed == []
    assert drive(opened(planted), corpus.graph.select(upstream)).recomputed == set()
    before = digests(corpus)
    write_items(planted, "facts/unheld.jsonl", [{"id": "new", "text": item("nowhere", 40)}])
    built = drive(opened(planted), corpus.graph.select(upstream))
    contamination = {stage.name for stage in corpus.graph.select(["group:contamination"])}
    assert built.assets() - {"inventory"} <= contamination
    assert "facts-1.0_items" in built.assets()
    assert "sums_items" not in built.assets()
    after = digests(opened(planted))
    assert {key for key in before if before[key] != after[key]} <= {
        (name, key) for name, key in after if name in contamination or name == "inventory"
    }
    unchanged = [key for key in before if key[0] == "contamination_attributes"]
    assert [before[key] for key in unchanged] == [after[key] for key in unchanged]


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        ({"contamination": {"words": 12, "shortest_item": 8}}, {"benchmark_ngrams": "contamination.words 13 -> 12"}),
        ({"contamination__words": 13}, {}),
        ({"contamination__shortest_item": 9}, {"benchmark_ngrams": "contamination.shortest_item 8 -> 9"}),
        ({"contamination__punctuation": "separates"}, {"benchmark_ngrams": "contamination.punctuation removed -> "}),
        ({"contamination__item_limit": 9}, {"benchmark_ngrams": "contamination.item_limit 100 -> 9"}),
        ({"contamination__item_share": 0.5}, {"benchmark_ngrams": "contamination.item_share 0.25 -> 0.5"}),
        ({"contamination__numbers": "equal"}, {"benchmark_ngrams": "contamination.numbers compared -> equal"}),
        ({"contamination__short_item_documents": 9}, {"boilerplate_ngrams": "contamination.short_item_documents 10"}),
        ({"contamination__document_limit": 9}, {"boilerplate_ngrams": "contamination.document_limit 1000 -> 9"}),
        ({"contamination__share": 0.7}, {"contamination_report": "contamination.share 0.5 -> 0.7"}),
        ({"benchmarks__0__text_key": "question"}, {"sums_items": "benchmarks.sums.text_key "}),
    ],
)  # fmt: skip
def test_the_plan_says_why(planted_once: Path, changes: dict[str, Any], stale: dict[str, str]) -> None:
    corpus = configure(planted_once, [SUMS, FACTS], **changes)
    found = {d.asset: d.reason for d in corpus.planner().plan().decisions if d.status == "stale"}
    assert found.keys() == stale.keys()
    assert all(found[asset].startswith(reason) for asset, reason in stale.items())


@pytest.fixture(scope="module")
def planted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that was searched, whose plans are looked at."""
    folder = write_small(tmp_path_factory.mktemp("searched"))
    write_items(folder, "sums/test.jsonl", [{"id": "s", "question": item(1), "answer": "4"}])
    write_items(folder, "facts/test.jsonl", [{"id": "f", "text": item(2)}])
    searched(configure(folder, [SUMS, FACTS]))
    return folder


def test_without_benchmarks_the_graph_is_as_it_was(tmp_path: Path) -> None:
    write_small(tmp_path)
    assert "contamination" not in opened(tmp_path).graph.groups()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": "a", "frage": "x"}, {"id": "b", "question": "y"}],
            "1 of 2 rows dropped (no_text 1), more than max_bad",
        ),
        ([], "benchmark sums: 1 files, but nothing in them"),
        (None, "benchmark sums: no file in "),
    ],
)
def test_files_without_items_hold_everything_back(
    tmp_path: Path, rows: list[dict[str, Any]] | None, message: str
) -> None:
    write_small(tmp_path)
    (tmp_path / "eval" / "sums").mkdir(parents=True)
    if rows is not None:
        write_items(tmp_path, "sums/test.jsonl", rows)
    corpus = configure(tmp_path, [{**SUMS, "text_key": "question"}])
    built = drive(corpus, corpus.graph.select(["+contamination_report"]))
    assert any(message in waiting for waiting in built.waiting)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"benchmarks": [{**SUMS, "name": "books"}]}, "'books' is named like a source"),
        ({"benchmarks": [{**SUMS, "name": "train"}]}, "'train' is named like a dataset"),
        ({"benchmarks": [SUMS, SUMS]}, "benchmarks: 'sums' named twice"),
        ({"benchmarks": [SUMS, {**SUMS, "name": "sums-1"}, {**SUMS, "name": "sums.1"}]}, "have the same keys"),
        ({"benchmarks": [{**SUMS, "name": "any"}]}, "attribute keys have `any` for all sets together"),
        ({"benchmarks": [{**SUMS, "text_key": ["a", "a"]}]}, "valid: non-empty, each one used once"),
        (
            {"benchmarks": [SUMS], "attributes": [{"name": "contamination", "taggers": ["c4_v1"]}]},
            "rename the entry of that",
        ),
        ({"on_contamination": "remove_document"}, "received 'remove_document', but there are no benchmarks"),
        ({"contamination.words": "laxer"}, "contamination.words"),
        ({"contamination.words": 8, "contamination.shortest_item": 9}, "valid: at most words, 8"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as found:
        write_config(tmp_path, changes)
    assert message in str(found.value)


def test_too_many_items_for_the_memory_are_an_error(tmp_path: Path) -> None:
    write_small(tmp_path)
    rows = [{"id": str(n), "text": " ".join(map(str, range(n, n + 5000)))} for n in range(30)]
    write_items(tmp_path, "facts/test.jsonl", rows)
    corpus = configure(tmp_path, [FACTS], engine__memory="16 MiB")
    (failed,) = drive(corpus, corpus.graph.select(["+benchmark_ngrams"])).failed
    assert "valid: a larger engine.memory than 16 MiB" in failed


def test_hits_of_a_shard_are_the_same_in_any_corpus(planted: Path) -> None:
    corpus = configure(planted, [SUMS, FACTS])
    searched(corpus)
    hits = partitions(corpus, "benchmark_hits")["books--planted"].array(".hits.npy")
    assert len(hits) > 0
    assert np.all(np.diff(hits[:, 0].astype(np.int64)) >= 0)


def test_very_short_items_are_searched_as_a_whole_if_few_documents_have_them(tmp_path: Path) -> None:
    write_small(tmp_path)
    rare, everyday = "Which moon has lakes?", "What is your name?"
    rows = [{"id": "rare", "text": f"{prose('p')} which moon\nhas LAKES {prose('q')}"}]
    rows += [{"id": f"said {n}", "text": f"{prose(f'x{n}')} {everyday} {prose(f'y{n}')}"} for n in range(4)]
    write_raw(tmp_path, "books/planted.jsonl", rows)
    asked = [{"id": "moon", "text": rare}, {"id": "name", "text": everyday}, {"id": "two", "text": "Which moon?"}]
    write_items(tmp_path, "facts/test.jsonl", asked)
    corpus = configure(tmp_path, [FACTS], contamination__short_item_documents=3)
    searched(corpus)
    found = {name: shares(row) for name, (_, row) in marked(corpus).items() if row.attributes}
    assert found == {"rare": {"moon": 1.0}}
    counts = report(corpus)["facts-1.0"]
    assert (counts["boilerplate"], counts["too_short"], counts["whole"]) == (1, 1, 1)
    corpus = configure(tmp_path, [FACTS], contamination__short_item_documents=4)
    assert searched(corpus).assets() == {"boilerplate_ngrams", "contamination_attributes", "contamination_report"}
    assert len([row for _, row in marked(corpus).values() if row.attributes]) == 5
    corpus = configure(tmp_path, [FACTS], contamination__short_item_documents=0)
    searched(corpus)
    assert (report(corpus)["facts-1.0"]["too_short"], report(corpus)["facts-1.0"]["touched"]) == (3, 0)
    corpus = configure(tmp_path, [FACTS], contamination__short_item_documents=0, contamination__shortest_item=4)
    searched(corpus)
    assert (report(corpus)["facts-1.0"]["too_short"], report(corpus)["facts-1.0"]["whole"]) == (1, 2)


@pytest.mark.parametrize("words", [14, 20, 25, 26])
def test_an_item_that_is_cut_is_found_by_what_is_left(tmp_path: Path, words: int) -> None:
    write_small(tmp_path)
    left = " ".join(item("fact", words).split()[: words * 6 // 10])
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "cut", "text": f"{prose('p')} {left} {prose('q')}"}])
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": item("fact", words)}])
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert shares(marked(corpus)["cut"][1])["f"] >= 0.5


def test_a_form_counts_over_short_and_long_items(tmp_path: Path) -> None:
    """Eight words in items of 18 words and of 60: neither kind alone is a quarter of the set."""
    write_small(tmp_path)
    form = " ".join(f"form{n}" for n in range(8))
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "form", "text": f"{prose('p')} {form} {prose('q')}"}])
    asked = [f"{form} {item(str(n), 10 if n < 4 else 52)}" for n in range(8)]
    rows = [{"id": str(n), "text": text} for n, text in enumerate([*asked, *(item(f"r{n}") for n in range(12))])]
    write_items(tmp_path, "facts/test.jsonl", rows)
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert shares(marked(corpus)["form"][1]) == {}
    rows = [row for row in rows if row["id"] not in "4567"]
    write_items(tmp_path, "facts/test.jsonl", rows)
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert len(shares(marked(corpus)["form"][1])) == 4


def test_equal_items_are_no_form(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "leak", "text": f"{prose('p')} {item('same')} {prose('q')}"}])
    write_items(tmp_path, "facts/test.jsonl", [{"id": str(n), "text": item("same")} for n in range(6)])
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert shares(marked(corpus)["leak"][1]) == {str(n): 1.0 for n in range(6)}


def test_numbers_may_be_equal(tmp_path: Path) -> None:
    write_small(tmp_path)
    question = " ".join(f"{word} $1,0{n}.5" for n, word in enumerate(item("sum", 20).split()))
    other = " ".join(f"{word} {7 + n * 13}" for n, word in enumerate(item("sum", 20).split()))
    write_raw(tmp_path, "books/planted.jsonl", [{"id": "other", "text": f"{prose('p')} {other} {prose('q')}"}])
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": question}])
    corpus = configure(tmp_path, [FACTS])
    searched(corpus)
    assert shares(marked(corpus)["other"][1]) == {}
    corpus = configure(tmp_path, [FACTS], contamination__numbers="equal")
    searched(corpus)
    assert shares(marked(corpus)["other"][1]) == {"f": 1.0}


def test_a_table_of_numbers_holds_no_item_where_numbers_are_equal(tmp_path: Path) -> None:
    write_small(tmp_path)
    table = {"id": "table", "text": f"{prose('p')} {' '.join(map(str, range(100, 160)))} {prose('q')}"}
    write_raw(tmp_path, "books/planted.jsonl", [table])
    asked = f"{item('sum', 10)} {' '.join(map(str, range(40)))}"
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": asked}])
    corpus = configure(tmp_path, [FACTS], contamination__numbers="equal")
    searched(corpus)
    assert shares(marked(corpus)["table"][1]) == {}
