"""`corpus estimate`: the results and costs of the whole build, before it is run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.estimate import Estimate
from corpus_assets.estimate.extrapolation import Guess
from corpus_assets.estimate.run import Result, run_estimate
from corpus_assets.numbers import duration, size


@dataclass(frozen=True)
class Prices:
    """Prices of an hour of one core, and of a gigabyte (10^9 bytes) stored for a month; in any currency."""

    core_hour: float | None = None
    gb_month: float | None = None

    def of(self, found: Estimate) -> dict[str, float]:
        """Returns the cost of the build's CPU time, and of a month of its storage, as far as prices are known."""
        prices = {}
        if self.core_hour is not None:
            prices["cpu"] = round(found.cpu.value / 3600 * self.core_hour, 4)
        if self.gb_month is not None:
            prices["month"] = round(found.stored.value / 1e9 * self.gb_month, 4)
        return prices


def run(config: Path | None, changes: Sequence[str], seconds: float, prices: Prices, *, as_json: bool) -> None:
    """Estimates and prints."""

    def say(what: str) -> None:
        if not as_json:
            print_line(errors(), what)

    found = run_estimate(Corpus.open(config, changes, read_only=True), seconds, say)
    if as_json:
        print_json(_as_json(found, prices))
    else:
        _show(output(), found, prices)


def _as_json(result: Result, prices: Prices) -> dict[str, Any]:
    found = result.estimate
    stages = [
        {
            "asset": one.asset,
            "partitions": one.partitions,
            "cpu_seconds": _number(one.cpu),
            "seconds": _number(one.seconds),
            "bytes": _number(one.bytes),
            "rows": _number(one.rows),
            "due": round(one.due, 4),
            "recorded": one.recorded,
        }
        for one in found.stages
    ]
    return {
        "documents": _number(found.documents),
        "text_bytes": _number(found.text),
        "kept": _number(found.kept),
        "duplicates": asdict(found.duplicates),
        "kept_range": [round(one / found.expected, 4) if found.expected else 1.0 for one in found.range],
        "tokens": {name: _number(tokens) for name, tokens in found.tokens.items()},
        "cpu_seconds": _number(found.cpu),
        "cpu_seconds_due": round(found.due_cpu, 3),
        "start_cpu_seconds": round(found.start, 3),
        "driver_cpu_seconds": round(found.driver, 3),
        "wall_seconds": _number(found.wall),
        "disk_bytes": _number(found.stored),
        "memory_bytes": found.memory,
        "workers": found.workers,
        "prices": prices.of(found),
        "stages": stages,
        "read": {"bytes": result.read, "of_bytes": result.raw, "files": result.files, "of_files": result.of},
        "shares": result.shares,
        "seconds": round(result.seconds, 1),
    }


def _number(guess: Guess) -> dict[str, float]:
    return {"value": round(guess.value, 3), "error": round(guess.error, 3), "fixed": round(guess.fixed, 3)}


def _show(out: Console, result: Result, prices: Prices) -> None:
    found = result.estimate
    out.print(_table(found))
    for line in (*_of_texts(found), *_of_costs(found, prices), *_basis(result)):
        print_line(out, line)


def _table(found: Estimate) -> Table:
    table = Table(
        "stage", "partitions", "rows", "CPU", "", "of it fixed", "stored", "due now", box=None, pad_edge=False
    )
    for column in table.columns[1:]:
        column.justify = "right"
        column.no_wrap = True
    for one in found.stages:
        cpu = duration(one.cpu.value)
        error = "built" if one.recorded else _error(one.cpu)
        fixed = duration(one.cpu.fixed) if one.cpu.fixed >= 0.05 else ""
        rows = f"{one.rows.value:,.0f}"
        stored, due = size(one.bytes.value), f"{one.due:.0%}"
        table.add_row(one.asset, f"{one.partitions:,}", rows, cpu, error, fixed, stored, due)
    return table


def _error(guess: Guess) -> str:
    return f"± {guess.error / guess.value:.0%}" if guess.value > 0 and guess.error else ""


def _of_texts(found: Estimate) -> list[str]:
    lines = [f"{found.documents.value:,.0f} documents, {size(found.text.value)} of text; {_about(found.kept)} kept"]
    copies = found.duplicates
    if copies.most:
        lines.append(
            f"duplicates: {copies.found:.1%} in the samples, about {copies.expected:.1%} expected in the whole, "
            f"{copies.least:.1%} at least and {copies.most:.1%} at most: a sample has few of the copies of its rows"
        )
        least, most = (one / found.expected - 1 if found.expected else 0.0 for one in found.range)
        lines.append(f"what comes after them, tokens too, may be {least:+.1%} to {most:+.1%} for that")
    return [*lines, *(f"{name}: {_about(tokens)} tokens" for name, tokens in found.tokens.items())]


def _about(guess: Guess) -> str:
    return f"{guess.value:,.0f} {_error(guess)}".rstrip()


def _of_costs(found: Estimate, prices: Prices) -> list[str]:
    cpu, wall = found.cpu, found.wall
    costs = prices.of(found)
    lines = [
        f"CPU: {duration(cpu.value)} {_error(cpu)} ({cpu.value / 3600:.3f} hours), of it {duration(found.start)} for "
        f"the start of {found.workers} workers and {duration(found.driver)} for the process that drives them",
        f"time: about {duration(wall.value)} {_error(wall)}".rstrip(),
        f"memory: up to {size(found.memory)}",
        f"disk: {size(found.stored.value)} {_error(found.stored)}".rstrip(),
    ]
    if "cpu" in costs:
        lines.append(f"price of the CPU hours: {costs['cpu']:,.2f}")
    if "month" in costs:
        lines.append(f"price of a month on disk: {costs['month']:,.2f}")
    return lines


def _basis(result: Result) -> list[str]:
    if result.shares is None:
        return ["everything is built: these are the numbers of its records"]
    small, large = result.shares
    return [
        f"from samples of {small:.2%} and {large:.2%} of the rows of {result.files:,} of {result.of:,} raw files, in "
        f"{duration(result.seconds)}; ± is the spread between samples (95 %), not what grows unlike them"
    ]
