"""A thread that does one thing after the other."""

import threading

import pytest

from corpus_assets.orchestration.building.background import Background


def test_ctrl_c_while_the_thread_starts_does_not_make_the_object_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[list[str]] = []
    asked_again = threading.Event()

    def make() -> list[str]:
        asked_again.wait()  # While Dagster is loaded, the other call comes.
        made.append([])
        return made[-1]

    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    background = Background(make)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            background.do(lambda said: said.append("begins"))
    background.do(lambda said: said.append("is interrupted"))
    asked_again.set()
    background.close()
    assert made == [["begins", "is interrupted"]]


def test_an_error_is_raised_by_the_next_call_and_ends_it_all() -> None:
    def fail(_: object) -> None:
        raise ValueError("no room")

    background: Background[object] = Background(object)
    with pytest.raises(ValueError, match="no room"):
        background.ask(fail)
    assert not background.used


def test_what_was_asked_for_before_an_error_is_never_called_after_it() -> None:
    asked, said = threading.Event(), list[str]()

    def fail(_: object) -> None:
        asked.wait()
        raise ValueError("no room")

    background: Background[object] = Background(object)
    background.do(fail)
    background.do(lambda _: said.append("before"))
    waits = background.begin(lambda _: said.append("before"))
    asked.set()
    with pytest.raises(ValueError, match="no room"):
        waits()
    background.do(lambda _: said.append("after"))
    background.close()
    assert said == ["after"]
