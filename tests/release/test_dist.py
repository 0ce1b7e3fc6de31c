"""The sdist and the wheel hold what they should, install, and run in an empty folder without the checkout."""

import base64
import csv
import hashlib
import re
import tarfile
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from urllib.request import urlopen

import pytest
from packaging.requirements import Requirement

from benchmarks.ui_server import serving
from resources.engine.ray_task import code_digest
from resources.version import VERSION
from tests.docs.test_pages import links_of
from tests.house import PACKAGES, TOP
from tests.release.installing import SECRET, Dist, Installed, build, install

pytestmark = pytest.mark.slow

PAGES = "corpus_assets/pages"
LOADED = f"import {', '.join(PACKAGES)}; print({', '.join(f'{name}.__file__' for name in PACKAGES)})"
DIGEST = "from resources.engine.ray_task import code_digest; print(code_digest())"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Dist:
    if not (TOP / ".git").exists():
        pytest.skip("only a clone knows which files belong to the project")
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(dist: Dist, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(dist.wheel, tmp_path_factory.mktemp("wheel"))


def place_in_wheel(name: str) -> str | None:
    """Where the wheel has a file of the checkout; None if it has no use for it."""
    folder, _, _ = name.partition("/")
    if folder in PACKAGES:
        return name
    is_page = folder in {"docs", "examples", "deploy", "corpus.yaml"} or ("/" not in name and name.endswith(".md"))
    return f"{PAGES}/{name}" if is_page and not re.fullmatch(r"docs/\w+\.py", name) else None


def described(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_string(archive.read(f"corpus_assets-{VERSION}.dist-info/METADATA").decode())


def test_the_sdist_has_every_file_of_the_project_and_nothing_that_git_ignores(dist: Dist) -> None:
    top = f"corpus_assets-{VERSION}/"
    with tarfile.open(dist.sdist) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        content = {one.name.removeprefix(top): archive.extractfile(one).read() for one in files}  # type: ignore[union-attr]
    assert content.keys() == {*dist.tracked, "PKG-INFO"}
    assert SECRET not in content and "LICENSE" in content
    assert [name for name in dist.tracked if content[name] != (TOP / name).read_bytes()] == []


def test_the_wheel_has_the_packages_with_their_data_and_the_pages(dist: Dist) -> None:
    with zipfile.ZipFile(dist.wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    expected = {place: (TOP / name).read_bytes() for name in dist.tracked if (place := place_in_wheel(name))}
    about = f"corpus_assets-{VERSION}.dist-info/"
    rest = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert content.keys() == expected.keys() | {f"{about}{name}" for name in rest}
    assert [name for name in expected if content[name] != expected[name]] == []
    assert content[f"{about}licenses/LICENSE"] == (TOP / "LICENSE").read_bytes()
    assert f"{PAGES}/README.md" in expected and f"{PAGES}/docs/trainers/llm.c.md" in expected
    assert not {name for name in content if name.startswith("docs")}


def test_it_asks_for_what_the_project_asks_for(dist: Dist) -> None:
    about = described(dist.wheel)
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(line) for line in project["dependencies"]]
    wanted += [Requirement(f"{line}; extra == '{name}'") for name, lines in extras.items() for line in lines]
    found = [Requirement(line) for line in about.get_all("Requires-Dist", [])]
    assert {str(one).lower() for one in found} == {str(one).lower() for one in wanted}
    assert {*about.get_all("Provides-Extra", [])} == extras.keys()
    assert about["Requires-Python"] == project["requires-python"]
    assert (about["Version"], about["License-Expression"]) == (VERSION, "Apache-2.0")


def recorded(installed: Installed) -> dict[str, str]:
    """The digest of every file that pip installed, without those that name the environment or the archive."""
    (record,) = installed.packages.glob("corpus_assets-*.dist-info/RECORD")
    with record.open(encoding="utf-8") as lines:
        rows = [(name, digest) for name, digest, _ in csv.reader(lines)]
    own = re.compile(r".*\.pyc|.*/(RECORD|REQUESTED|INSTALLER|direct_url\.json)|\.\./.*")
    return {name: digest for name, digest in rows if not own.fullmatch(name)}


def test_the_sdist_installs_the_same_files_as_the_wheel(dist: Dist, installed: Installed, tmp_path: Path) -> None:
    """So what runs from the wheel runs from the sdist."""
    other = install(dist.sdist, tmp_path)
    found = recorded(other)
    assert found == recorded(installed) and len(found) > 500
    name = f"{PAGES}/docs/stores.md"
    digest = base64.urlsafe_b64encode(hashlib.sha256((TOP / "docs/stores.md").read_bytes()).digest())
    assert found[name] == f"sha256={digest.decode().rstrip('=')}"
    assert other.run("corpus --version", tmp_path) == f"corpus {VERSION}\n"


def test_no_module_is_of_the_checkout_and_a_cluster_takes_both_for_one(installed: Installed, tmp_path: Path) -> None:
    files = installed.run(f"python -c '{LOADED}'", tmp_path).split()
    assert files == [str(installed.packages / name / "__init__.py") for name in PACKAGES]
    assert installed.run(f"python -c '{DIGEST}'", tmp_path).strip() == code_digest()


def test_its_pages_are_there_and_their_links_lead_somewhere(installed: Installed, tmp_path: Path) -> None:
    *lines, last = installed.run("corpus docs", tmp_path).splitlines()
    top = installed.packages / PAGES
    assert last == f"They are in {top}"
    assert {"README", "troubleshooting", "formats/dolma", "examples/code"} < {line.split()[0] for line in lines}
    assert installed.run("corpus docs stores", tmp_path) == (TOP / "docs/stores.md").read_text(encoding="utf-8")
    links = [(page, target) for page in top.rglob("*.md") for target, _ in links_of(page)]
    assert len(links) > 100
    assert [(page, target) for page, target in links if not (page.parent / target).exists()] == []


def test_a_user_goes_from_an_empty_folder_to_tokens_and_pages(installed: Installed, tmp_path: Path) -> None:
    """With nothing but the package and what it requires: raw files, configuration, build, looks, Dagster and viewer."""
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "Prepare LLM training corpora" in installed.run("corpus --help", folder)
    assert "corpus.yaml: written" in installed.run("corpus sample data/raw --megabytes 0.5", folder)
    assert (folder / "corpus.yaml").read_bytes() == (TOP / "corpus.yaml").read_bytes()
    installed.run("corpus doctor", folder)
    assert "The corpus is in" in installed.run("corpus build", folder)
    assert (folder / "data/corpus/report/index.html").stat().st_size > 10_000
    assert list((folder / "data/corpus/tokens/train").glob("*.h5"))
    installed.run("corpus plan --check && corpus verify --deep && corpus tokens", folder)
    home = str(folder / ".dagster_home")
    assets = installed.run("python -m dagster asset list -m corpus_assets.definitions", folder, DAGSTER_HOME=home)
    assert {"inventory", "train_tokens"} < {*assets.split()}
    with serving(folder, [str(installed.folder / "bin" / "corpus")], installed.environment) as server:
        with urlopen(f"{server.url}/corpus/") as page:
            assert b"<h1>The corpus sample</h1>" in page.read()
        assert {file.name for file in (folder / ".dagster_home").glob("*.yaml")} == {"dagster.yaml", "workspace.yaml"}
