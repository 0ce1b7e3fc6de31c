"""A dataset repository of the hub: what a commit of it holds, and one commit on top of it."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from corpus_assets.publish.hub_faults import faults_in_words, moved, named
from resources.errors import ConfigError, StorageError
from resources.hub_client import faults_of_connections, hub_api, patiently
from resources.raw_places.addresses import HubAddress
from resources.raw_places.files import FoundFile
from resources.raw_places.hub import HubFolder

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd

T = TypeVar("T")

_BLOCK = 1 << 20
_MOST_SMALL = 64 << 20


class Stored(NamedTuple):
    """A file as the hub knows it. sha256: of its bytes; empty for a file that lies in git. blob: its name in git."""

    bytes: int
    sha256: str
    blob: str

    def holds(self, size: int, sha256: str, blob: str) -> bool:
        """Returns whether these are the bytes of the file."""
        return self.bytes == size and (self.sha256 == sha256 if self.sha256 else self.blob == blob)


class Repository:
    """A dataset on a branch. Requests that meet a busy hub are sent again; faults are sentences."""

    def __init__(self, place: HubAddress) -> None:
        if place.is_pinned:
            raise ConfigError(f"{named(place)}: valid is a branch to publish on, and this is a commit")
        self.place = place
        self._api = hub_api()
        _be_quiet()  # Only now: the client sets its log when it is loaded.

    def head(self) -> str:
        """Returns the commit of the branch."""
        found = self._asked(lambda: self._api.dataset_info(self.place.repository, revision=self.place.revision).sha)
        if not found:
            raise StorageError(f"{named(self.place)}: the hub does not say which commit the branch has")
        return found

    def create(self) -> None:
        """Makes the dataset, private, if there is none."""
        self._asked(
            lambda: self._api.create_repo(self.place.repository, repo_type="dataset", private=True, exist_ok=True)
        )

    def files(self, commit: str) -> dict[str, Stored]:
        """Returns all files of a commit by path."""
        return self._asked(lambda: dict(self._listed(commit)))

    def _listed(self, commit: str) -> Iterator[tuple[str, Stored]]:
        entries: Iterable[Any] = self._api.list_repo_tree(
            self.place.repository, recursive=True, revision=commit, repo_type="dataset"
        )
        for entry in entries:
            if hasattr(entry, "blob_id"):
                size, sha256 = (entry.lfs.size, entry.lfs.sha256) if entry.lfs else (entry.size, "")
                yield entry.path, Stored(size, sha256, entry.blob_id)

    def content(self, commit: str, path: str, stored: Stored) -> bytes:
        """Returns the content of a small file of a commit."""
        if stored.bytes > _MOST_SMALL:
            raise StorageError(f"{named(self.place)}/{path}: has {stored.bytes:,} bytes; valid: up to {_MOST_SMALL:,}")
        folder = HubFolder(f"hf://datasets/{self.place.repository}@{commit}")
        token = f"hub/sha256:{stored.sha256}" if stored.sha256 else f"hub/git:{stored.blob}"
        file = FoundFile(path, stored.bytes, token, None, commit=commit)
        with closing(folder.open(file, f"{named(self.place)}/{path}")) as stream:
            return stream.read()

    def send(self, additions: Sequence["CommitOperationAdd"]) -> None:
        """Sends the content of large files, which no commit shows yet; the hub takes none that it has."""
        self._asked(
            lambda: self._api.preupload_lfs_files(
                self.place.repository, additions, repo_type="dataset", revision=self.place.revision
            )
        )
        for one in additions:
            if getattr(one, "_should_ignore", False):
                raise ConfigError(
                    f"{named(self.place)}: its .gitignore leaves out {one.path_in_repo}, so it cannot be published"
                )

    def commit(
        self, additions: Sequence["CommitOperationAdd"], removed: Iterable[str], parent: str, message: str
    ) -> str:
        """Makes one commit of all changes on top of `parent`, and returns its id.

        `StorageError` if the branch has another commit by now. A commit whose answer was lost is recognized.
        """
        from huggingface_hub import CommitOperationDelete

        operations: list[Any] = [*additions, *(CommitOperationDelete(path) for path in removed)]
        last = additions[-1]

        def made() -> str:
            try:
                return self._api.create_commit(
                    self.place.repository,
                    operations,
                    commit_message=message,
                    repo_type="dataset",
                    revision=self.place.revision,
                    parent_commit=parent,
                ).oid
            except Exception:
                # Whatever failed, the commit may be there: the answer was lost, or the client did not understand it.
                if ours := self._made_already(parent, last):
                    return ours
                raise

        return self._asked(made)

    def _made_already(self, parent: str, last: "CommitOperationAdd") -> str:
        """Returns the commit of the branch if it holds the last file as it is to be; `StorageError` if it moved."""
        head = self.head()
        if head == parent:
            return ""
        with last.as_file() as file:
            content = file.read()
        there = self.files(head).get(last.path_in_repo)
        if there and there.holds(len(content), hashlib.sha256(content).hexdigest(), blob_of(content)):
            return head
        raise moved(self.place)

    def _asked(self, call: Callable[[], T]) -> T:
        with faults_in_words(self.place):
            return patiently(call)


def blob_of(content: bytes) -> str:
    """Returns git's name for a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def digests_of(file: Path) -> tuple[int, str, str]:
    """Returns size, SHA-256 and git's name of a file, reading it once."""
    size = file.stat().st_size
    sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            sha256.update(block)
            blob.update(block)
    return size, sha256.hexdigest(), blob.hexdigest()


def _be_quiet() -> None:
    """Stops the client's bars, its warnings, and its log of requests: both name addresses with signatures."""
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    for name in ("huggingface_hub", *(fault.__module__.partition(".")[0] for fault in faults_of_connections())):
        logging.getLogger(name).setLevel(logging.ERROR)
