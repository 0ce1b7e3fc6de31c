"""Who owns a store: the configuration that first built on it. Another one would take its partitions for orphans."""

import os
import secrets
from pathlib import Path

import msgspec

from resources.errors import StorageError
from resources.storage.interface import Storage
from resources.storage.unnamed import UNNAMED

OWNER = "owner.json"


class Owner(msgspec.Struct, frozen=True):
    """The owner of a store.

    name: name of the corpus. config: path of its configuration, relative to the store if that is a folder, so that both
    may be moved together. nonce: tells this store from every other one; empty if it was claimed by an older version.
    """

    name: str
    config: str
    nonce: str = ""


def owner_of(storage: Storage) -> Owner | None:
    """Returns the owner of a store; None if nobody has built on it, or if what is written there is damaged."""
    try:
        with storage.open(OWNER) as file:
            return msgspec.json.decode(file.read(), type=Owner)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def nonce_of(storage: Storage) -> str | None:
    """Returns what tells a store from every other one; None if nobody has built on it."""
    owner = owner_of(storage)
    return owner.nonce or None if owner else None


def require_owner(storage: Storage, name: str, config: Path) -> None:
    """Raises `StorageError` if a store belongs to another configuration.

    A configuration that was moved without its store still owns it, if it has a name of its own and is gone from its old
    place.
    """
    owner = owner_of(storage)
    if owner is None or (owner.config in _places(storage, config) and (_is_folder(storage) or owner.name == name)):
        return
    if owner.name == name != UNNAMED and not Path(storage.place, owner.config).exists():
        return
    raise StorageError(
        f"{storage.place}: this store belongs to corpus {owner.name!r} of {owner.config} (seen from the store), not to "
        f"{config}; give this corpus a storage.root of its own, or take the store over with `corpus clean --take-over`"
    )


def owns(storage: Storage, name: str, config: Path) -> bool:
    """Returns whether a configuration is written down as the owner of a store."""
    owner = owner_of(storage)
    return owner is not None and owner == Owner(name, _places(storage, config)[0], owner.nonce) and owner.nonce != ""


def claim(storage: Storage, name: str, config: Path) -> None:
    """Writes down whose the store is; `StorageError` if it is another's. The caller holds the store."""
    require_owner(storage, name, config)
    take_over(storage, name, config)


def take_over(storage: Storage, name: str, config: Path) -> None:
    """Makes a configuration the owner of a store, whoever owned it. The caller holds the store."""
    before = owner_of(storage)
    owner = Owner(name, _places(storage, config)[0], (before and before.nonce) or secrets.token_hex(16))
    if before != owner:
        storage.write(OWNER, msgspec.json.format(msgspec.json.encode(owner), indent=1) + b"\n")


def _is_folder(storage: Storage) -> bool:
    return Path(storage.place).is_absolute()


def _places(storage: Storage, config: Path) -> list[str]:
    """Returns how a store that is a folder sees a configuration, as given and with links resolved; else its name."""
    if not _is_folder(storage):
        return [config.name]
    return [os.path.relpath(config, storage.place), os.path.relpath(config.resolve(), Path(storage.place).resolve())]
