"""The owner of a store: the configuration that first built on it. Another would take its partitions for orphans."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from resources.errors import StorageError
from resources.hashing import content_digest
from resources.storage.interface import Storage
from resources.storage.owner_file import OWNER
from resources.storage.unnamed import UNNAMED

_DIGITS, _SHOWN = 16, 4


class Owner(msgspec.Struct, frozen=True, omit_defaults=True):
    """The owner of a store.

    name: name of the corpus.
    config: path of its configuration, relative to the store if that is a folder, so that both may be moved together.
    nonce: tells this store from every other one.
    sources: a digest of the location of each source or dataset, by name.
    path: where the configuration lay when it claimed the store; empty if the store is no folder.
    """

    name: str
    config: str
    nonce: str
    sources: dict[str, str] = {}
    path: str = ""


class Claimant(NamedTuple):
    """A configuration that would use a store. places: location of each source, or dataset of files, as written."""

    name: str
    config: Path
    places: Mapping[str, str] = {}

    @property
    def sources(self) -> dict[str, str]:
        """A digest of each location, which may hold a secret."""
        return {name: content_digest(place.encode())[:_DIGITS] for name, place in sorted(self.places.items())}


def owner_of(storage: Storage) -> Owner | None:
    """Returns the owner of a store; None if nothing was built on it, or if its file is damaged."""
    try:
        with storage.open(OWNER) as file:
            return msgspec.json.decode(file.read(), type=Owner)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def nonce_of(storage: Storage) -> str | None:
    """Returns the nonce that identifies a store; None if nothing was built on it."""
    owner = owner_of(storage)
    return owner.nonce if owner else None


def require_owner(storage: Storage, claimant: Claimant) -> None:
    """Raises `StorageError` if a store belongs to another corpus, or if its owner file is damaged.

    The path of a configuration proves little: every corpus.yaml lies beside its store, and a store may be copied over
    another one. So at least one source must be known too. A configuration that was moved without its store still owns
    it, if it has a name of its own and no longer exists at its old place.
    """
    owner = owner_of(storage)
    if owner is None:
        if storage.stat(OWNER) is not None:
            raise StorageError(
                f"{storage.place}: {OWNER}, which names the owner of this store, is damaged; if that is this corpus, "
                "`corpus clean --take-over` writes it again and removes nothing"
            )
        return
    if not _is_same(storage, owner, claimant):
        theirs = f"{owner.name!r} of {owner.config} (seen from the store){_listed(owner.sources)}"
        ours = f"{claimant.name!r} of {claimant.config}{_listed(claimant.sources)}"
        raise StorageError(
            f"{storage.place}: this store belongs to corpus {theirs}, not to corpus {ours}; give this corpus a "
            "storage.root of its own. If it is the same corpus, moved or renamed, take the store over with "
            "`corpus clean --take-over`, which removes nothing"
        )


def _is_same(storage: Storage, owner: Owner, claimant: Claimant) -> bool:
    """Returns whether a configuration is the owner's, possibly after edits, a move, or a new name."""
    has_same_name, has_own_name = owner.name == claimant.name, claimant.name != UNNAMED
    if owner.config not in _places(storage, claimant.config):
        is_gone = not Path(storage.place, owner.config).exists()
        return has_same_name and has_own_name and is_gone and _is_alike(owner, claimant)
    if has_same_name and (has_own_name or _is_at_its_place(owner, claimant.config)):
        return _is_alike(owner, claimant)
    return _is_folder(storage) and _shares_a_source(owner, claimant, unknown=has_same_name or owner.name == UNNAMED)


def _is_at_its_place(owner: Owner, config: Path) -> bool:
    return owner.path in ("", str(config), str(config.resolve()))


def _is_alike(owner: Owner, claimant: Claimant) -> bool:
    """Returns whether two share the name or location of a source, or the sources of one are unknown."""
    ours, theirs = claimant.sources, owner.sources
    return not (ours and theirs) or bool(ours.keys() & theirs.keys() or {*ours.values()} & {*theirs.values()})


def _shares_a_source(owner: Owner, claimant: Claimant, *, unknown: bool) -> bool:
    """Returns whether two share a source with equal name and location. unknown: the result if sources are unknown."""
    ours, theirs = claimant.sources, owner.sources
    return bool(ours.items() & theirs.items()) if ours and theirs else unknown


def _listed(sources: Mapping[str, str]) -> str:
    shown = ", ".join(list(sources)[:_SHOWN])
    return f" with {shown}{', ...' if len(sources) > _SHOWN else ''}" if sources else ""


def owns(storage: Storage, claimant: Claimant) -> bool:
    """Returns whether a configuration is written down as the owner of a store, as it is now."""
    owner = owner_of(storage)
    if owner is None:
        return False
    return owner == msgspec.structs.replace(_owner(storage, claimant, owner), path=owner.path)


def claim(storage: Storage, claimant: Claimant) -> None:
    """Writes down the owner of the store; `StorageError` if it is another. The caller holds the store."""
    require_owner(storage, claimant)
    take_over(storage, claimant)


def take_over(storage: Storage, claimant: Claimant) -> None:
    """Makes a configuration the owner of a store, whoever owned it. The caller holds the store."""
    before = owner_of(storage)
    owner = _owner(storage, claimant, before)
    if before != owner:
        storage.write(OWNER, msgspec.json.format(msgspec.json.encode(owner), indent=1) + b"\n")


def _owner(storage: Storage, claimant: Claimant, before: Owner | None) -> Owner:
    return Owner(
        claimant.name,
        _places(storage, claimant.config)[0],
        before.nonce if before else secrets.token_hex(16),
        claimant.sources,
        str(claimant.config) if _is_folder(storage) else "",
    )


def _is_folder(storage: Storage) -> bool:
    return Path(storage.place).is_absolute()


def _places(storage: Storage, config: Path) -> list[str]:
    """Returns the paths of a configuration relative to a store in a folder (also without links); else its name."""
    if not _is_folder(storage):
        return [config.name]
    return [os.path.relpath(config, storage.place), os.path.relpath(config.resolve(), Path(storage.place).resolve())]
