"""Stores hold the files of a corpus; this module opens the one that corpus.yaml names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resources.storage.interface import Storage
from resources.user.modules import named

STORES = {"local": "resources.storage.local.store:open_local", "s3": "resources.storage.s3.store:open_s3"}
"""The function that opens each kind of store. A new store is a file of this folder and a line here."""


def open_storage(section: Mapping[str, Any], folder: Path) -> Storage:
    """Opens the store that section `storage` of corpus.yaml describes.

    Its `kind` is one of `STORES`, or the `module:function` of a store of the user's own; the function takes `root`,
    the folder of corpus.yaml, and the section. Raises `ConfigError` for anything else.
    """
    storage: Storage = named(STORES, section["kind"], "storage.kind", folder)(section["root"], folder, section)
    return storage
