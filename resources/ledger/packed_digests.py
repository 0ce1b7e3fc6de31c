"""Digests by name, 16 bytes each, because thousands of records hold a digest for each of thousands of chunks or shards.

Records with the same names share them in memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from typing_extensions import override

_LEAST = 32
"""Number of digests from which on they are packed; fewer are found faster in a dictionary."""

_BYTES = 16


class _Names:
    """Names in their order, and the place of each."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.place = {name: number * _BYTES for number, name in enumerate(names)}


_KNOWN: WeakValueDictionary[tuple[str, ...], _Names] = WeakValueDictionary()


class PackedDigests(Mapping[str, str]):
    """Digests of 32 hex digits by name, in their order; immutable.

    names: shape (n,), all different. packed: their digests, 16 bytes each.
    """

    __slots__ = ("_names", "_packed")

    def __init__(self, names: tuple[str, ...], packed: bytes) -> None:
        known = _KNOWN.get(names)
        if known is None:
            known = _KNOWN.setdefault(names, _Names(names))
        if len(packed) != _BYTES * len(known.place):
            raise ValueError(f"{len(packed)} bytes for {len(known.place)} digests of {_BYTES} bytes")
        self._names = known
        self._packed = packed

    @property
    def names(self) -> tuple[str, ...]:
        """The names in their order; mappings with equal names share them."""
        return self._names.names

    @property
    def packed(self) -> bytes:
        """The digests in the order of the names, 16 bytes each."""
        return self._packed

    @override
    def __getitem__(self, name: str) -> str:
        place = self._names.place[name]
        return self._packed[place : place + _BYTES].hex()

    @override
    def get(self, name: str, default: Any = None) -> Any:
        place = self._names.place.get(name)
        return default if place is None else self._packed[place : place + _BYTES].hex()

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._names.place

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._names.names)

    @override
    def __len__(self) -> int:
        return len(self._names.names)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedDigests) and self._names is other._names:
            return self._packed == other._packed
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as of every mapping

    @override
    def __repr__(self) -> str:
        return repr(dict(self))

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return PackedDigests, (self.names, self._packed)


def pack(digests: Mapping[str, str]) -> Mapping[str, str]:
    """Returns digests by name packed, if there are many, and each is 32 hex digits; else as they are."""
    if len(digests) < _LEAST or isinstance(digests, PackedDigests):
        return digests
    together = "".join(digests.values())
    if set(map(len, digests.values())) != {2 * _BYTES} or together.strip("0123456789abcdef"):
        return digests
    return PackedDigests(tuple(digests), bytes.fromhex(together))


def digests_named(name: str, many: Iterable[Mapping[str, str]]) -> list[str]:
    """Returns the digest of one name in each of many mappings; empty where there is none of that name."""
    found: list[str] = []
    names, place = None, None
    for digests in many:
        if type(digests) is not PackedDigests:
            found.append(digests.get(name, ""))
            continue
        if digests._names is not names:
            names, place = digests._names, digests._names.place.get(name)
        found.append("" if place is None else digests._packed[place : place + _BYTES].hex())
    return found
