"""What the stand-in of the hub does with writes: uploads by LFS, whole or in parts, and commits of all or nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

if TYPE_CHECKING:
    from tests.hub_server import Hub

REPOSITORY = "org/name"
_API = f"/api/datasets/{REPOSITORY}/"


@dataclass
class Writes:
    """What may be written, and what was.

    refused: the status for every write, 0 if they are allowed. part_bytes: files of more are uploaded in parts. fault:
    says with which status the n-th request of a kind is answered before anything is done, 0 if it is done. lost: says
    it of answers, after all is done. before: called before a request of a kind is answered. ignored: paths that a
    .gitignore leaves out.
    """

    refused: int = 0
    part_bytes: int = 1 << 40
    fault: Callable[[str, int], int] = lambda kind, number: 0
    lost: Callable[[str, int], int] = lambda kind, number: 0
    before: Callable[[str], None] = lambda kind: None
    ignored: frozenset[str] = frozenset()
    asked: Counter[str] = field(default_factory=Counter)
    objects: dict[str, bytes] = field(default_factory=dict)
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    uploaded: Counter[str] = field(default_factory=Counter)
    verified: set[str] = field(default_factory=set)
    commits: list[str] = field(default_factory=list)
    created: dict[str, Any] = field(default_factory=dict)


class Reply(NamedTuple):
    """An answer: JSON, status and headers."""

    value: Any
    status: int = 200
    headers: Mapping[str, str] = {}


def is_large(path: str, size: int) -> bool:
    """Returns whether the hub keeps a file outside of git."""
    return size > 1000 and not path.endswith((".md", ".json"))


def written(hub: Hub, method: str, url: str, body: bytes) -> Reply | None:
    """Returns the answer to a write; None for a request that only reads."""
    path, query = urlsplit(url).path, parse_qs(urlsplit(url).query)
    kind = _kind(method, path)
    if not kind:
        return None
    writes = hub.writes
    writes.before(kind)
    writes.asked[kind] += 1
    if status := writes.fault(kind, writes.asked[kind]):
        return Reply({"error": "fault"}, status)
    if writes.refused:
        return Reply({"error": "You don't have the rights"}, writes.refused)
    if not hub.branches and kind != "create":
        return Reply({"error": "Repository not found"}, 401, {"X-Error-Code": "RepoNotFound"})
    reply = _HANDLERS[kind](hub, path, query, body)
    if status := writes.lost(kind, writes.asked[kind]):
        return Reply({"error": "lost"}, status)
    return reply


def _kind(method: str, path: str) -> str:
    if method == "PUT":
        return "upload"
    if path.endswith(".git/info/lfs/objects/batch"):
        return "batch"
    names = {"/api/repos/create": "create", "/api/validate-yaml": "validate", "/lfs/verify": "verify"}
    for start, kind in {**names, "/lfs/complete/": "complete"}.items():
        if path.startswith(start):
            return kind
    kind = path.removeprefix(_API).partition("/")[0]
    return kind if path.startswith(_API) and kind in ("preupload", "commit") else ""


def _create(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    asked = json.loads(body)
    if hub.branches:
        known = {"error": "You already created this dataset repo", "url": f"{hub.url}/datasets/{REPOSITORY}"}
        return Reply(known, 409)
    hub.writes.created = asked
    hub.commit({".gitattributes": b"*.parquet filter=lfs\n"})
    return Reply({"url": f"{hub.url}/datasets/{REPOSITORY}"})


def _validate(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    head = json.loads(body)["content"].split("---\n")[1]
    found = yaml.safe_load(head)
    wrong = [] if isinstance(found, dict) and "license" in found else [{"message": "no license"}]
    return Reply({"errors": wrong, "warnings": []}, 400 if wrong else 200)


def _preupload(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    files = json.loads(body)["files"]
    answer = [
        {
            "path": one["path"],
            "uploadMode": "lfs" if is_large(one["path"], one["size"]) else "regular",
            "shouldIgnore": one["path"] in hub.writes.ignored,
        }
        for one in files
    ]
    return Reply({"files": answer})


def _batch(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    return Reply({"transfer": "basic", "objects": [_actions(hub, one) for one in json.loads(body)["objects"]]})


def _actions(hub: Hub, one: dict[str, Any]) -> dict[str, Any]:
    oid, size, writes = one["oid"], one["size"], hub.writes
    if oid in writes.objects:
        return {"oid": oid, "size": size}
    verify = {"href": f"{hub.url}/lfs/verify"}
    if size <= writes.part_bytes:
        return {"oid": oid, "size": size, "actions": {"upload": {"href": _signed(hub, oid)}, "verify": verify}}
    parts = range(1, -(-size // writes.part_bytes) + 1)
    urls = {f"{number:05}": _signed(hub, oid, number) for number in parts}
    upload = {"href": f"{hub.url}/lfs/complete/{oid}", "header": {"chunk_size": str(writes.part_bytes), **urls}}
    return {"oid": oid, "size": size, "actions": {"upload": upload, "verify": verify}}


def _signed(hub: Hub, oid: str, part: int = 0) -> str:
    return f"{hub.url}/lfs/put/{oid}?part={part}&signature=secret"


def _upload(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    oid, part = path.removeprefix("/lfs/put/"), int(query["part"][0])
    hub.writes.uploaded[oid] += 1
    if part:
        hub.writes.parts.setdefault(oid, {})[part] = body
        return Reply({}, 200, {"ETag": f'"{part}"'})
    return _stored(hub, oid, body)


def _complete(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    oid = path.removeprefix("/lfs/complete/")
    named = [part["partNumber"] for part in json.loads(body)["parts"]]
    return _stored(hub, oid, b"".join(hub.writes.parts[oid][number] for number in named))


def _stored(hub: Hub, oid: str, content: bytes) -> Reply:
    if hashlib.sha256(content).hexdigest() != oid:
        return Reply({"error": "digest"}, 400)
    hub.writes.objects[oid] = content
    return Reply({})


def _verify(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    asked = json.loads(body)
    hub.writes.verified.add(asked["oid"])
    return Reply({}, 200 if len(hub.writes.objects.get(asked["oid"], b"")) == asked["size"] else 404)


def _commit(hub: Hub, path: str, query: Any, body: bytes) -> Reply:
    branch = unquote(path.rpartition("/")[2])
    files = hub.files(branch)
    for line in body.splitlines():
        item = json.loads(line)
        value = item["value"]
        if item["key"] == "header":
            if value.get("parentCommit") not in (None, hub.branches[branch]):
                return Reply({"error": "The branch has moved"}, 412)
        elif item["key"] == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif item["key"] == "lfsFile":
            if value["oid"] not in hub.writes.objects:
                return Reply({"error": f"no object {value['oid']}"}, 400)
            files[value["path"]] = hub.writes.objects[value["oid"]]
        elif value["path"] not in files:
            return Reply({"error": "A file with this name doesn't exist"}, 404, {"X-Error-Code": "EntryNotFound"})
        else:
            del files[value["path"]]
    commit = hub.commit(files, branch)
    hub.writes.commits.append(commit)
    return Reply(
        {"commitUrl": f"{hub.url}/datasets/{REPOSITORY}/commit/{commit}", "commitOid": commit, "success": True}
    )


_HANDLERS: dict[str, Callable[[Hub, str, Any, bytes], Reply]] = {
    "create": _create,
    "validate": _validate,
    "preupload": _preupload,
    "batch": _batch,
    "upload": _upload,
    "complete": _complete,
    "verify": _verify,
    "commit": _commit,
}
