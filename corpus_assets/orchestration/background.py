"""A thread that does one thing after the other, so that who asks for it need not wait."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Background(Generic[T]):
    """Calls functions of one object in a thread, in the order they are given.

    make: makes the object, in the thread and with the first call. An error ends it all: the next call raises it.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._failure: BaseException | None = None

    @property
    def used(self) -> bool:
        """Whether anything was asked for."""
        return self._thread is not None

    def do(self, what: Callable[[T], object]) -> None:
        """Has a function called some time."""
        self._raise()
        self._submit(what)

    def begin(self, what: Callable[[T], R]) -> Callable[[], R]:
        """Has a function called after all before it; returns what waits for it, and returns what it returns."""
        self._raise()
        future = self._submit(what)

        def result() -> R:
            wait([future])
            self._raise()
            return future.result()

        return result

    def ask(self, what: Callable[[T], R]) -> R:
        """Has a function called after all before it, and returns what it returns."""
        return self.begin(what)()

    def close(self) -> None:
        """Waits until all is done."""
        if self._thread is not None:
            self._thread.shutdown()
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._thread = None
            raise failure

    def _submit(self, what: Callable[[T], R]) -> Future[R]:
        self._thread = self._thread or ThreadPoolExecutor(1)
        return self._thread.submit(self._call, what)

    def _call(self, what: Callable[[T], R]) -> R:
        if self._failure is not None:
            raise self._failure
        try:
            self._made = self._make() if self._made is None else self._made
            return what(self._made)
        except BaseException as error:
            self._failure = error
            raise
