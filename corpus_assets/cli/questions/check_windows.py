"""`corpus check-windows`: checks files of windows line by line, as Amber's data has them."""

from pathlib import Path

from corpus_assets.cli.console import FAILED, errors, output, print_line
from corpus_assets.export.amber.check import Rule, checked_lines
from resources.errors import CorpusError
from resources.formats.codecs import open_gzip


def run(files: list[Path], rule: Rule) -> int:
    """Checks all files and prints bad lines; returns the exit code, 1 if there are any."""
    return max([_check(file, rule) for file in files], default=0)


def _check(path: Path, rule: Rule) -> int:
    """Prints the bad lines of a file as they are found, then the number of lines and the bad ones."""
    out, failed, lines = output(), list[int](), 0
    try:
        with path.open("rb") as raw, open_gzip(raw) if path.suffix == ".gz" else raw as content:
            for line in checked_lines(content, rule):
                lines = line.number
                if line.fault:
                    print_line(out, line.fault)
                    failed.append(lines)
    except (OSError, CorpusError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        print_line(errors(), f"{path}: {why}", "failed")
        return FAILED
    print_line(out, f"{path}: {lines} lines, {len(failed)} bad{f': {failed}' if failed else ''}")
    return FAILED if failed else 0
