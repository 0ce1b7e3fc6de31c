"""Raw files become shards: every file one, every name safe, whatever the files are called."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.errors import BadFileError, ConfigError
from resources.shards import MAX_NAME, Listing, Shard, SourceFolder, list_shards, shard_name

SAFE = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*")
CHARACTERS = "aAbB09._- ,/\\é\u0130\U0001f600'\"\n"
PATHS = (
    st.text(alphabet=CHARACTERS, min_size=1, max_size=30)
    .map(lambda text: "/".join(part for part in text.split("/") if part not in ("", ".", "..")))
    .filter(bool)
)


def listed(folder: Path, globs: tuple[str, ...] = ("**/*",), form: str = "auto", name: str = "s") -> Listing:
    return list_shards([SourceFolder(name, str(folder), globs, form)], lambda *_: [])


def put(folder: Path, path: str, content: bytes = b"x") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def lone(folder: Path, path: str) -> Shard:
    put(folder, path)
    (shard,) = listed(folder).shards
    return shard


@given(path=PATHS)
def test_a_name_is_safe_short_and_never_climbs(path: str) -> None:
    name = shard_name(f"{path}.jsonl")
    assert SAFE.fullmatch(name), name
    assert len(name) <= MAX_NAME + 9
    assert not {".", ".."} & set(name.split("/"))


@given(paths=st.lists(PATHS, min_size=2, max_size=8, unique=True))
def test_paths_that_differ_in_more_than_the_suffix_have_different_names(paths: list[str]) -> None:
    names = [shard_name(f"{path}.jsonl") for path in paths]
    assert len(set(names)) == len(names)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text(alphabet="aAbB-._é ", min_size=1, max_size=6), min_size=1, max_size=8, unique=True))
def test_every_file_is_one_shard_with_a_key_of_its_own(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    files = {put(folder, f"{name}{suffix}") for name in names for suffix in (".jsonl", ".txt") if name[0] != "."}
    folder.mkdir(exist_ok=True)
    shards = listed(folder).shards
    assert len(shards) == len(files)
    assert len({shard.key for shard in shards}) == len({shard.name for shard in shards}) == len(files)
    assert all(re.fullmatch(r"[a-z0-9._-]+", shard.key) for shard in shards)
    assert [shard.key for shard in shards] == sorted(shard.key for shard in shards)


def test_plain_names_stay_as_they_are(tmp_path: Path) -> None:
    assert shard_name("volume/part-003.jsonl.zst.tar") == "volume/part-003"
    shard = lone(tmp_path, "volume/part-003.jsonl.gz")
    assert (shard.key, shard.name, shard.label) == (
        "s--volume--part-003",
        "volume/part-003",
        "s/volume/part-003.jsonl.gz",
    )


def test_the_longest_file_name_a_disk_takes_is_cut(tmp_path: Path) -> None:
    names = ["x" * 240 + end for end in ("a.jsonl", "b.jsonl")]
    for name in names:
        put(tmp_path, name)
    found = [shard.name for shard in listed(tmp_path).shards]
    assert len(set(found)) == 2
    assert all(len(name) <= MAX_NAME + 9 for name in found)


def test_globs_formats_and_what_is_passed_over(tmp_path: Path) -> None:
    for path in ("a.jsonl", "deep/b.jsonl", "deep/er/c.txt", "d.doc", ".hidden.jsonl", "list-1.txt"):
        put(tmp_path, path)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    listing = listed(tmp_path)
    assert [shard.path for shard in listing.shards] == ["a.jsonl", "deep/b.jsonl", "deep/er/c.txt", "list-1.txt"]
    assert dict(listing.ignored).keys() == {"s/d.doc", "s/.hidden.jsonl", "s/loop"}
    assert [shard.path for shard in listed(tmp_path, ("*.jsonl",)).shards] == ["a.jsonl"]
    assert [shard.path for shard in listed(tmp_path, ("deep/**",)).shards] == ["deep/b.jsonl", "deep/er/c.txt"]
    assert [shard.path for shard in listed(tmp_path, ("?.doc",), "txt").shards] == ["d.doc"]


def test_bytes_that_are_no_text_can_be_a_file_name(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/bad\xff.jsonl"
    Path(os.fsdecode(path)).write_bytes(b"{}")
    (shard,) = listed(tmp_path).shards
    assert re.fullmatch(r"s--bad--[0-9a-f]{8}", shard.key)
    assert shard.label.isprintable()
    assert shard.open().read() == b"{}"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    for shard in listed(tmp_path).shards:
        assert shard.problem
        with pytest.raises(BadFileError, match=shard.path):
            shard.open()
    with pytest.raises(ConfigError, match=r"sources\.s\.location"):
        listed(tmp_path / "none")


def test_the_digest_follows_the_content_and_not_the_time(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b"one")
    before = listed(tmp_path).shards[0]
    os.utime(file, (5, 5))
    touched = listed(tmp_path).shards[0]
    assert before.modified != touched.modified
    assert before.changed()
    digest = before.digest()
    assert touched.digest() == digest
    file.write_bytes(b"two")
    assert listed(tmp_path).shards[0].digest() != digest


def test_a_text_list_covers_its_members_and_none_outside(tmp_path: Path) -> None:
    put(tmp_path, "in/list.txt", b"a.txt\nb.txt\n")
    put(tmp_path, "in/a.txt", b"A")
    member = put(tmp_path, "in/b.txt", b"B")
    put(tmp_path, "outside.txt", b"O")

    def look(members: list[str]) -> Shard:
        folder = SourceFolder("s", str(tmp_path / "in"), ("list.txt",), "txt_list")
        (shard,) = list_shards([folder], lambda *_: members).shards
        return shard

    before = look(["a.txt", "b.txt"])
    digest = before.digest()
    assert before.bytes == 12 + 2
    member.write_bytes(b"C")
    os.utime(member, (9, 9))
    assert look(["a.txt", "b.txt"]).modified != before.modified
    assert look(["a.txt", "b.txt"]).digest() != digest
    assert look(["a.txt"]).digest() != digest
    assert "none.txt" in (look(["none.txt"]).problem or "")
    with pytest.raises(BadFileError, match="leaves the source's folder"):
        before.open_member("../outside.txt")
