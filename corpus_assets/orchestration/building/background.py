"""A thread that executes calls one after the other, so that callers need not wait."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar

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
        self._asked: deque[Callable[[], None]] = deque()
        self._turn = Lock()
        self._ended = Event()

    @property
    def used(self) -> bool:
        """Whether any call was requested."""
        return self._thread is not None

    def do(self, what: Callable[[T], object]) -> None:
        """Requests a call without waiting for it."""
        self._raise()
        self._submit(what)

    def begin(self, what: Callable[[T], R]) -> Callable[[], R]:
        """Requests a call after all earlier ones; returns a function that waits for its result."""
        self._raise()
        future = self._submit(what)

        def result() -> R:
            wait([future])
            self._raise()
            return future.result()

        return result

    def every(self, seconds: float, what: Callable[[T], object]) -> None:
        """Requests a call again and again until all ends, though not before the first other call."""

        def repeat() -> None:
            while not self._ended.wait(seconds):
                if self._thread is not None:
                    with suppress(RuntimeError):  # It was closed meanwhile.
                        self._submit(what)

        Thread(target=repeat, daemon=True).start()

    def ask(self, what: Callable[[T], R]) -> R:
        """Requests a call after all earlier ones, waits, and returns its result."""
        return self.begin(what)()

    def close(self) -> None:
        """Waits until all is done."""
        self._ended.set()
        if self._thread is not None:
            self._thread.shutdown()
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            self._ended.set()
            with self._turn:  # Calls requested before the error have failed by then, and are never executed after it.
                failure, self._failure = self._failure, None
            self._thread = None
            raise failure

    def _submit(self, what: Callable[[T], R]) -> Future[R]:
        future: Future[R] = Future()
        self._asked.append(partial(self._settle, future, what))
        self._thread = self._thread or ThreadPoolExecutor(1)
        self._thread.submit(self._work)
        return future

    def _work(self) -> None:
        """Executes requested calls, in one thread at a time.

        An interrupt while the pool waits for its thread to start can leave an uncounted thread; then the pool starts
        another.
        """
        with self._turn:
            while self._asked:
                self._asked.popleft()()

    def _settle(self, future: "Future[Any]", what: Callable[[T], R]) -> None:
        try:
            future.set_result(self._call(what))
        except BaseException as error:
            future.set_exception(error)

    def _call(self, what: Callable[[T], R]) -> R:
        if self._failure is not None:
            raise self._failure
        try:
            self._made = self._make() if self._made is None else self._made
            return what(self._made)
        except BaseException as error:
            self._failure = error
            raise
