"""The files for operators fit the schemas of Compose and of Kubernetes, and start commands that there are."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from corpus_assets.cli.main import app
from corpus_assets.config.reading.loading import parse_config

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PAGE = DEPLOY.parent / "docs" / "clusters.md"
VERSION = "1.34"
REASON = "it comes with the extra `deploy`"


PINNED = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)([^#]*)", re.MULTILINE)


def pinned(lock: Path) -> dict[str, str]:
    """The versions of a lock by name; every one has digests."""
    found = PINNED.findall(lock.read_text(encoding="utf-8"))
    assert found
    assert all("--hash=sha256:" in rest for _, _, rest in found)
    return {canonicalize_name(name): one for name, one, _ in found}


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def compose_faults(content: dict[str, Any]) -> list[str]:
    """What is wrong with a compose file, by the schema of its specification."""
    pytest.importorskip("check_jsonschema", reason=REASON)
    jsonschema = import_module("jsonschema")
    text = (files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json").read_text("utf-8")
    schema = json.loads(text)
    return [error.message for error in jsonschema.validators.validator_for(schema)(schema).iter_errors(content)]


def require_kubernetes(content: dict[str, Any]) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason=REASON).validate
    validate(content, VERSION, strict=True)


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))


def containers() -> Iterator[dict[str, Any]]:
    for one in manifests():
        yield from one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])


def test_a_slurm_script_without_slurm_says_how_it_is_started() -> None:
    script = DEPLOY / "slurm/build.sbatch"
    without = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    done = subprocess.run(["bash", script], env=without, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "this script is for sbatch" in done.stderr


def test_the_compose_file_fits_its_schema_and_a_wrong_key_does_not() -> None:
    assert compose_faults(compose()) == []
    wrong = compose()
    wrong["services"]["ray-worker"]["replica"] = 2
    assert any("replica" in fault for fault in compose_faults(wrong))
    wrong = compose()
    wrong["services"]["dagster"]["ports"] = {"3000": 3000}
    assert compose_faults(wrong)


def test_ports_are_this_machines_alone_and_credentials_come_from_a_file() -> None:
    services = compose()["services"]
    assert {"postgres", "seaweedfs", "ray-head", "ray-worker", "dagster", "build"} == services.keys()
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)
    text = "".join(file.read_text(encoding="utf-8") for file in DEPLOY.iterdir() if file.is_file())
    given = re.findall(r"^\w*(?:PASSWORD|SECRET|ACCESS_KEY)\w*=(.+)$", text, re.MULTILINE)
    assert given == []
    ignored = (DEPLOY.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/deploy/.env" in ignored


def test_images_from_outside_name_their_registry() -> None:
    """An engine without a registry for short names, as Podman is installed, finds no other."""
    [base] = re.findall(r"^FROM (\S+)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    pulled = [one["image"] for one in compose()["services"].values() if "build" not in one]
    assert len(pulled) == 2
    assert all(image.startswith("docker.io/") and image.count("/") == 2 for image in (base, *pulled))


def test_workers_share_nothing_that_they_write() -> None:
    worker = compose()["services"]["ray-worker"]
    assert worker["deploy"]["replicas"] > 1
    assert worker["volumes"] and all(volume.endswith(":ro") for volume in worker["volumes"])


def test_every_manifest_fits_its_schema_and_a_wrong_key_does_not() -> None:
    for one in manifests():
        require_kubernetes(one)
    wrong = manifests()[-1]
    wrong["spec"]["template"]["spec"]["containers"][0]["comand"] = ["corpus"]
    with pytest.raises(Exception, match="comand"):
        require_kubernetes(wrong)


def test_pods_of_the_ray_cluster_on_the_page_fit_their_schema() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    jobs = [found for block in blocks if (found := yaml.safe_load(block)).get("apiVersion") == "ray.io/v1"]
    assert [job["kind"] for job in jobs] == ["RayJob"]
    spec = jobs[0]["spec"]["rayClusterSpec"]
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    for number, group in enumerate(groups):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"pod-{number}"},
            "spec": group["template"]["spec"],
        }
        require_kubernetes(pod)


def test_sections_of_corpus_yaml_on_the_page_are_valid() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    sections = [found for block in blocks if "engine" in (found := yaml.safe_load(block))]
    assert len(sections) == 2
    for one in sections:
        config = parse_config({"sources": [{"name": "web", "location": "raw"}], **one})
        assert config.engine.kind == "ray"


def test_memory_of_workers_has_room_for_what_the_configuration_asks() -> None:
    """Ray gives out what `engine.memory` needs, and the container has 2 GiB more."""
    config = parse_config(yaml.safe_load(manifests()[0]["data"]["corpus.yaml"]))
    [worker] = [one for one in containers() if one["name"] == "ray-worker"]
    [given] = [int(one.removeprefix("--memory=")) for one in worker["command"] if one.startswith("--memory=")]
    limit = int(worker["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    assert config.engine.memory <= given <= limit - (2 << 30)


def test_commands_and_files_that_are_named_exist() -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    commands = [one["command"] for one in containers()] + [
        one.get("command", "") for one in compose()["services"].values()
    ]
    ours = [words[words.index("corpus") + 1] for words in commands if "corpus" in words]
    assert ours and set(ours) <= known
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = [word for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE) for word in line.split()[:-1]]
    assert copied and all((DEPLOY.parent / name).exists() for name in copied)


def test_the_lock_of_the_image_covers_what_it_installs_and_all_that_those_need() -> None:
    lock = pinned(DEPLOY / "requirements.lock")
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *extras["ray"], *extras["postgres"]]
    for line in (*wanted, *project["build-system"]["requires"]):
        assert Requirement(line).specifier.contains(lock[canonicalize_name(Requirement(line).name)]), line
    for name, one in lock.items():
        try:
            installed = version(name)
        except PackageNotFoundError:  # What comes with an extra, or is of another system.
            continue
        needed = [Requirement(line) for line in requires(name) or ()] if installed == one else []
        for other in needed:
            assert not (other.marker is None or other.marker.evaluate()) or canonicalize_name(other.name) in lock, name


def test_both_locks_have_the_same_versions_of_what_they_share() -> None:
    image, tests = pinned(DEPLOY / "requirements.lock"), pinned(DEPLOY.parent / "requirements.lock")
    assert {name: one for name, one in image.items() if tests.get(name, one) != one} == {}
    assert {"ray", "psycopg2-binary"} <= image.keys() - tests.keys()
    assert "pytest" not in image


def test_the_image_installs_nothing_without_a_digest() -> None:
    commands = re.findall(r"pip install ([^\n]+)", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    assert len(commands) == 2
    assert all("--require-hashes" in one or "--no-deps --no-build-isolation" in one for one in commands)
