"""What `location` of corpus.yaml may be: a folder of this machine, or an address of one of four schemes."""

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from resources.storage.s3.address import parse_address

SCHEMES = ("s3", "hf", "https", "http")
LIST_SUFFIXES = tuple(suffix + packed for suffix in (".txt", ".list", ".urls") for packed in ("", ".gz"))
VALID = (
    "a folder of this machine, or one mounted there; s3://bucket/prefix; hf://datasets/org/name@revision; or https://, "
    f"where a URL that ends in {', '.join(LIST_SUFFIXES[::2])} is a list of URLs"
)
VALID_FILES = (
    "a file of this machine; s3://bucket/folder/file; hf://datasets/org/name@revision/folder/file; each of them with * "
    "in its path for several files; or https://host/file"
)
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):/")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LONG_REVISIONS = ("refs/convert/", "refs/pr/")


class HubAddress(NamedTuple):
    """A folder of a dataset on the Hugging Face hub, at a revision: a branch, a tag or a commit."""

    repository: str
    revision: str
    folder: str

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a whole commit id, which never means another state."""
        return _COMMIT.fullmatch(self.revision) is not None


def scheme_of(location: str) -> str:
    """Returns the scheme of an address, such as `s3`; empty for a path of this machine."""
    match = _SCHEME.match(location)
    return match[1].lower() if match else ""


def check_location(location: str) -> str:
    """Returns a location that can be read; `ValueError` says what is valid, and never shows a credential."""
    scheme = scheme_of(location)
    if scheme in ("http", "https"):
        _check_url(location)
    elif scheme == "s3":
        parse_address(location)
    elif scheme == "hf":
        hub_address(location)
    elif scheme:
        raise ValueError(f"{VALID}; {scheme}: is not read")
    return location


def check_files(location: str) -> str:
    """Returns a location, if it can be read, that names files and no folder; `ValueError` says what is valid."""
    scheme = scheme_of(check_location(location))
    if scheme in ("http", "https"):
        names_files = "*" not in location
    elif scheme == "s3":
        names_files = bool(parse_address(location).prefix)
    else:
        names_files = scheme != "hf" or bool(hub_address(location).folder and hub_address(parted(location)[0]))
    if scheme and (location.endswith("/") or not urlsplit(location).path.strip("/") or not names_files):
        raise ValueError(VALID_FILES)
    return location


def parted(location: str) -> tuple[str, str]:
    """Returns the folder of an address of files and what lies below it: from the first name with `*`, or the last."""
    names = location.split("/")
    cut = next((number for number, name in enumerate(names) if "*" in name), len(names) - 1)
    return "/".join(names[:cut]), "/".join(names[cut:])


def hub_address(location: str) -> HubAddress:
    """Returns what `hf://datasets/org/name@revision/folder` names; the revision is `main` if none is given.

    A revision with `/` is written with `%2F`, except `refs/convert/...` and `refs/pr/...`. `ValueError` for others.
    """
    kind, _, rest = location.partition("://")[2].partition("/")
    head, _, after = rest.partition("@")
    depth = 3 if after.startswith(_LONG_REVISIONS) else 1
    parts = after.split("/") if after else []
    repository = head if after else "/".join(head.split("/")[:2])
    folders = parts[depth:] if after else head.split("/")[2:]
    revision = unquote("/".join(parts[:depth])) or "main"
    folder = "/".join(folders).rstrip("/")
    plain = all(part not in ("", ".", "..") for part in folder.split("/")) or not folder
    if kind != "datasets" or not _REPOSITORY.fullmatch(repository) or not plain or "?" in location or "#" in location:
        raise ValueError("hf://datasets/org/name, with or without @revision and a folder")
    return HubAddress(repository, revision, folder)


def is_list(url: str) -> bool:
    """Returns whether a URL is that of a list of URLs, by its suffix; else it is one raw file."""
    return urlsplit(url).path.lower().endswith(LIST_SUFFIXES)


def _check_url(url: str) -> None:
    """Raises `ValueError` for a URL with parts that may be credentials: locations stand in reports and messages."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:  # Its words may hold the address.
        host = None
    if not host:
        raise ValueError(
            "a URL with a host, and a port that is a number if there is one, such as https://host:8000/list.txt"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError(
            "a URL without user name, query and fragment, since it stands in reports and may hold credentials there; "
            "URLs with a query may stand in the lines of a list"
        )
