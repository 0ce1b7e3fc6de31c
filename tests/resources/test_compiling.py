"""Kernels compile once, ahead, and only those that a configuration needs."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config import load_config
from corpus_assets.corpus.corpus import Corpus
from resources.kernels import compiling
from resources.kernels.compiling import compiled_ahead, is_done
from resources.stage.declaration import kernels_of
from tests.house import TOP

KERNEL = "resources.formats.kernels.planes.split_planes"
OURS = ("corpus_assets.", "resources.")
SMALL = "name: small\nsources: [{name: a, location: raw}]\n"


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def needed(folder: Path, text: str) -> list[str]:
    (folder / "corpus.yaml").write_text(text)
    (folder / "raw").mkdir(exist_ok=True)
    corpus = Corpus(load_config(folder / "corpus.yaml"), folder)
    return kernels_of(corpus.graph, corpus.settings.values)


def test_sha1_is_compiled_only_for_the_families_that_use_it(tmp_path: Path) -> None:
    for family, uses in (("oph", False), ("affine32", True), ("legacy", True)):
        names = needed(tmp_path, f"{SMALL}minhash: {{family: {family}}}\n")
        assert any(".lanes." in name for name in names) == uses


def test_every_named_kernel_exists_and_says_its_types(tmp_path: Path) -> None:
    names = needed(tmp_path, (TOP / "corpus.yaml").read_text())
    for name in names:
        module, _, function = name.rpartition(".")
        assert getattr(import_module(module), function).ahead


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["f", "g", "hash_shingles"])), unique=True))
def test_processes_share_the_kernels_by_module_and_in_order(pairs: list[tuple[str, str]]) -> None:
    names = [f"{module}.{function}" for module, function in pairs]
    shares = compiling._shares(names, 2)
    assert sorted(name for share in shares for name in share) == sorted(names)
    places = [{name.partition(".")[0] for name in share} for share in shares]
    assert not places or len(set.union(*places)) == sum(map(len, places)), "a module in two shares"
    modules = {name.partition(".")[0] for name in names}
    for module in modules:
        of_module = [name for name in names if name.startswith(f"{module}.")]
        assert [name for share in shares for name in share if name in of_module] == of_module
    assert len(shares) == min(2, len(modules))


def test_a_process_beside_the_build_compiles(own_cache: Path) -> None:
    said: list[str] = []
    finished = False
    with compiled_ahead([KERNEL], said.append):
        assert said[0].startswith("compiling 1 kernel")
        while not finished:
            finished = is_done([KERNEL])
    assert said[-1] == ""
    assert list(own_cache.rglob("*.kernel"))
    with compiled_ahead([KERNEL], said.append):
        assert len(said) == 2, "nothing is left to compile"


def test_what_compiles_starts_early_where_nothing_was_compiled(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(compiling, "_EARLY", early)
    compiling.load_early()
    compiling.load_early()
    (child,) = early
    with compiled_ahead([KERNEL], lambda _: None):
        assert early == []
        while not is_done([KERNEL]):
            assert child.poll() in (None, 0)
    compiling.load_early()
    assert early == [], "something was compiled"
    early.append(compiling._started())
    with compiled_ahead([KERNEL], lambda _: None):
        assert early == [], "nothing is left to compile"


def test_a_process_without_numba_knows_what_one_with_it_has_compiled(own_cache: Path) -> None:
    with compiled_ahead([KERNEL], lambda _: None):
        while not is_done([KERNEL]):
            pass
    ask = f"""
import sys
from resources.kernels.compiling import is_done, missing
print(is_done(["{KERNEL}"]), "numba" in sys.modules, missing(["{KERNEL}"]), is_done(["{KERNEL}"]))
"""
    environment = {"PYTHONPATH": str(TOP), "NUMBA_CACHE_DIR": str(own_cache)}
    found = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False", "[]", "True"]


@pytest.mark.parametrize("named", [True, False])
def test_the_compiling_process_ends_with_its_parent(own_cache: Path, named: bool) -> None:
    command = [sys.executable, "-P", "-m", "resources.kernels.compiling"]
    environment = {"PYTHONPATH": str(TOP), "NUMBA_CACHE_DIR": str(own_cache)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=TOP, env=environment) as child:
        assert child.stdin is not None
        child.stdin.write(f"{KERNEL} ".encode() * 1000 * named + b"\n" * named)
        child.stdin.close()
        assert child.wait(60) == 0
    assert not (own_cache / "compiled").exists()


def test_a_changed_source_is_compiled_anew(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source.py"
    source.write_text("1")
    monkeypatch.setattr("resources.kernels.kernel_cache.sources", lambda _: [source])
    compiling._note_done([KERNEL])
    assert is_done([KERNEL])
    assert not is_done([KERNEL, KERNEL])
    source.write_text("other")
    assert not is_done([KERNEL])
    source.unlink()
    assert not is_done([KERNEL])


def test_another_installation_looks_for_its_own_kernels(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.py"
    source.write_text("1")
    monkeypatch.setattr("resources.kernels.kernel_cache.sources", lambda _: [source])
    compiling._note_done([KERNEL])
    assert is_done([KERNEL])
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compiling.py"))
    assert not is_done([KERNEL])


def test_another_processor_compiles_anew(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, faster = (tmp_path / name for name in ("one", "other", "faster"))
    one.write_text("model name\t: A\ncpu MHz\t: 2000\nflags\t: sse avx2\n\nmodel name\t: A\nflags\t: sse avx2\n")
    faster.write_text(one.read_text().replace("2000", "3000"))
    other.write_text(one.read_text().replace("avx2", "avx512f"))
    source = tmp_path / "source.py"
    source.write_text("1")
    monkeypatch.setattr("resources.kernels.kernel_cache.sources", lambda _: [source])
    monkeypatch.setattr("resources.kernels.processor._CPUINFO", one)
    compiling._note_done([KERNEL])
    for cpuinfo, done in ((one, True), (faster, True), (other, False)):
        monkeypatch.setattr("resources.kernels.processor._CPUINFO", cpuinfo)
        assert is_done([KERNEL]) == done
    monkeypatch.setattr("resources.kernels.processor._CPUINFO", tmp_path / "absent")
    assert not is_done([KERNEL])
    compiling._note_done([KERNEL])
    assert is_done([KERNEL])
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)  # This process may have set it.
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert not is_done([KERNEL])
