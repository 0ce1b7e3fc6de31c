"""Extractors in a process of their own: limits, and what they print, read and start."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from corpus_assets.raw.rows.faults import RowError
from corpus_assets.raw.web import extractor_server
from corpus_assets.raw.web.extractors import Extraction, extractor, main_text
from resources.errors import CorpusError, StorageError


def test_a_page_on_which_an_extractor_never_ends_costs_this_page_alone(own: Callable[[str], None]) -> None:
    """The next page is read by a new process; prints of an extractor are no answers."""
    own(
        "def text(page):\n"
        "    print('reading')\n"
        "    while page == 'endless': pass\n"
        "    if page == 'broken': raise KeyError('x')\n"
        "    return page * 2\n"
    )
    extract = extractor(Extraction(("own_pages:text",), seconds=0.2))
    assert main_text("a\nb\u2028", extract) == "a\nb\u2028" * 2
    for _ in range(2):
        with pytest.raises(RowError) as fault:
            main_text("endless", extract)
        assert fault.value.reason == "extraction_too_long"
        assert fault.value.detail == "it takes more than 0.2 s of CPU time (`html.seconds`)"
        assert main_text("next", extract) == "nextnext"
    with pytest.raises(RowError) as fault:
        main_text("broken", extract)
    assert (fault.value.reason, fault.value.detail) == ("extraction_failed", "KeyError: 'x'")


def test_prints_of_an_extractor_and_copies_of_its_process_are_no_answers(
    own: Callable[[str], None],
) -> None:
    """Each of these once gave the next page the text of another one, or waited for ever."""
    own(
        "import os, subprocess, sys\n"
        "def text(page):\n"
        "    if page == 'writes': os.write(1, b'{}\\n')\n"
        "    if page == 'starts': subprocess.run(['echo', '{}'], check=True)\n"
        "    if page == 'forks' and not os.fork(): return 'the copy'\n"
        "    return page * 2 + (sys.stdin.readline() if page == 'reads' else '')\n"
    )
    extract = extractor(Extraction(("own_pages:text",), seconds=60))
    for page in ("writes", "starts", "forks", "reads"):
        assert [main_text(one, extract) for one in (page, "a", "b")] == [page * 2, "aa", "bb"]


def test_a_process_that_outlives_its_extractor_keeps_nobody_waiting(own: Callable[[str], None]) -> None:
    own(
        "import os, signal\n"
        "def text(page):\n"
        "    if not page.startswith('endless'): return page\n"
        "    copy = os.fork()\n"
        "    if not copy:\n"
        "        signal.pause()\n"
        "    with open(page.removeprefix('endless '), 'w') as out: out.write(str(copy))\n"
        "    while True: pass\n"
    )
    place = Path(sys.path[0]) / "copy"
    extract = extractor(Extraction(("own_pages:text",), seconds=0.2))
    with pytest.raises(RowError, match="extraction_too_long"):
        main_text(f"endless {place}", extract)
    os.kill(int(place.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("seconds", [None, 60])
def test_an_extractor_that_ends_the_process_or_gives_no_characters_makes_a_bad_row(
    own: Callable[[str], None], seconds: float | None
) -> None:
    own("import sys\ndef text(page):\n    if page == 'ends': sys.exit(3)\n    return page[:1] + '\\ud83d'\n")
    extract = extractor(Extraction(("own_pages:text",), seconds=seconds))
    for page, message in (("ends", "own_pages:text ends the process"), ("half", "half of a surrogate pair")):
        with pytest.raises(RowError, match=message) as fault:
            main_text(page, extract)
        assert fault.value.reason == "extraction_failed"


def test_a_helper_process_that_somebody_ends_makes_no_bad_row(own: Callable[[str], None]) -> None:
    """The system ends processes when memory is short: the page is not the reason, and must not be lost."""
    own("import os, signal\ndef text(page):\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    extract = extractor(Extraction(("own_pages:text",), seconds=60))
    with pytest.raises(CorpusError, match="a helper process ended by signal 9"):
        main_text("page", extract)


def test_a_limit_changes_no_text(own: Callable[[str], None]) -> None:
    own("def text(page): return page.upper()\n")
    for form in ("text", "markdown"):
        if form == "markdown":
            pytest.importorskip("lxml", reason="the extra web is not installed")
        without = Extraction(("own_pages:text",), form=form)
        with_limit = Extraction(("own_pages:text",), form=form, seconds=60)
        page = "<main><p>One paragraph of a page</p><pre>code  here</pre></main>"
        assert main_text(page, extractor(with_limit)) == main_text(page, extractor(without))


def test_a_machine_that_starts_no_process_makes_no_bad_row(
    own: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    own("def text(page): return page\n")
    extract = extractor(Extraction(("own_pages:text",), seconds=60))
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Mock(side_effect=OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))))
        with pytest.raises(StorageError, match=r"the machine failed: .*Resource temporarily unavailable"):
            main_text("page", extract)
    assert main_text("page", extract) == "page"


def test_a_text_for_which_there_is_no_memory_does_not_cost_too_much(
    own: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages have no limit of memory, so that too little of it is a fault of the machine."""
    own("def text(page): return page\n")
    start = {"how": {"extractors": ["own_pages:text"]}, "folders": sys.path}
    _, answer = extractor_server.begin(json.dumps(start).encode())
    encode = json.dumps
    monkeypatch.setattr(json, "dumps", Mock(side_effect=[MemoryError("none left"), encode({})]))
    answer(b'"page"')
    ((given,), _) = json.dumps.call_args  # type: ignore[attr-defined]
    assert given == {"machine": "extracting the text of a page: the machine failed: MemoryError: none left"}


def test_a_process_that_breaks_while_it_loads_extractors_makes_no_bad_row(own: Callable[[str], None]) -> None:
    """As it does if the disk cannot give a page of a library."""
    own(
        "import os, signal, sys\n"
        "main = getattr(sys.modules['__main__'], '__file__', '')\n"
        "if 'extractor_server' in str(main): os.kill(os.getpid(), signal.SIGBUS)\n"
        "def text(page): return page\n"
    )
    with pytest.raises(
        CorpusError, match=r"cannot start: it breaks the process \(SIGBUS\); what it is to be asked is not"
    ):
        main_text("page", extractor(Extraction(("own_pages:text",), seconds=60)))
