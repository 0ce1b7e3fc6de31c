"""Lines of YAML with comments, for a file that people read and change."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

WIDTH: Final = 110


def scalar(value: Any) -> str:
    """Returns a value on one line, in quotes if it needs some."""
    for style in (None, '"'):
        text = yaml.safe_dump(
            value,
            default_flow_style=True,
            default_style=style,
            width=float("inf"),
            allow_unicode=True,
            sort_keys=False,
        )
        line = text.removesuffix("...\n").rstrip("\n")
        if "\n" not in line:
            break
    return line


class Lines:
    """Lines of a file, in order. commented: new lines are comments, which become YAML without their `# `."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def text(self) -> str:
        """Returns the file."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def blank(self) -> None:
        """Adds a blank line."""
        self._lines.append("")

    def note(self, text: str, indent: int = 0) -> None:
        """Adds a sentence as comment lines."""
        start = f"{' ' * indent}# "
        clean = "".join(char if char.isprintable() else " " for char in text)
        self._lines += textwrap.wrap(
            clean, WIDTH, initial_indent=start, subsequent_indent=start, break_long_words=False, break_on_hyphens=False
        )

    def pair(self, key: str, value: Any, indent: int = 0, why: str = "", *, first: bool = False) -> None:
        """Adds a key with its value; `why` stands before it. first: of an entry of a list."""
        lead = f"{' ' * (indent - 2)}- " if first else " " * indent
        if why and not first:
            self.note(why, indent)
        self._lines.append(f"{lead}{scalar(key)}:{'' if value is None else ' ' + scalar(value)}")

    def entry(
        self, values: Mapping[str, Any], indent: int, why: Mapping[str, str] | None = None, *, commented: bool = False
    ) -> None:
        """Adds an entry of a list, with mappings in it spread over lines."""
        inner = Lines()
        for number, (key, value) in enumerate(values.items()):
            reason = (why or {}).get(key, "")
            if isinstance(value, dict) and key == "input":
                inner.pair(key, None, indent, reason, first=not number)
                for name, one in value.items():
                    inner.pair(name, one, indent + 2, (why or {}).get(name, ""))
            else:
                inner.pair(key, value, indent, reason, first=not number)
        self.add(inner, commented=commented)

    def add(self, other: "Lines", *, commented: bool = False) -> None:
        """Adds the lines of another."""
        self._lines += [f"# {line}" if commented else line for line in other._lines]

    def notes(self, texts: Iterable[str], indent: int = 0) -> None:
        """Adds sentences, each on lines of its own."""
        for text in texts:
            self.note(text, indent)
