"""Versions of the libraries that content goes through: machines that work on one corpus must have the same."""

import platform
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_OF_CONTENT = (
    *("datasketch", "fastokens", "ftfy", "gigatoken", "h5py", "isal", "jinja2", "jq", "msgspec", "networkit", "numba"),
    *("numpy", "pandas", "pyarrow", "python-jsonpath", "regex", "scipy", "sentencepiece", "tokenizers", "xxhash"),
    *("zstandard", "anyascii", "pycld2", "cld3-py", "langdetect", "lingua-language-detector", "blingfire"),
    *("fasttext-community", "adblock", "phonenumbers", "presidio-analyzer", "spacy", "tldextract", "beautifulsoup4"),
    *("detect-secrets", "pygments", "resiliparse", "lxml-html-clean", "trafilatura"),
)

Versions = tuple[tuple[str, str], ...]


@cache
def versions() -> Versions:
    """Returns the version of Python, of its Unicode tables, and of each library that is installed, by name."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "unicode": unicodedata.unidata_version}
    for name in _OF_CONTENT:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return tuple(found.items())


def differences(wanted: Versions, had: Versions) -> Sequence[str]:
    """Returns in words which libraries a machine lacks, or has in another version; further ones do not count."""
    known = dict(had)
    return [
        f"{name} {known.get(name, 'is missing')} instead of {one}" for name, one in wanted if known.get(name) != one
    ]
