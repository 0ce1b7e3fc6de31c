"""Imports run one way: no circles, and each folder knows only what lies below it."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.house import PACKAGES, TOP, circles, file_edges, folder_edges, imported, roots, sources

STAGES = sorted(path.parent.name for path in TOP.glob("corpus_assets/*/assets.py"))
FACES = {"assets.py", "checks.py"}
WRITES_FILES = {"raw/sample/writing.py", "raw/sample/sources.py", "raw/sample/installed.py"}
OF_ALL_STAGES = (
    "corpus_assets.config",
    "corpus_assets.dataset_names",
    "corpus_assets.checking",
    "corpus_assets.faults",
    "corpus_assets.numbers",
)
FROM_NEIGHBOURS = {
    "export": (
        "corpus_assets.mix.shuffle",
        "corpus_assets.mix.units.dimensions",
        "corpus_assets.packing.bins",
        "corpus_assets.token_files.",
        *(f"corpus_assets.raw.{name}" for name in ("assets", "bad_rows", "losses", "sampling")),
        *(
            f"corpus_assets.tokenize.{name}"
            for name in (
                "counts.discarded",
                "counts.losses",
                "counts.manifest",
                "counts.statistics",
                "datasets",
                "encode.",
                "modes.mode",
                "modes.registry",
                "ragged",
                "rows.shuffle",
                "named_tokens",
                "tokenizer",
                "tokenizers.protocol",
                "tokens",
            )
        ),
    ),
    "tokenize": ("corpus_assets.packing.",),
    "raw": ("corpus_assets.token_files.registry",),
    "mix": ("corpus_assets.licences.documents", "corpus_assets.filter."),
    "card": ("corpus_assets.licences.",),
    "streams": ("corpus_assets.filter.", "corpus_assets.raw.readers"),
    "normalize": tuple(
        f"corpus_assets.raw.{name}"
        for name in (
            "readers",
            "bad_rows",
            "format_options",
            "losses",
            "reasons",
            "rows.faults",
            "rows.identities",
            "rows.seen",
            "sampling",
            "takedown",
        )
    ),
    "takedown": (
        *(f"corpus_assets.raw.{name}" for name in ("assets", "bad_rows", "reasons", "rows.json_values", "takedown")),
        *(f"corpus_assets.normalize.{name}" for name in ("reading", "text")),
    ),
    "attributes": (
        "corpus_assets.normalize.compiled",
        "corpus_assets.normalize.reading",
        *(f"corpus_assets.dedup.{name}" for name in ("shared", "clusters.keep", "clusters.kept_ids", "documents.")),
        *(
            f"corpus_assets.raw.{name}"
            for name in ("bad_rows", "formats.names", "losses", "readers", "rows.faults", "rows.rules")
        ),
    ),
    "origins": (
        "corpus_assets.export.encoding",
        "corpus_assets.takedown.keys",
        *(
            f"corpus_assets.tokenize.{name}"
            for name in ("encode.attempts", "encode.backends", "tokenizer", "tokenizers.protocol")
        ),
    ),
    "report": ("corpus_assets.html.",),
    "classifiers": ("corpus_assets.attributes.fasttext_layout",),
    "language_models": ("corpus_assets.attributes.taggers.labels.perplexity",),
    "filter": tuple(f"corpus_assets.normalize.{name}" for name in ("text_table", "compiled")),
}
MOST_FILES = 15
PRIVATE_TO_DAGSTER = {"corpus_assets/orchestration/events", "corpus_assets/orchestration/instance"}
DEDUP = ("documents", "signatures", "pairs", "similarity", "clusters", "templates", "containment")
FOLDERS = sorted({name.rpartition(".")[0] for name in sources()} | {""})


def label(file: Path) -> str:
    return str(file.relative_to(TOP))


def modules(pattern: str) -> list[Path]:
    found = sorted(path for path in TOP.glob(pattern) if path.name != "__init__.py")
    assert found
    return found


def reach(start: str) -> set[str]:
    """Every module of the project that a module imports, directly or not."""
    found: set[str] = set()
    frontier = [start]
    while frontier:
        new = file_edges()[frontier.pop()] - found
        found |= new
        frontier.extend(new)
    return found


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles(file_edges()) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_children_of_a_folder_import_each_other_in_a_circle(folder: str) -> None:
    assert circles(folder_edges(folder, file_edges())) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_has_at_most_fifteen_files_beside_each_other(package: str) -> None:
    """More of them are a list to be searched: a folder below says which belong together."""
    count = Counter(file.parent for file in modules(f"{package}/**/*.py"))
    assert {label(folder): files for folder, files in count.items() if files > MOST_FILES} == {}


def test_what_is_shown_knows_no_building() -> None:
    for file in modules("corpus_assets/orchestration/shown/*.py"):
        assert not [name for name in imported(file) if name.startswith("corpus_assets.orchestration.building")]


@pytest.mark.parametrize("file", modules("corpus_assets/**/*.py"), ids=label)
def test_only_events_and_the_instance_use_what_is_private_to_dagster(file: Path) -> None:
    """What changes without notice stands in two folders (tests/test_private_names.py lists it)."""
    if file.parent.relative_to(TOP).as_posix() not in PRIVATE_TO_DAGSTER:
        assert not roots(imported(file)) & {"dagster_shared"}
        assert not [name for name in imported(file) if name.startswith(("dagster._", "dagster_graphql"))]


def test_a_circle_would_be_found() -> None:
    edges = {"a.x": {"b.y"}, "b.y": {"b.z"}, "b.z": {"a.w"}, "a.w": set()}
    assert circles(edges) == []
    assert circles(folder_edges("", edges)) == [["a", "b"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_know_only_what_lies_below_them(package: str) -> None:
    below = {"resources": {"resources"}, "partitions": {"resources", "partitions"}, "corpus_assets": set(PACKAGES)}
    found = {name for file in modules(f"{package}/**/*.py") for name in roots(imported(file))}
    assert found & {*PACKAGES, "tests", "benchmarks", "docs"} <= below[package]


@pytest.mark.parametrize("file", modules("resources/**/*.py"), ids=label)
def test_resources_know_dagster_only_in_the_io_managers(file: Path) -> None:
    assert ("dagster" in roots(imported(file))) == (file.name == "io_managers.py")


@pytest.mark.parametrize(
    "file", [file for stage in STAGES for file in modules(f"corpus_assets/{stage}/**/*.py")], ids=label
)
def test_a_stage_knows_its_own_modules_and_what_all_stages_share(file: Path) -> None:
    stage, *inner = file.relative_to(TOP / "corpus_assets").parts
    name = inner[-1]
    names = imported(file)
    allowed = (f"corpus_assets.{stage}.", *OF_ALL_STAGES, *FROM_NEIGHBOURS.get(stage, ()))
    ours = {found for found in names if found.startswith("corpus_assets.")} - {f"corpus_assets.{stage}"}
    assert {found for found in ours if not found.startswith(allowed)} == set()
    assert ("dagster" in roots(names)) == (name == "checks.py")
    if name not in FACES and "/".join((stage, *inner)) not in WRITES_FILES:
        assert not roots(names) & {"pathlib", "os", "shutil", "tempfile", "glob"}


@pytest.mark.parametrize("place", range(len(DEDUP)))
def test_folders_of_dedup_follow_the_flow(place: int) -> None:
    later = tuple(f"corpus_assets.dedup.{name}." for name in DEDUP[place + 1 :])
    for file in modules(f"corpus_assets/dedup/{DEDUP[place]}/*.py"):
        assert not [name for name in imported(file) if later and name.startswith(later)]


@pytest.mark.parametrize(("folder", "unknown"), [("tokenizers", "encode"), ("rows", "modes"), ("encode", "modes")])
def test_folders_of_tokenize_follow_the_flow(folder: str, unknown: str) -> None:
    for file in modules(f"corpus_assets/tokenize/{folder}/*.py"):
        assert not [name for name in imported(file) if name.startswith(f"corpus_assets.tokenize.{unknown}")]


def test_the_configuration_knows_no_stage_and_no_algorithm() -> None:
    known = reach("corpus_assets.config")
    assert {name for name in known if name.startswith("corpus_assets.")} == {
        name
        for name, file in sources().items()
        if name.startswith("corpus_assets.config.")
        and name not in {"corpus_assets.config.paths", "corpus_assets.config.reading.differing"}
        and file.name != "__init__.py"
    }
    assert {name for name in known if name.startswith("resources")} == {
        "resources.errors",
        "resources.outside.hidden",
        "resources.outside.looking",
        "resources.raw_places.addresses",
        "resources.storage.s3.address",
        "resources.storage.unnamed",
    }


def test_packing_knows_no_stage() -> None:
    for file in modules("corpus_assets/packing/**/*.py"):
        names = imported(file)
        assert not [name for name in names if name.startswith("corpus_assets.") and ".packing" not in name]
        assert not roots(names) & {"dagster", "pathlib", "os"}


def test_nobody_imports_the_code_location() -> None:
    assert not [name for name, targets in file_edges().items() if "corpus_assets.definitions" in targets]


LIGHT = ("dagster", "numpy", "tokenizers", "pyarrow", "h5py", "numba", "pandas", "networkit", "boto3")
LATE = ("pandas", "networkit", "boto3", "pygal")
RARE = ("ftfy", "jinja2", "urllib3", "pyarrow.compute")


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("corpus_assets.config", LIGHT),
        ("resources", LIGHT),
        ("corpus_assets.cli", (*LIGHT, "pydantic", "corpus_assets.corpus.corpus")),
        (
            "corpus_assets.reading",
            tuple(name for name in (*LIGHT, "pydantic", "corpus_assets.corpus.corpus") if name != "numpy"),
        ),
        ("corpus_assets.reading.of_corpus", ("dagster", "numba", *LATE)),
        ("corpus_assets.corpus.corpus", ("dagster", "numba", *LATE, *RARE)),
        ("corpus_assets.frames", ("dagster", "numba", *LATE)),
        ("corpus_assets.orchestration.building.build", ("dagster", "numba", *LATE, *RARE)),
        ("corpus_assets.definitions", ("numba", *LATE)),
        ("corpus_assets.tokenize.file_faults", ("dagster",)),
        ("corpus_assets.export.file_faults", ("dagster",)),
        ("corpus_assets.contamination.shares", ("dagster",)),
        ("corpus_assets.export.amber.partition_check", ("dagster",)),
    ],
)
def test_what_is_loaded_late(module: str, absent: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sorted(set({absent!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
