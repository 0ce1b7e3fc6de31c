"""Raw files become shards: every file one, every name safe, whatever the files are called."""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.errors import BadFileError, ConfigError, StorageError
from resources.raw_places import LocalFolder
from resources.raw_places.files import glob_pattern, may_hold
from resources.shards.listing import (
    MAX_NAME,
    Listing,
    Shard,
    SourceFolder,
    list_shards,
    remembered_digest,
    shard_name,
)
from tests.failing import failing

SAFE = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*")
CHARACTERS = "aAbB09._- ,/\\é\u0130\U0001f600'\"\n"
PATHS = (
    st.text(alphabet=CHARACTERS, min_size=1, max_size=30)
    .map(lambda text: "/".join(part for part in text.split("/") if part not in ("", ".", "..")))
    .filter(bool)
)


def listed(folder: Path, globs: tuple[str, ...] = ("**/*",), form: str = "auto", **options: Any) -> Listing:
    return list_shards([SourceFolder("s", str(folder), globs, form, **options)], lambda *_: [])


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


UNSEEN = ("cannot be read: ", "link that may be one to a folder, not followed: ", "is a link that leads outside")


@pytest.mark.parametrize("target", ["nowhere", "a.jsonl/below", "link"])
def test_a_link_of_which_nobody_sees_whether_it_leads_to_a_folder_is_told(tmp_path: Path, target: str) -> None:
    put(tmp_path, "a.jsonl")
    (tmp_path / "link").symlink_to(target)
    for glob in ("**/*", "**/*.jsonl"):
        listing = listed(tmp_path, (glob,))
        assert [shard.path for shard in listing.shards] == ["a.jsonl"]
        ((link, why),) = listing.ignored
        assert link == "s/link"
        assert why.startswith(UNSEEN)
    assert listed(tmp_path, ("*.jsonl",)).ignored == ()  # No file below a folder would be matched.
    problems = {shard.path: shard.problem for shard in listed(tmp_path, ("**/*",), "jsonl").shards}
    assert problems["a.jsonl"] is None
    assert str(problems["link"]).startswith("cannot be read: ")


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder without permission, with a file in a folder."""
    folder = tmp_path / "closed"
    put(folder, "below/b.jsonl")
    folder.chmod(0)
    if os.access(folder, os.R_OK):
        folder.chmod(0o700)
        pytest.skip("this user may look into every folder")
    yield folder
    folder.chmod(0o700)


@pytest.mark.parametrize("below", ["", "below", "none"])
def test_a_link_into_a_folder_without_permission_is_told(closed: Path, tmp_path: Path, below: str) -> None:
    put(tmp_path, "in/a.jsonl")
    (tmp_path / "in" / "link").symlink_to(closed / below)
    for glob in ("**/*", "**/*.jsonl"):
        listing = listed(tmp_path / "in", (glob,))
        assert [shard.path for shard in listing.shards] == ["a.jsonl"]
        ((link, why),) = listing.ignored
        assert link == "s/link"
        assert why.startswith(UNSEEN if below else "link to a folder, not followed")


@pytest.mark.usefixtures("closed")
def test_a_folder_without_permission_stops_the_listing(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="s/closed: the folder cannot be listed: Permission denied"):
        listed(tmp_path)


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
        (shard,) = list_shards([folder], lambda *_: list(enumerate(members, 1))).shards
        return shard

    before = look(["a.txt", "b.txt"])
    digest = before.digest()
    assert before.bytes == 12 + 2
    member.write_bytes(b"C")
    os.utime(member, (9, 9))
    assert look(["a.txt", "b.txt"]).modified != before.modified
    assert look(["a.txt", "b.txt"]).digest() != digest
    assert look(["a.txt"]).digest() != digest
    assert look(["a.txt", "secret-words.txt"]).problem == "line 2 names no file"
    assert look(["a.txt", "b.txt", "../outside.txt"]).problem == "line 3 leaves the source's folder"
    assert look(["secret\0words"]).problem == "line 1 is no path that can be read"
    with pytest.raises(BadFileError, match="leaves the source's folder"):
        before.open_member("../outside.txt")


DASHES = st.text(alphabet="a-/", min_size=1, max_size=8).filter(lambda path: all(path.split("/")))


@given(paths=st.lists(PATHS | DASHES, min_size=2, max_size=8, unique=True))
def test_different_paths_have_different_keys(paths: list[str]) -> None:
    keys = [shard_name(f"{path}.jsonl").replace("/", "--") for path in paths]
    assert len(set(keys)) == len(keys)


def test_a_dash_beside_a_slash_is_told_from_one_on_the_other_side(tmp_path: Path) -> None:
    for path in ("2024-/01.jsonl", "2024/-01.jsonl", "2024/01.jsonl", "2024-01.jsonl"):
        put(tmp_path, path)
    keys = listed(tmp_path).keys()
    assert len(set(keys)) == 4
    assert {"s--2024--01", "s--2024-01"} <= set(keys)


def test_two_files_with_one_key_are_refused_with_both_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a b.jsonl")
    put(tmp_path, "a/b.jsonl")
    monkeypatch.setattr("resources.shards.listing.shard_name", lambda path: path.partition(".")[0].replace(" ", "--"))
    with pytest.raises(ConfigError, match=r"s/a b\.jsonl.* s/a/b\.jsonl|s/a/b\.jsonl.* s/a b\.jsonl"):
        listed(tmp_path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_folder_that_cannot_be_listed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    put(tmp_path, "a.jsonl")
    put(tmp_path, "in/locked/b.jsonl")
    scandir = os.scandir

    def refuses(path: Any) -> Any:
        if Path(path).name == "locked":
            raise OSError(number, os.strerror(number))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuses)
    with pytest.raises(StorageError, match=f"s/in/locked.*{os.strerror(number)}"):
        listed(tmp_path)
    assert [shard.path for shard in listed(tmp_path, ("*.jsonl", "out/**/*")).shards] == ["a.jsonl"]


PATTERNS = st.lists(st.sampled_from(["a", "b*", "*", "**", "?", "**x"]), min_size=1, max_size=4).map("/".join)


@given(pattern=PATTERNS, path=st.lists(st.sampled_from(["a", "b", "bx"]), min_size=2, max_size=5).map("/".join))
def test_no_folder_of_a_wanted_file_is_passed_over(pattern: str, path: str) -> None:
    folders = path.split("/")[:-1]
    if glob_pattern(pattern).fullmatch(path):
        assert all(may_hold(pattern.split("/"), "/".join(folders[: n + 1])) for n in range(len(folders)))


def test_a_file_put_in_the_place_of_another_is_seen(tmp_path: Path) -> None:
    file, other = put(tmp_path, "a.jsonl", b"one"), put(tmp_path / "out", "b", b"two")
    before = listed(tmp_path, ("*.jsonl",)).shards[0]
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.rename(file)
    after = listed(tmp_path, ("*.jsonl",)).shards[0]
    assert file.stat().st_mtime_ns == int(before.modified.partition("/")[0])
    assert not after.is_as(before.seen())
    assert before.changed()


def test_a_file_that_the_machine_cannot_look_at_has_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.jsonl")
    shard = listed(tmp_path).shards[0]
    for number, changed in ((errno.ENOENT, True), (errno.EIO, None)):
        monkeypatch.setattr(LocalFolder, "stamped", Mock(side_effect=OSError(number, os.strerror(number), "a")))
        if changed:
            assert shard.changed()
        else:
            with pytest.raises(StorageError, match=r"a.jsonl: cannot be read now: Input/output error"):
                shard.changed()


@pytest.mark.parametrize("call", ["stamped", "members"])
def test_a_list_that_the_machine_cannot_read_has_no_problem_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    put(tmp_path, "list.txt")
    put(tmp_path, "a.txt")
    raises = Mock(side_effect=OSError(errno.EIO, os.strerror(errno.EIO), "a"))
    monkeypatch.setattr(LocalFolder, call, raises)
    folder = SourceFolder("s", str(tmp_path), ("list.txt",), "txt_list")
    for read in (raises, lambda *_: [(1, "a.txt")]):
        with pytest.raises(StorageError, match=r"s/list.txt: cannot be read now: Input/output error"):
            list_shards([folder], read)
    raises.side_effect = OSError(errno.EACCES, os.strerror(errno.EACCES), "a")
    (shard,) = list_shards([folder], lambda *_: [(1, "a.txt")]).shards
    assert shard.problem == "lists a file that cannot be read: Permission denied"


def test_a_file_that_the_machine_cannot_look_at_is_not_one_without_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.jsonl")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert listed(tmp_path).shards[0].problem is None
    opens = os.open
    for error, said in (
        (errno.EACCES, "permission denied"),
        (errno.EIO, "cannot be looked at now: Input/output error"),
    ):
        monkeypatch.setattr(os, "open", Mock(side_effect=OSError(error, os.strerror(error))))
        try:
            found = listed(tmp_path).shards[0].problem
        except StorageError as fault:
            found = str(fault)
        monkeypatch.setattr(os, "open", opens)
        assert found and said in found


def test_a_touched_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, read = put(tmp_path, "a.jsonl"), []
    digest = Shard.digest

    def reads(shard: Shard) -> str:
        read.append(shard.path)
        return digest(shard)

    monkeypatch.setattr(Shard, "digest", reads)
    for _ in range(3):
        remembered_digest(listed(tmp_path).shards[0])
    assert read == ["a.jsonl"]
    os.utime(file, (5, 5))
    remembered_digest(listed(tmp_path).shards[0])
    assert read == ["a.jsonl", "a.jsonl"]


def test_a_link_that_leads_outside_is_followed_only_if_asked(tmp_path: Path) -> None:
    put(tmp_path, "out.jsonl", b"secret")
    put(tmp_path / "in", "a.jsonl", b"own")
    (tmp_path / "in/link.jsonl").symlink_to(tmp_path / "out.jsonl")
    (tmp_path / "in/same.jsonl").symlink_to("a.jsonl")
    own, link, same = listed(tmp_path / "in").shards
    assert (own.problem, same.problem) == (None, None)
    with pytest.raises(BadFileError, match=r"link that leads outside.*follow_links"):
        link.open()
    assert all(shard.problem is None for shard in listed(tmp_path / "in", follow_links=True).shards)


def test_a_link_to_nothing_is_not_told_to_be_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    (link,) = listed(tmp_path / "in").shards
    assert link.problem == "cannot be read: No such file or directory"


@pytest.mark.parametrize("name", ["link.jsonl", "top"])
def test_a_link_that_the_machine_cannot_follow_does_not_lead_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Without the link of the file it seemed to be no link; without that of the folder it seemed to lead outside."""
    put(tmp_path / "in", "a.jsonl")
    put(tmp_path, "out.jsonl", b"secret")
    (tmp_path / "in/link.jsonl").symlink_to(tmp_path / "out.jsonl")
    (tmp_path / "top").symlink_to("in")
    failing(monkeypatch, "lstat", name)
    with pytest.raises(StorageError, match=r"s/link\.jsonl: cannot be looked at now: Input/output error"):
        listed(tmp_path / "top")


def test_a_list_in_a_linked_folder_that_the_machine_cannot_follow_leaves_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in", "list.txt")
    put(tmp_path / "in", "a.txt")
    (tmp_path / "top").symlink_to("in")
    folder = SourceFolder("s", str(tmp_path / "top"), ("list.txt",), "txt_list")
    (shard,) = list_shards([folder], lambda *_: [(1, "a.txt")]).shards
    assert shard.problem is None
    failing(monkeypatch, "lstat", "top")
    with pytest.raises(StorageError, match=r"a\.txt: cannot be looked at now: Input/output error"):
        shard.changed()


def test_a_link_whose_target_is_too_long_a_name_costs_its_shard_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl")
    (tmp_path / "long.jsonl").symlink_to("x" * 300)
    own, link = listed(tmp_path).shards
    assert (own.problem, link.problem) == (None, "cannot be read: File name too long")


def test_a_file_belongs_to_one_source(tmp_path: Path) -> None:
    put(tmp_path, "deep/a.jsonl")
    put(tmp_path, "b.txt")

    def look(*folders: SourceFolder) -> Listing:
        return list_shards(folders, lambda *_: [])

    everything = SourceFolder("one", str(tmp_path), ("**/*",), "auto")
    deep = SourceFolder("two", str(tmp_path / "deep"), ("*",), "auto")
    with pytest.raises(ConfigError, match=r"one and two both take 'a\.jsonl'"):
        look(everything, deep)
    texts = SourceFolder("one", str(tmp_path), ("*.txt",), "auto")
    assert len(look(texts, deep).shards) == 2
    own = SourceFolder("own", str(tmp_path), ("**/*",), "auto", what="dataset")
    assert len(look(everything, own).shards) == 4


@pytest.mark.parametrize("path", ["x...y", "x....y", "a.../b", "...", "a/..."])
def test_no_name_has_the_dots_that_are_a_range_between_two_keys(path: str) -> None:
    name = shard_name(f"{path}.jsonl")
    assert "..." not in name
    assert name != shard_name(f"{path.replace('...', '-')}.jsonl")
    assert shard_name("x..y.jsonl") == "x..y"
