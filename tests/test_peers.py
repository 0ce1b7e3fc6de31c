"""The comparison with other tools: scoring, tools that are not there, and the section of the page."""

import gzip
import json
import struct
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import dedup_peers
from benchmarks.dedup_peers import CHECKS, PEERS, UNITS, Peer, chosen, figures, measure_peer, section, table
from benchmarks.peers import corpus, exchange, own, process
from benchmarks.peers.datatrove_files import read_clusters
from benchmarks.peers.environment import python_of
from benchmarks.peers.process import AbsentError, Cost
from benchmarks.peers.real import real_truth, write_real
from benchmarks.peers.truth import Score, Truth, jaccard, read_truth, score
from corpus_assets.config.selection.dedup import Dedup, MinHash
from resources.formats.attributes import DUPLICATE, attribute_line

IDS = ["a", "b", "c", "d", "e", "f"]
TRUTH = Truth(IDS, 1_000_000, [("b", "a"), ("d", "c")], {"e"}, {"f"})
FIGURES: dict[str, Any] = {
    "corpus": "generated",
    "documents": 6,
    "text_mb": 1.0,
    "pairs": 2,
    "lone": 1,
    "look_alikes": 1,
    "peers": {
        "corpus-assets": figures((Cost(0.5, 1.0, 100.0), [["a", "b"]]), TRUTH),
        "rensa": {"absent": "ERROR: no | such\nthing"},
    },
}
FIGURES["peers"]["corpus-assets"] |= dedup_peers.slope(
    (Cost(0.5, 1.0, 100.0), [["a", "b"]]), (Cost(0.3, 1.0, 100.0), []), TRUTH, 0.2
)
FIGURES["real"] = {**FIGURES, "corpus": "real code"}


def write_rows(file: Path, rows: list[dict[str, str]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def test_clusters_are_scored_by_both_ends() -> None:
    assert score(TRUTH, [["a", "b"], ["c", "e", "f"]]) == Score(1, 1, 3, 1, 1)


def test_pair_in_two_clusters_is_not_found() -> None:
    found = score(TRUTH, [["a", "c"], ["b", "d"]])
    assert (found.found, found.gone) == (0, 1)


def test_a_member_may_be_a_number() -> None:
    assert score(TRUTH, [[0, 1], [3, 2]]) == score(TRUTH, [["a", "b"], ["d", "c"]]) == Score(2, 2, 2, 0, 0)


def test_removed_documents_are_scored_by_either_end() -> None:
    assert score(TRUTH, ["b", "c", "f"]) == score(TRUTH, [1, 2, 5]) == Score(2, 2, 3, 0, 1)


def test_nothing_found() -> None:
    assert score(TRUTH, []) == Score(0, 0, 0, 0, 0)


@given(st.lists(st.sampled_from(IDS), unique=True))
def test_one_cluster_removes_all_but_its_first(members: list[str]) -> None:
    assert score(TRUTH, [members] if members else []).removed == max(0, len(members) - 1)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30))))
def test_clusters_are_the_connected_components(pairs: list[tuple[int, int]]) -> None:
    clusters = exchange.clusters_of(pairs)
    members = [number for cluster in clusters for number in cluster]
    of = {number: place for place, cluster in enumerate(clusters) for number in cluster}
    assert len(members) == len(set(members))
    assert set(members) == {number for one, other in pairs if one != other for number in (one, other)}
    assert all(of[one] == of[other] for one, other in pairs if one != other)
    assert all(cluster == sorted(cluster) and len(cluster) > 1 for cluster in clusters)
    edges = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    assert all(sum(edge <= set(cluster) for edge in edges) >= len(cluster) - 1 for cluster in clusters)


def test_shingles_are_of_the_cleaned_text() -> None:
    assert exchange.shingles("Hello,  WORLD of text") == {
        "hello world o",
        "ello world of",
        "llo world of ",
        "lo world of t",
        "o world of te",
        " world of tex",
        "world of text",
    }
    assert exchange.shingles("Short!") == {"short"}
    assert exchange.shingles(" ?! ") == set()


def test_jaccard_of_shingles() -> None:
    assert jaccard("abcdefghijklm", "ABCDEFGHIJKLM!") == 1
    assert jaccard("abcdefghijklmn", "abcdefghijklmo") == 1 / 3
    assert jaccard("", "") == 0


def test_truth_holds_pairs_above_the_threshold_and_lone_documents(tmp_path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog and then sleeps under some tree "
    texts = {
        "base": words * 3,
        "near": words * 3 + "yes",
        "exact": words * 3,
        "far": words[:40] + "9876543210" * 30,
        "hard": words[:60] + "abcdefghij" * 9,
        "lone": "of a kind " * 9,
        "chance": "see above.",
        "again": "See above",
    }
    write_rows(tmp_path / "documents/s/x.jsonl.gz", [{"id": key, "text": text} for key, text in texts.items()])
    kinds = {"near": "near", "exact": "exact", "far": "near", "hard": "hard"}
    rows = [
        {"id": key, "kind": kinds[key], "of": "base"} if key in kinds else {"id": key, "kind": "base"} for key in texts
    ]
    write_rows(tmp_path / "truth.jsonl.gz", rows)
    truth = read_truth(tmp_path)
    assert list(truth.ids) == list(texts)
    assert truth.text_bytes == sum(len(text) for text in texts.values())
    assert truth.pairs == [("near", "base"), ("exact", "base")]
    assert truth.lone == {"lone"}
    assert truth.look_alikes == {"hard"}


def test_duplicates_of_this_project_become_clusters(tmp_path: Path) -> None:
    rows = [
        attribute_line("a", "s", {}),
        attribute_line("b", "s", {DUPLICATE: [(0, 9, 1.0)]}, {"source": "s", "id": "a", "shard": "x", "row": 0}),
        attribute_line("c", "s", {DUPLICATE: [(0, 9, 1.0)]}, {"source": "t", "id": "d", "shard": "y", "row": 0}),
        attribute_line("e", "s", {DUPLICATE: [(0, 9, 1.0)]}, {"source": "s", "id": "a", "shard": "x", "row": 0}),
    ]
    for name, part in (("s/x", rows[:2]), ("t/y", rows[2:])):
        file = tmp_path / f"{name}.jsonl.gz"
        file.parent.mkdir()
        file.write_bytes(gzip.compress(b"".join(part)))
    assert own.read_clusters(tmp_path) == [["a", "b", "e"], ["d", "c"]]


def test_planted_corpus_has_copies_of_every_kind(tmp_path: Path) -> None:
    corpus.write_planted(tmp_path / "one", 0.6)
    corpus.write_planted(tmp_path / "two", 0.6)
    assert [file.relative_to(tmp_path / "one").parts for file in exchange.raw_files(tmp_path / "one")] == [
        ("documents", name, "part-00.jsonl.gz") for name in sorted(corpus.SAMPLE)
    ]
    assert list(exchange.read_documents(tmp_path / "one")) == list(exchange.read_documents(tmp_path / "two"))
    truth = read_truth(tmp_path / "one")
    assert len(truth.ids) > 100
    assert len(truth.pairs) > len(truth.ids) * 0.05
    assert truth.lone
    assert truth.look_alikes


def test_head_is_the_first_documents_of_every_file(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": "t"} for number in range(50)]
    write_rows(tmp_path / "raw/documents/a/x.jsonl.gz", rows)
    write_rows(tmp_path / "raw/documents/b/y.jsonl.gz", rows[:3])
    corpus.write_head(tmp_path / "raw", tmp_path / "head")
    read = [len(list(exchange.read_rows(file))) for file in exchange.raw_files(tmp_path / "head")]
    assert read == [corpus.HEAD_ROWS, 3]


def test_runner_program_writes_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["runner", str(tmp_path), str(tmp_path / "out.json"), str(tmp_path)])
    exchange.serve(lambda raw, work: [[1, 2]])
    assert json.loads((tmp_path / "out.json").read_text()) == [[1, 2]]


def execute(program: str, folder: Path, limit: float = 60) -> Cost:
    return process.run([sys.executable, "-c", program], folder=folder, log=folder / "log", limit=limit)


def test_cost_counts_children(tmp_path: Path) -> None:
    held = "x = bytearray(150_000_000)"
    cost = execute(f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{held}'], check=True)", tmp_path)
    assert cost.peak_rss_mb > 150
    assert cost.cpu_seconds > 0


def test_failure_is_absence_with_the_last_line(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match=r"^ValueError: of course$"):
        execute("raise ValueError('of course')", tmp_path)
    with pytest.raises(AbsentError, match=r"^exit code 3$"):
        execute("import os; os._exit(3)", tmp_path)


def test_time_limit_is_absence(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="stopped after 0 seconds"):
        execute("import threading; threading.Event().wait()", tmp_path, limit=0.2)


def test_pip_hints_are_no_reason() -> None:
    assert process.last_line("ERROR: none\n\nWARNING: old\n[notice] new pip\n") == "ERROR: none"
    assert process.last_line("\n") == ""


def test_environment_is_made_again_only_when_requirements_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "peer"
    commands: list[list[str]] = []

    def make(command: list[str], **_: Any) -> None:
        folder.mkdir(exist_ok=True)
        commands.append(command)

    monkeypatch.setattr("benchmarks.peers.environment.run", make)
    assert python_of(folder, ("one==1", "two==2")) == folder / "bin" / "python"
    assert [command[1:3] for command in commands] == [["-m", "venv"], ["-m", "pip"]]
    assert commands[1][-2:] == ["one==1", "two==2"]
    (folder / "left").touch()
    python_of(folder, ("one==1", "two==2"))
    assert len(commands) == 2
    assert (folder / "left").exists()
    python_of(folder, ("one==1", "two==3"))
    assert len(commands) == 4
    assert not (folder / "left").exists()


def test_peer_that_cannot_be_installed_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: list[str], **_: Any) -> Cost:
        raise AbsentError("ERROR: No matching distribution found for nothing==1")

    monkeypatch.setattr("benchmarks.peers.environment.run", fail)
    peer = Peer("nothing", "nothing", ("nothing==1",), "")
    found = measure_peer(peer, tmp_path, tmp_path, tmp_path / "cache", 10)
    assert found == "ERROR: No matching distribution found for nothing==1"
    assert figures(found, TRUTH) == {"absent": found}


def test_peer_that_cannot_be_run_is_absent(tmp_path: Path) -> None:
    found = measure_peer(Peer("nothing", "no_such_runner", (), ""), tmp_path, tmp_path, tmp_path / "cache", 60)
    assert isinstance(found, str)
    assert "no_such_runner" in found


@pytest.mark.parametrize("answer", [["unknown"], [17], [["a", -1]], [None], [{}], 5])
def test_answer_that_makes_no_sense_is_absence(answer: Any) -> None:
    assert "absent" in figures((Cost(1, 1, 1), answer), TRUTH)


def test_figures_of_a_peer() -> None:
    assert FIGURES["peers"]["corpus-assets"] == {
        "slope_mb_per_cpu_s": 4.0,
        "mb_per_cpu_s": 2.0,
        "cpu_seconds": 0.5,
        "wall_seconds": 1.0,
        "peak_rss_mb": 100.0,
        "found": 1,
        "gone": 1,
        "removed": 1,
        "lone_removed": 0,
        "look_alikes_removed": 0,
    }


def test_table_has_a_row_per_peer() -> None:
    rows = table(FIGURES).splitlines()
    assert rows[2] == "| corpus-assets | 4.00 | 2.00 | 0.5 | 1.0 | 100 | 50.0% | 50.0% | 0 | 0 |"
    assert rows[3].startswith("| rensa | absent: ERROR: no \\| such thing |")
    assert {row.replace("\\|", "").count("|") for row in rows} == {11}


def test_section_says_version_and_settings_of_each_peer() -> None:
    text = section(FIGURES)
    assert "\n6 documents (1.0 MB of text, generated corpus):\n" in text
    assert "\n6 documents (1.0 MB of text, real code):\n" in text
    assert "| slope over rensa |  |" in text
    assert "- rensa 0.5.0: `RMinHash`" in text
    assert "- datatrove" not in text


def test_ratios_are_of_slopes_on_real_code() -> None:
    rows = {"corpus-assets": {"slope_mb_per_cpu_s": 33.0, "cpu_seconds": 3.5}, "rensa": {"slope_mb_per_cpu_s": 2.0}}
    found = dedup_peers.ratios({"real": {"peers": rows}})
    assert found == {"slope over datatrove": None, "slope over rensa": 16.5, "cpu s of real code": 3.5}


def test_pairs_of_real_code_are_those_of_any_tool_that_are_similar(tmp_path: Path) -> None:
    text = "".join(f"def function_{number}(): return {number}\n" for number in range(40))
    texts = [text, text.replace("function_7(", "other("), text[:700] + "x = 1\n" * 90, "nothing of this"]
    rows = [{"id": f"code-{number}", "text": one} for number, one in enumerate(texts)]
    write_rows(tmp_path / "documents" / "code" / "part.jsonl.gz", rows)
    truth = real_truth(tmp_path, [[[0, 1], [2, 3]], [["code-0", "code-2"]], ["code-3"]])
    assert truth.pairs == [("code-0", "code-1")]
    assert write_real(tmp_path / "real", 1) == "real code"
    written = sum(len(text.encode()) for _, text in exchange.read_documents(tmp_path / "real"))
    assert 1_000_000 <= written < 3_000_000


def test_section_says_what_the_defaults_do() -> None:
    text = section(FIGURES)
    assert "`oph` signatures, shingles of 13 characters, 20 bands of 6; pairs are checked by their sketches and" in text
    assert set(CHECKS) == set(get_args(Dedup.model_fields["verify"].annotation))
    assert set(UNITS) == set(get_args(MinHash.model_fields["unit"].annotation))


def test_peers_are_chosen_by_name() -> None:
    assert chosen(" rensa,corpus-assets") == [PEERS[0], PEERS[3]]
    with pytest.raises(ValueError, match="no peer named 'spark'; valid: corpus-assets, datatrove"):
        chosen("rensa,spark")


def test_requirements_are_pinned_and_runners_exist() -> None:
    assert all("==" in requirement for peer in PEERS for requirement in peer.requirements)
    folder = Path(exchange.__file__).parent
    assert all((folder / f"{peer.module}.py").is_file() for peer in PEERS)
    assert folder.parents[1] == dedup_peers.ROOT


def test_files_of_datatrove_become_clusters(tmp_path: Path) -> None:
    (tmp_path / "000000.clusters").write_bytes(struct.pack("<4I", 0, 7, 2, 8))
    (tmp_path / "000002.clusters").write_bytes(struct.pack("<4I", 1, 7, 3, 8))
    (tmp_path / "000000.remove").write_bytes(struct.pack("<I", 0))
    (tmp_path / "000002.remove").write_bytes(struct.pack("<I", 3))
    assert read_clusters(tmp_path, [3, 5, 4]) == [[9, 0], [2, 11]]
