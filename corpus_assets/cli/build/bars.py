"""The progress of a build on a terminal: a line for the whole, a bar per stage, and the work between stages."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Column
from rich.text import Text
from typing_extensions import override

from corpus_assets.cli.build.memory import resident
from corpus_assets.cli.console import MAX_SHOWN, print_line
from corpus_assets.numbers import size
from corpus_assets.orchestration.building.report import ONE_BUILDER, Progress
from corpus_assets.orchestration.building.work import Work, dropped_words, rest_words, speed_words
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

WHOLE = "all"
_WIDE, _BAR, _SHORT_BAR = 120, 40, 10
"""Columns of a console with room for long bars, and lengths of bars."""
_NAME, _SHORT_NAME, _NUMBERS = 24, 8, 32
"""Columns of a name, its minimum, and the other columns that a narrow console shows before the words."""


def new_bars(console: Console, *, disable: bool) -> Bars:
    """Returns bars with the columns that `BarPerStage` fills."""
    wide = console.width >= _WIDE
    named = _NAME if wide else min(_NAME, max(_SHORT_NAME, (console.width - _NUMBERS) // 2))
    names = Column(no_wrap=True, overflow="ellipsis", max_width=None if wide else named)
    return Bars(
        TextColumn(f"{{task.description:{named}}}", markup=False, table_column=names),
        BarColumn(_BAR if wide else _SHORT_BAR),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _More(Column(no_wrap=True, overflow="ellipsis", ratio=1, max_width=max(1, console.width - named - _NUMBERS))),
        console=console,
        disable=disable,
        expand=True,
    )


class _More(ProgressColumn):
    """Words after a bar, computed at most once a second and only when the bar is drawn."""

    max_refresh = 1.0

    @override
    def render(self, task: Task) -> Text:
        words: Callable[[], str] | None = task.fields.get("words")
        return Text(words() if words else "")


class BarPerStage(Progress):
    """A bar for the whole and one per stage; below them one for work between stages. Errors appear above them."""

    def __init__(self, bars: Bars, at_first: Callable[[], str]) -> None:
        """at_first: a sentence for the moment when it is known that there is something to compute."""
        self._bars = bars
        self._at_first = at_first
        self._work: Work | None = None
        self._whole: TaskID | None = None
        self._stages: dict[str, TaskID] = {}
        self._between: TaskID | None = None
        self._aside: TaskID | None = None
        self._errors = 0

    @override
    def doing(self, what: str) -> None:
        self._end_of_word()
        self._between = self._bars.add_task(f"{what} ...", total=None)

    @override
    def aside(self, what: str) -> None:
        if self._aside is not None:
            self._bars.remove_task(self._aside)
        self._aside = self._bars.add_task(f"{what} ...", total=None) if what else None

    @override
    def shares(self, builders: Sequence[str]) -> None:
        for builder in builders:
            print_line(self._bars.console, f"{builder} builds on this store too; they share the work")

    @override
    def alone(self, place: str) -> None:
        print_line(self._bars.console, ONE_BUILDER.format(place))

    @override
    def begins(self, work: Work) -> None:
        self._end_of_word()
        if not self._bars.disable:
            print_line(self._bars.console, self._at_first())
        self._work = work
        self._whole = self._bars.add_task(WHOLE, total=work.due, words=lambda: whole_words(work))

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._end_of_word()
        self._stages[stage.name] = self._bars.add_task(stage.name, total=due, words=lambda: self._dropped(stage.name))

    def _dropped(self, name: str) -> str:
        work = self._work.stages.get(name) if self._work else None
        return dropped_words(work.dropped, 2) if work else ""

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._errors += 1
            if self._errors <= MAX_SHOWN:
                print_line(self._bars.console, f"{outcome.name}: {outcome.error}", "failed")
        if outcome.asset in self._stages:
            self._bars.advance(self._stages[outcome.asset])
            if self._whole is not None:
                self._bars.advance(self._whole)

    @override
    def settled(self, stage: Stage) -> None:
        if self._whole is not None and self._work is not None:
            self._bars.update(self._whole, total=self._work.due, completed=self._work.done)
            if (work := self._work.stages.get(stage.name)) and stage.name in self._stages:
                self._bars.update(self._stages[stage.name], total=work.due, completed=work.due)

    @override
    def done(self) -> None:
        self._end_of_word()
        if self._whole is not None and self._work is not None:  # What was never begun waits: the report says for what.
            self._bars.update(self._whole, total=self._work.done, completed=self._work.done)

    @override
    def warns(self, what: str) -> None:
        print_line(self._bars.console, what, "warning")

    def _end_of_word(self) -> None:
        if self._between is not None:
            self._bars.remove_task(self._between)
            self._between = None


def whole_words(work: Work) -> str:
    """Returns the state of a build: time left, partitions being computed, raw bytes per second, and memory.

    A narrow console cuts the end. Unknown values are left out.
    """
    parts = [*rest_words(work.left()), f"{work.running} running", *speed_words(work.bytes_per_second())]
    return ", ".join([*parts, f"{size(resident())} of memory"])
