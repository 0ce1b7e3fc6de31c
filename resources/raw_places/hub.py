"""Raw files of a dataset on the Hugging Face hub."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO, cast

from resources.errors import ConfigError, CorpusError, StorageError
from resources.hub_client import hub_api, patiently
from resources.raw_places.addresses import HubAddress, hub_address
from resources.raw_places.files import FoundFile, fixed_folder, glob_pattern
from resources.raw_places.interface import NO_FILE, SourceFolder, member_path, together
from resources.raw_places.web import WebFile, open_url
from resources.system_errors import error_words

_KNOWN_TREES = 8


@dataclass(frozen=True)
class HubFolder:
    """Raw files of a dataset at a revision (a `RawPlace`).

    A branch or tag is looked up once per listing; all files are of that commit, and each file keeps it. The token of a
    file is the hub's digest of its content, so a file that a new commit leaves unchanged is not read again.
    """

    location: str

    def files(self, folder: SourceFolder, _: list[tuple[str, str]]) -> list[FoundFile]:
        """Returns every file that a glob wants."""
        place = hub_address(self.location)
        patterns = [glob_pattern(glob) for glob in folder.globs]
        with _faults(f"{folder.key or f'sources.{folder.name}'}.location: {self.location!r}"):
            below = f"{_within(place, '')}{fixed_folder(folder.globs)}".rstrip("/")
            found = _tree(place.repository, _commit(place), below)
        cut = len(_within(place, ""))
        files = (_from(file, cut) for file in found)
        return [file for file in files if any(one.fullmatch(file.path) for one in patterns)]

    def open(self, file: FoundFile, label: str) -> BinaryIO:
        """Opens a file for reading by ranges from the hub, or from where the hub keeps it."""
        with _faults(label):
            return open_url(self._remote(file, label), file)

    def _remote(self, file: FoundFile, label: str) -> WebFile:
        from huggingface_hub import constants, get_token, hf_hub_url
        from huggingface_hub.errors import OfflineModeIsEnabled

        if constants.HF_HUB_OFFLINE:
            raise OfflineModeIsEnabled
        place = hub_address(self.location)
        url = hf_hub_url(place.repository, _within(place, file.path), repo_type="dataset", revision=file.commit)
        token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
        headers = (("Authorization", f"Bearer {token}"),) if token else ()
        return WebFile(url, label, file.modified, file.bytes, headers)

    def members(self, file: FoundFile, names: Sequence[str]) -> list[FoundFile]:
        """Returns the files that a text list names, of the same commit."""
        place = hub_address(self.location)
        paths = [member_path(file, name) for name in names]
        with _faults(self.location):
            asked = [_within(place, path) for path in paths if isinstance(path, str)]
            known = {one.path: one for one in _paths(place.repository, file.commit, asked)}
        cut = len(_within(place, ""))
        return [
            path
            if isinstance(path, FoundFile)
            else _from(known[_within(place, path)], cut)
            if _within(place, path) in known
            else FoundFile(path, 0, "0", NO_FILE)
            for path in paths
        ]

    def stamped(self, file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
        """Returns size and token of a file and its members."""
        return together(file, members)

    def address(self, file: FoundFile) -> str:
        """Returns the address of a file."""
        place = hub_address(self.location)
        return f"hf://datasets/{place.repository}@{place.revision}/{_within(place, file.path)}"

    def identities(self, files: Iterable[FoundFile]) -> Iterator[str]:
        """Yields the addresses of files."""
        yield from map(self.address, files)


def all_files(place: HubAddress) -> tuple[FoundFile, ...]:
    """Returns every file of a dataset at a revision, all of one commit; a busy hub is asked again."""
    with _faults(f"hf://datasets/{place.repository}@{place.revision}"):
        return patiently(lambda: _tree(place.repository, _commit(place), ""))


def _within(place: HubAddress, path: str) -> str:
    """Returns a path from the top of the repository."""
    return f"{place.folder}/{path}" if place.folder else path


def _from(file: FoundFile, cut: int) -> FoundFile:
    """Returns a file with its path from the folder of the source."""
    return FoundFile(file.path[cut:], file.bytes, file.modified, None, commit=file.commit)


def _commit(place: HubAddress) -> str:
    """Returns the commit that a revision means now."""
    if place.is_pinned:
        return place.revision
    found = hub_api().dataset_info(place.repository, revision=place.revision)
    if not found.sha:
        raise StorageError(f"the hub does not say which commit {place.revision!r} is")
    return found.sha


@lru_cache(_KNOWN_TREES)
def _tree(repository: str, commit: str, folder: str) -> tuple[FoundFile, ...]:
    """Returns all files below a folder of a commit, which never change."""
    entries = hub_api().list_repo_tree(repository, folder or None, recursive=True, revision=commit, repo_type="dataset")
    return tuple(_found(entry, commit) for entry in entries if hasattr(entry, "blob_id"))


def _paths(repository: str, commit: str, paths: list[str]) -> list[FoundFile]:
    entries = hub_api().get_paths_info(repository, paths, revision=commit, repo_type="dataset") if paths else []
    return [_found(entry, commit) for entry in entries if hasattr(entry, "blob_id")]


def _found(entry: Any, commit: str) -> FoundFile:
    token = f"hub/sha256:{entry.lfs.sha256}" if entry.lfs else f"hub/git:{entry.blob_id}"
    return FoundFile(entry.path, entry.lfs.size if entry.lfs else entry.size, token, None, commit=commit)


@contextmanager
def _faults(what: str) -> Iterator[None]:
    """Translates errors of the hub's client: its messages hold addresses, and advice for other programs."""
    from huggingface_hub import errors

    # The base classes of the client's error are those of its HTTP library, which differs between releases.
    below = cast("tuple[type[Exception], ...]", errors.HfHubHTTPError.__bases__)
    try:
        yield
    except CorpusError:
        raise
    except errors.OfflineModeIsEnabled:
        raise StorageError(f"{what}: the hub is not asked, since HF_HUB_OFFLINE is set") from None
    except errors.GatedRepoError:
        raise ConfigError(f"{what}: the dataset is gated; valid with a token that may read it (HF_TOKEN)") from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError) as error:
        missing = {"RevisionNotFoundError": "revision", "RepositoryNotFoundError": "dataset"}
        name = missing.get(type(error).__name__, "folder")
        raise ConfigError(f"{what}: the hub has no such {name}, or does not show it without a token") from None
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "no status")
        raise StorageError(f"{what}: the hub cannot be read now: it answers {status}") from None
    except below as error:
        is_of_the_system = isinstance(error, OSError) and error.errno is not None
        why = error_words(error) if is_of_the_system else type(error).__name__
        raise StorageError(f"{what}: the hub cannot be reached: {why}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{what}: the hub's answer cannot be understood: {type(error).__name__}") from None
