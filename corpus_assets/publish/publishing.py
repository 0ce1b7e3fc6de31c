"""Publishes a corpus: sends what changed, then makes one commit, so that nothing is ever half published."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.publish import manifest as lists
from corpus_assets.publish.hub_faults import UNPUBLISHED, named
from corpus_assets.publish.manifest import Manifest, PublishedFile
from corpus_assets.publish.repository import Repository, Stored, blob_of, digests_of
from corpus_assets.publish.wanted import DOCUMENTS, Wanted, wanted_files
from resources.errors import ConfigError
from resources.raw_places.addresses import HubAddress

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd

BATCH_BYTES = 512 << 20
"""Files are sent together once they have so many bytes; until then they lie in a temporary folder."""
_SHOWN = 3


@dataclass
class Sent:
    """The result. commit: of the branch afterwards.

    sent, removed, kept: numbers of files. bytes: of those sent. has_changes: False if no commit was needed.
    """

    commit: str
    sent: int = 0
    removed: int = 0
    kept: int = 0
    bytes: int = 0
    has_changes: bool = True


def publish(
    corpus: Corpus,
    place: HubAddress,
    dataset: str | None = None,
    *,
    create: bool = False,
    replace: bool = False,
    begins: Callable[[int], None] = lambda _: None,
    on_file: Callable[[], None] = lambda: None,
) -> Sent:
    """Makes a branch of a dataset hold what the corpus publishes, and leaves files alone that it never published.

    dataset: publish its files; without it the documents of the splits. create: make the repository if there is none.
    replace: also replace files that others wrote or changed. begins: called with the number of files, on_file after
    each. `ConfigError` and `StorageError` say that nothing was published, and why.
    """
    repository = Repository(place)
    wanted = wanted_files(corpus, dataset)
    if create:
        repository.create()
    parent = repository.head()
    there = repository.files(parent)
    before = _before(repository, parent, there)
    if not replace:
        _require_ours(place, [*(one.path for one in wanted), *before, lists.NAME], before, there)
    begins(len(wanted))
    sending = _Sending(repository, before, there)
    with sending.folder():
        for one in wanted:
            sending.add(one)
            on_file()
        sending.flush()
        manifest = Manifest(corpus.config.name, dataset or DOCUMENTS, sorted(sending.files, key=lambda one: one.path))
        return sending.end(parent, manifest)


def _before(repository: Repository, commit: str, there: Mapping[str, Stored]) -> dict[str, PublishedFile]:
    """Returns the files that were published before."""
    stored = there.get(lists.NAME)
    if stored is None:
        return {}
    where = f"{named(repository.place)}/{lists.NAME}"
    return lists.decode(repository.content(commit, lists.NAME, stored), where).by_path()


def _require_ours(
    place: HubAddress, paths: Sequence[str], before: Mapping[str, PublishedFile], there: Mapping[str, Stored]
) -> None:
    """Raises `ConfigError` if a file that would be replaced or removed is not as it was published."""
    strange = [path for path in dict.fromkeys(paths) if path in there and not _is_as_before(path, before, there)]
    if strange:
        more = f" and {len(strange) - _SHOWN:,} more" if len(strange) > _SHOWN else ""
        raise ConfigError(
            f"{named(place)}: others wrote or changed {', '.join(strange[:_SHOWN])}{more} there; --replace replaces "
            f"them; {UNPUBLISHED}"
        )


def _is_as_before(path: str, before: Mapping[str, PublishedFile], there: Mapping[str, Stored]) -> bool:
    if path == lists.NAME:
        return True  # It was read, so it is one of ours.
    file = before.get(path)
    return file is not None and there[path].holds(file.bytes, file.sha256, file.blob)


class _Sending:
    """The changes of one commit. files: what the repository will hold of this corpus."""

    def __init__(
        self, repository: Repository, before: Mapping[str, PublishedFile], there: Mapping[str, Stored]
    ) -> None:
        self.files: list[PublishedFile] = []
        self._repository, self._before, self._there = repository, before, there
        self._additions: list[CommitOperationAdd] = []
        self._waiting: list[CommitOperationAdd] = []
        self._waiting_bytes = 0
        self._sent = Sent("")
        self._scratch = Path()

    @contextmanager
    def folder(self) -> Iterator[None]:
        """Keeps files that wait to be sent in a temporary folder meanwhile."""
        with tempfile.TemporaryDirectory(prefix="corpus-publish-") as folder:
            self._scratch = Path(folder)
            yield

    def add(self, wanted: Wanted) -> None:
        """Sends a file, unless the repository holds what it would be."""
        known = self._before.get(wanted.path)
        if known and known.made_of == wanted.made_of and _is_as_before(wanted.path, self._before, self._there):
            self.files.append(known)
            self._sent.kept += 1
            return
        file = self._scratch / f"{len(self.files)}"
        wanted.make(file)
        made = PublishedFile(wanted.path, *digests_of(file), wanted.made_of)
        self.files.append(made)
        stored = self._there.get(made.path)
        if stored and stored.holds(made.bytes, made.sha256, made.blob):
            self._sent.kept += 1
            file.unlink()
            return
        self._wait(made, file)

    def _wait(self, made: PublishedFile, file: Path) -> None:
        from huggingface_hub import CommitOperationAdd

        self._waiting.append(CommitOperationAdd(made.path, str(file)))
        self._waiting_bytes += made.bytes
        self._sent.sent += 1
        self._sent.bytes += made.bytes
        # The first is sent at once: it shows whether the token may write, before anything larger is made.
        if self._waiting_bytes >= BATCH_BYTES or not self._additions:
            self.flush()

    def flush(self) -> None:
        """Sends what waits, and removes the copies on this machine that the commit does not need."""
        if self._waiting:
            self._repository.send(self._waiting)
        self._additions += self._waiting
        self._waiting, self._waiting_bytes = [], 0
        needed = {str(one.path_or_fileobj) for one in self._additions}
        for file in self._scratch.iterdir():
            if str(file) not in needed:
                file.unlink()

    def end(self, parent: str, manifest: Manifest) -> Sent:
        """Makes the commit, if anything differs."""
        from huggingface_hub import CommitOperationAdd

        now = manifest.by_path()
        removed = [path for path in self._before if path not in now and path in self._there]
        content = lists.encode(manifest)
        stored = self._there.get(lists.NAME)
        if (
            not self._additions
            and not removed
            and stored
            and stored.holds(len(content), sha256(content).hexdigest(), blob_of(content))
        ):
            self._sent.commit, self._sent.has_changes = parent, False
            return self._sent
        additions = [*self._additions, CommitOperationAdd(lists.NAME, content)]
        message = f"Publish {manifest.what} of {manifest.corpus}"
        self._sent.removed = len(removed)
        self._sent.commit = self._repository.commit(additions, removed, parent, message)
        return self._sent
