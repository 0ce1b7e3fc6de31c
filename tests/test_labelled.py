"""The benchmark of labelled pairs: scores, the index of groups, pages as texts, and sets that are not there."""

import json
from pathlib import Path

import pytest

from benchmarks import dedup_labelled, labelled
from benchmarks.dedup_labelled import adjusted_rand_index, clusters_in, scores, section, table
from benchmarks.dedup_peers import Peer
from benchmarks.labelled import Labelled, text_of, write
from benchmarks.peers.exchange import read_documents
from benchmarks.real_texts import AbsentError

NAMES = ["a", "b", "c", "d", "e"]
TEXTS = {name: f"text {name}" for name in NAMES}


def test_pairs_of_a_closed_set_are_right_or_wrong() -> None:
    given = Labelled(TEXTS, frozenset({("a", "b"), ("a", "c"), ("b", "c")}), None, [["a", "b", "c"], ["d"], ["e"]])
    found = scores(given, [["a", "b", "d"]])
    assert found == {
        "precision": 0.3333,
        "recall": 0.3333,
        "f1": 0.3333,
        "gone": 0.6667,
        "ari": pytest.approx(0.0476, abs=0.2),
    }
    assert scores(given, [["a", "b", "c"]]) == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "gone": 1.0, "ari": 1.0}
    assert scores(given, [])["recall"] == scores(given, [])["gone"] == 0


def test_of_labelled_pairs_only_these_count() -> None:
    given = Labelled(TEXTS, frozenset({("a", "b")}), frozenset({("a", "c")}))
    assert scores(given, [["a", "b", "c", "d", "e"]]) == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": 0.6667,
        "gone": 1.0,
        "ari": None,
    }


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        ([["a", "b", "c"], ["d", "e"]], 1.0),
        ([], 0.0),
        ([["a", "b"], ["c", "d"]], (1 - 4 * 2 / 10) / ((4 + 2) / 2 - 4 * 2 / 10)),
        ([["a", "b", "c", "d", "e"]], 0.0),
    ],
)
def test_the_index_is_that_of_hubert_and_arabie(clusters: list[list[str]], expected: float) -> None:
    assert adjusted_rand_index([["a", "b", "c"], ["d", "e"]], clusters) == pytest.approx(expected)


def test_answers_name_documents_by_number_or_id() -> None:
    mixed: list[list[int | str]] = [[0, "c"], ["e", 1]]
    assert clusters_in(mixed, NAMES) == [["a", "c"], ["e", "b"]]
    with pytest.raises(LookupError):
        clusters_in([["nobody"]], NAMES)
    with pytest.raises(TypeError):
        clusters_in([3], NAMES)


def test_of_copies_one_at_least_is_gone() -> None:
    given = Labelled(TEXTS, frozenset({("a", "b"), ("c", "d")}))
    assert dedup_labelled.gone(given, {"b", "c", "d"}) == 1
    assert dedup_labelled.gone(given, {"e", "d"}) == 0.5


def test_a_page_is_its_visible_text() -> None:
    page = "<html><head><title>t</title></head><body><h1>One</h1><script>x()</script><p>two\n three<b>!</b></p></body>"
    assert text_of(page) == "One\ntwo three!"


def test_untranslated_is_what_mostly_stands_in_the_other_page() -> None:
    english = "A first line that is long enough.\nA second line that is long enough.\nshort"
    assert labelled._share_of_lines(english, english) == 1
    assert labelled._share_of_lines("Eine Zeile, die lang genug ist.\nA first line that is long enough.", english) < 0.6
    assert labelled._share_of_lines("", english) == 0


def test_texts_are_written_as_peers_read_them(tmp_path: Path) -> None:
    write(Labelled(TEXTS, frozenset()), tmp_path)
    assert dict(read_documents(tmp_path)) == TEXTS


def test_what_is_absent_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> Labelled:
        raise AbsentError("no network")

    given = Labelled(TEXTS, frozenset({("a", "b")}), None, [["a", "b"], ["c"], ["d"], ["e"]])
    for name in ("pairs", "editions", "untranslated"):
        monkeypatch.setattr(labelled, name, absent)
    monkeypatch.setattr(labelled, "licences", lambda _: given)
    missing = Peer("nobody", "no_such_runner", (), "")
    found = dedup_labelled.measure(True, [missing], tmp_path)
    json.dumps(found)
    rows = table(found).splitlines()
    assert "| pairs | absent: no network |" in rows[2]
    assert "| licences | nobody | absent: " in rows[3]
    assert {row.count("|") for row in rows} == {8}
    assert "5 documents, 1 pairs of copies" in section(found)
    assert "macro F1 0.952" in section(found)


def test_every_figure_has_its_column() -> None:
    values = {"precision": 0.1, "recall": 0.2, "f1": 0.3, "gone": 0.4, "ari": 0.5}
    only_gone = dict.fromkeys(values) | {"gone": 0.6}
    tools = {"one": values, "other": only_gone, "absent": {"absent": "no wheel"}}
    rows = table({"pairs": {"documents": 5, "copies": 1, "tools": tools}}).splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[0] == ["set", "tool", "precision", "recall", "F1", "gone", "ARI"]
    assert cells[2] == ["pairs", "one", "0.100", "0.200", "0.300", "0.400", "0.500"]
    assert cells[3] == ["pairs", "other", "", "", "", "0.600", ""]
    assert cells[4][:3] == ["pairs", "absent", "absent: no wheel"]
    assert {len(row) for row in cells} == {7}
