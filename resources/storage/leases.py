"""Leases: which process may write a partition.

A lease is taken without waiting. A process that does not get it learns the holder, and may ask again.
"""

from typing import NamedTuple, Protocol

from typing_extensions import override


class Held(NamedTuple):
    """The lease of a partition that another process has.

    who: in words. token: changes whenever the lease is renewed. expiry: seconds for which the token must stay the same,
    by the waiting process's clock, until the lease may be taken over; None if it ends with its process.
    """

    who: str
    token: str = ""
    expiry: float | None = None


class Lease(Protocol):
    """The right to write one partition, until `release`."""

    def require(self) -> None:
        """Raises `LeaseLostError` if the lease was taken over, `BuilderLostError` if others replaced the builder."""

    def release(self) -> None:
        """Gives the lease back; does nothing if it was taken over. Ignores errors of the store: the lease expires."""


class SoleLease(Lease):
    """The lease of any partition of a store that a process holds alone."""

    @override
    def require(self) -> None:
        return

    @override
    def release(self) -> None:
        return
