"""The progress of a build on a terminal: a line for the whole, a bar per stage, and the work between stages.

Elsewhere, such as in a file, a line now and then says how far the build is; the bars follow at its end.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Column
from rich.text import Text
from typing_extensions import override

from corpus_assets.cli.build.memory import resident
from corpus_assets.cli.console import MAX_SHOWN, print_line
from corpus_assets.numbers import size
from corpus_assets.orchestration.building.report import ONE_BUILDER, Progress
from corpus_assets.orchestration.building.work import Work, dropped_phrases, rest_words, speed_words
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

WHOLE = "all"
_WIDE, _BAR, _SHORT_BAR = 120, 40, 10
"""Columns of a console with room for long bars, and lengths of bars."""
_NAME, _SHORT_NAME, _NUMBERS = 24, 8, 32
"""Columns of a name, its minimum, and the other columns that a narrow console shows before the words."""


_EVERY: Final = 30.0
"""Seconds between two lines where no bars are drawn."""


class WithStatus(Bars):
    """Bars, and above them a line for what is too long to stand beside a bar. status: its phrases."""

    status: Callable[[], Sequence[str]] | None = None
    _said, _line = 0.0, ""

    @override
    def get_renderables(self) -> Iterable[RenderableType]:
        if self.status is not None:
            if time.monotonic() - self._said >= _More.max_refresh:
                self._said, self._line = time.monotonic(), fitting(self.status(), self.console.width)
            yield Text(self._line, no_wrap=True, overflow="ellipsis")
        yield from super().get_renderables()


def fitting(phrases: Sequence[str], room: int) -> str:
    """Returns the first phrases that fit as a whole into so many columns."""
    words = ""
    for phrase in phrases:
        longer = f"{words}, {phrase}" if words else phrase
        if len(longer) > room:
            break
        words = longer
    return words


def new_bars(console: Console, *, disable: bool) -> WithStatus:
    """Returns bars with the columns that `BarPerStage` fills."""
    wide = console.width >= _WIDE
    named = _NAME if wide else min(_NAME, max(_SHORT_NAME, (console.width - _NUMBERS) // 2))
    names = Column(no_wrap=True, overflow="ellipsis", max_width=None if wide else named)
    return WithStatus(
        TextColumn(f"{{task.description:{named}}}", markup=False, table_column=names),
        BarColumn(_BAR if wide else _SHORT_BAR),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _More(max(1, console.width - named - _NUMBERS)),
        console=console,
        disable=disable,
        expand=True,
    )


class _More(ProgressColumn):
    """Words after a bar, computed at most once a second and only when the bar is drawn. room: columns for them.

    The field `words` of a task makes the phrases of which the first are shown, as far as they fit.
    """

    max_refresh = 1.0

    def __init__(self, room: int) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis", ratio=1, max_width=room))
        self._room = room

    @override
    def render(self, task: Task) -> Text:
        words: Callable[[], Sequence[str]] | None = task.fields.get("words")
        return Text(fitting(words(), self._room) if words else "")


class BarPerStage(Progress):
    """A bar for the whole and one per stage; below them one for work between stages. Errors appear above them."""

    def __init__(self, bars: Bars, at_first: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        """at_first: a sentence for the moment when it is known that there is something to compute."""
        self._clock = clock
        self._said = clock()
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
            self._bars.console.print(Text(self._at_first()))  # Wrapped, unlike what others may search for in a line.
        self._work, self._said = work, self._clock()
        self._whole = self._bars.add_task(WHOLE, total=work.due)
        if isinstance(self._bars, WithStatus) and self._bars.console.is_terminal:
            self._bars.status = lambda: whole_words(work)

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._end_of_word()
        self._stages[stage.name] = self._bars.add_task(stage.name, total=due, words=lambda: self._dropped(stage.name))

    def _dropped(self, name: str) -> list[str]:
        work = self._work.stages.get(name) if self._work else None
        return dropped_phrases(work.dropped) if work else []

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
        if self._clock() - self._said >= _EVERY:
            self._said = self._clock()
            self._say_how_far()

    def _say_how_far(self) -> None:
        console = self._bars.console
        if self._work is not None and not self._bars.disable and not console.is_terminal:
            far = f"{self._work.done:,} of {self._work.due:,} partitions"
            print_line(console, fitting([far, *whole_words(self._work)], console.width))

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
            if isinstance(self._bars, WithStatus):
                self._bars.status = None

    @override
    def warns(self, what: str) -> None:
        print_line(self._bars.console, what, "warning")

    def _end_of_word(self) -> None:
        if self._between is not None:
            self._bars.remove_task(self._between)
            self._between = None


def whole_words(work: Work) -> list[str]:
    """Returns the state of a build: time left, partitions being computed, raw bytes per second, and memory.

    Unknown values are left out.
    """
    parts = [*rest_words(work.left()), f"{work.running} running", *speed_words(work.bytes_per_second())]
    return [*parts, f"{size(resident())} of memory"]
