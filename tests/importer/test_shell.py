"""Lines of a shell as commands: by the rules of a shell, and nothing is run."""

from pathlib import Path

import pytest

from corpus_assets.importer.shell.commands import MOST_COMMANDS, read_commands
from corpus_assets.importer.shell.options import Options, read_options
from resources.errors import ConfigError


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in read_commands(text, "a.sh")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' \"d e\" f\\ g", [("a", "b c", "d e", "f g")]),
        ("a b \\\n  c # a comment that isn't closed\n# it's one\nd", [("a", "b", "c"), ("d",)]),
        ("a --x 1 \\ # the first\n  --y 2", [("a", "--x", "1", "--y", "2")]),
        ("a 'x\ny' b", [("a", "x\ny", "b")]),
        ("$ a b\n$ c", [("a", "b"), ("c",)]),
        ("a; b && c || d | e &", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("a > out 2>&1; b >>log <in; c 2>/dev/null", [("a",), ("b",), ("c",)]),
        ("a <one> <two>/x", [("a", "<one>", "<two>/x")]),
        ("P=/x\nQ=$P/y\na ${Q}/z $Q $OTHER", [("a", "/x/y/z", "/x/y", "$OTHER")]),
        ("export P=1; X=2 a $P $X", [("a", "1", "2")]),
        (
            "for i in {1..2} x; do a $i $((i-1)); done; b",
            [("a", "1", "0"), ("a", "2", "1"), ("a", "x", "${i-1}"), ("b",)],
        ),
        ("for i in 1 2\ndo\nfor j in a b\ndo\nc $i$j\ndone\ndone", [("c", f"{i}{j}") for i in "12" for j in "ab"]),
        ("a {b,c}/d", [("a", "b/d", "c/d")]),
        ("a $(rm -rf x) `rm y`", [("a", "$OUTPUT_OF_A_COMMAND", "$OUTPUT_OF_A_COMMAND")]),
        ("text\n```bash\na\n```\nmore\n```python\nb\n```\n~~~\nc\n~~~", [("a",), ("c",)]),
        ("", []),
    ],
)
def test_lines(text: str, expected: list[tuple[str, ...]]) -> None:
    assert words(text) == expected


def test_blocks_of_no_language_may_be_no_shell(tmp_path: Path) -> None:
    page = "```\nit's a tree\n```\n\n```\nfine 'x'\n```\n"
    assert [(command.words, command.is_shell) for command in read_commands(page, "a.md")] == [(("fine", "x"), False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb 'c", "a.sh: line 2: a ' has no end"),
        ("for i in {1..200}; do for j in {1..200}; do a; done; done", f"more than {MOST_COMMANDS:,} commands"),
        ("for i in {1..200}; do for j in {1..200}; do a=1; done; done", f"more than {MOST_COMMANDS:,} commands"),
        ("a\nb " + "c" * 20_000, "a.sh: line 2: 20,002 characters; valid: at most 20,000"),
        ("a\n" * 10_001, "a.sh: line 10001: more than 10,000 lines"),
        ("a " + "{b,c}" * 40, f"more than {MOST_COMMANDS:,} words"),
        ("a=xxxxxxxx\n" + "a=$a$a\n" * 60, "a value of more than 65,536 characters"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_commands(text, "a.sh")


def test_options() -> None:
    options = Options(("first",), switches=("on", "off"), lists=("many",), short={"w": "width"})
    line = ["one", "--on", "--no-off", "--many", "a", "b", "-w", "3", "--near=x=y", "two", "--other", "-5", "--last"]
    assert read_options(line, options) == {
        **{"first": "one", "on": True, "off": False, "many": ["a", "b"], "width": "3", "near": "x=y"},
        **{"argument 2": "two", "other": "-5", "last": True},
    }
    assert read_options(["--on", "False", "--many=a"], options) == {"on": "False", "many": ["a"]}
