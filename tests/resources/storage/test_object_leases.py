"""Leases in an object store: whatever happens to processes, clocks and replies, one process writes a partition."""

import copy
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, cast

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from typing_extensions import override

from corpus_assets.corpus.elsewhere import Elsewhere
from resources.errors import BuilderLostError, HeldError, LeaseLostError, StoreAccessError
from resources.ledger.ledger import REMOVED
from resources.planning.planner import Planner
from resources.stage.jobs.job import Outcome
from resources.storage.holders import Process
from resources.storage.leases import Held
from resources.storage.small_objects.builders import ObjectBuilders, Written, _living, _Presence, name_of
from resources.storage.small_objects.conditional import ChangedError, Found, Objects, create, replace
from resources.storage.small_objects.leases import ObjectLease, ObjectLeases
from resources.storage.small_objects.renewal import Renewable, Renewals

EXPIRY = 100.0
RECORD = "ledger/asset/one.json"
PROCESSES = 4


class FakeObjects(Objects):
    """A store in memory.

    lost: the next write is done, and its sender told of a conflict, as by a retried request. broken: deletes fail.
    """

    def __init__(self) -> None:
        self.content: dict[str, Found] = {}
        self.lost = False
        self.broken = False
        self._writes = 0

    @override
    def read(self, name: str) -> Found | None:
        return self.content.get(name)

    @override
    def write(self, name: str, content: bytes) -> str:
        self._writes += 1
        self.content[name] = Found(content, str(self._writes))
        return str(self._writes)

    @override
    def create(self, name: str, content: bytes) -> str:
        if name in self.content:
            raise ChangedError
        return self._written(name, content)

    @override
    def replace(self, name: str, content: bytes, version: str) -> str:
        if name not in self.content or self.content[name].version != version:
            raise ChangedError
        return self._written(name, content)

    def _written(self, name: str, content: bytes) -> str:
        version = self.write(name, content)
        if self.lost:
            self.lost = False
            raise ChangedError
        return version

    @override
    def delete(self, name: str) -> None:
        if self.broken:
            raise StoreAccessError(f"{name}: the store does not answer")
        self.content.pop(name, None)

    @override
    def names(self, folder: str) -> Iterator[str]:
        yield from [name for name in self.content if name.startswith(f"{folder}/")]


class ByHand(Renewals):
    """Renews nothing by itself."""

    @override
    def add(self, held: Renewable) -> None:
        del held

    @override
    def remove(self, held: Renewable) -> None:
        del held


def process(number: int, settings: str = "") -> Process:
    return Process(number, f"host{number}", "2030-01-01T00:00:00+00:00", settings, f"nonce{number}")


class Builder:
    """A process that writes one partition: it waits for the lease, takes it and commits, each when it is told to."""

    def __init__(self, number: int, objects: FakeObjects, ahead: float) -> None:
        self.number, self.objects, self.ahead = number, objects, ahead
        self.time = 0.0
        self.lease: ObjectLease | None = None
        self.seen: str | None = None
        self.elsewhere = Elsewhere(cast(Planner, None), self.now, lambda _: None)
        self.leases = ObjectLeases(objects, EXPIRY, self.now, ByHand())
        self.me = process(number)
        objects.write(name_of(self.me), b"")

    def now(self) -> float:
        """Its clock, which tells another time than those of others, and goes on while it is stopped."""
        return self.time + self.ahead

    def ask(self) -> None:
        list(self.elsewhere.due())
        found = self.leases.take("asset/one", self.me, self.elsewhere.expired(("asset", "one")))
        if isinstance(found, Held):
            self.elsewhere.takes(Outcome("asset/one", "asset", "one", held=found))
            return
        record = self.objects.read(RECORD)
        self.lease, self.seen = found, None if record is None else record.version

    def goes_on(self) -> None:
        """What it does by itself in the course of time."""
        if self.lease is None:
            if len(self.elsewhere):
                self.ask()
        elif self.lease.due <= self.now():
            try:
                self.lease.renew()
            except LeaseLostError:
                self.lease = None

    def requires(self) -> bool:
        """Whether it may write now, as far as it can tell."""
        try:
            assert self.lease is not None
            self.lease.require()
        except LeaseLostError:
            return False
        return True

    def would_write(self) -> bool:
        """What `requires` would say now; the store stays as it is."""
        if self.lease is None:
            return False
        before, lost, lease = dict(self.objects.content), self.objects.lost, self.lease
        self.objects.lost, self.lease = False, copy.copy(lease)
        found = self.requires()
        self.objects.content, self.objects.lost, self.lease = before, lost, lease
        return found


class Leases(RuleBasedStateMachine):
    """Any order of what processes do, of time that goes by, of stops and of lost replies."""

    def __init__(self) -> None:
        super().__init__()
        self.objects = FakeObjects()
        self.builders = [Builder(number, self.objects, 1000.0 * number) for number in range(PROCESSES)]
        self.stopped: set[int] = set()
        self.made: list[tuple[str | None, str]] = []

    def _running(self, number: int) -> Builder | None:
        return None if number in self.stopped else self.builders[number]

    @rule(number=st.integers(0, PROCESSES - 1))
    def asks(self, number: int) -> None:
        builder = self._running(number)
        if builder is not None and builder.lease is None:
            builder.ask()

    @rule(steps=st.integers(1, 8))
    def time_goes_by(self, steps: int) -> None:
        """Those that run renew what is due, and ask again for what they wait for."""
        for _ in range(steps):
            for builder in self.builders:
                builder.time += EXPIRY / 5
            for builder in self.builders:
                if builder.number not in self.stopped:
                    builder.goes_on()

    @rule(number=st.integers(0, PROCESSES - 1))
    def is_stopped(self, number: int) -> None:
        self.stopped.add(number)

    @rule(number=st.integers(0, PROCESSES - 1))
    def goes_on(self, number: int) -> None:
        self.stopped.discard(number)

    @precondition(lambda self: not self.objects.lost)
    @rule()
    def a_reply_will_be_lost(self) -> None:
        self.objects.lost = True

    @rule(number=st.integers(0, PROCESSES - 1), late=st.booleans())
    def removes(self, number: int, late: bool) -> None:
        """Removes the record before it writes files with plain names. late: as for `commits`."""
        builder = self._running(number)
        if builder is None or builder.lease is None or builder.seen is None or not (late or builder.requires()):
            return
        version = replace(self.objects, RECORD, REMOVED + str(len(self.made)).encode(), builder.seen)
        if version is None:
            builder.lease.release()
            builder.lease = None
            return
        self.made.append((builder.seen, version))
        builder.seen = version

    @rule(number=st.integers(0, PROCESSES - 1), late=st.booleans())
    def commits(self, number: int, late: bool) -> None:
        """Writes the record. late: it was stopped after it had looked whether it still has the lease."""
        builder = self._running(number)
        if builder is None or builder.lease is None:
            return
        if late or builder.requires():
            content = f"{number} {len(self.made)}".encode()
            if builder.seen is None:
                version = create(self.objects, RECORD, content)
            else:
                version = replace(self.objects, RECORD, content, builder.seen)
            if version is not None:
                self.made.append((builder.seen, version))
        builder.lease.release()
        builder.lease = None

    @invariant()
    def each_commit_replaces_the_one_before(self) -> None:
        versions = [None, *(version for _, version in self.made)]
        assert [seen for seen, _ in self.made] == versions[:-1]

    @invariant()
    def at_most_one_may_write(self) -> None:
        assert sum(builder.would_write() for builder in self.builders) <= 1


def test_whatever_happens_one_process_writes_a_partition() -> None:
    run_state_machine_as_test(Leases, settings=settings(max_examples=200, stateful_step_count=40, deadline=None))


def test_a_lease_is_taken_over_when_it_was_not_renewed_for_its_time_by_the_clock_of_who_waits() -> None:
    objects = FakeObjects()
    holder, waiter = Builder(0, objects, 0.0), Builder(1, objects, 5000.0)
    holder.ask()
    for _ in range(3):
        waiter.ask()
        waiter.time += EXPIRY / 2 - 1
    assert waiter.lease is None
    assert holder.lease is not None
    holder.lease.renew()
    waiter.time += EXPIRY / 2
    waiter.ask()
    assert waiter.lease is None, "a renewed lease begins its time again"
    waiter.time += EXPIRY
    waiter.ask()
    assert waiter.lease is not None
    with pytest.raises(LeaseLostError, match="asset/one"):
        holder.lease.renew()
    holder.lease.release()
    assert objects.read(".leases/asset/one.json") is not None, "it is another's by now"
    waiter.lease.release()
    assert objects.read(".leases/asset/one.json") is None


def test_who_holds_a_lease_is_said_in_words() -> None:
    objects = FakeObjects()
    Builder(0, objects, 0.0).ask()
    Builder(1, objects, 0.0)
    held = ObjectLeases(objects, EXPIRY, renewals=ByHand()).take("asset/one", process(1))
    assert isinstance(held, Held)
    assert held.who == "process 0 on host0, since 2030-01-01T00:00:00+00:00"
    assert held.expiry == EXPIRY


def test_the_lease_of_a_dead_worker_of_the_same_builder_is_taken_over_at_once() -> None:
    objects = FakeObjects()
    builder = Builder(0, objects, 0.0)
    builder.ask()
    before, builder.lease = builder.lease, None
    builder.ask()
    assert builder.lease is not None
    assert before is not None
    with pytest.raises(LeaseLostError):
        before.renew()


def test_the_lease_of_a_process_of_this_machine_that_has_ended_is_taken_over_at_once() -> None:
    code = "import os; from resources.processes.alive import birth; print(os.getpid(), *birth(os.getpid()))"
    pid, place, ticks = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.split()
    objects = FakeObjects()
    holder, waiter = Builder(0, objects, 0.0), Builder(1, objects, 0.0)
    holder.me = msgspec.structs.replace(holder.me, process=int(pid), place=place.decode(), ticks=int(ticks))
    holder.ask()
    waiter.ask()
    assert waiter.lease is not None
    assert objects.read(name_of(holder.me)) is None
    assert holder.lease is not None
    holder.time += 2.0
    with pytest.raises(BuilderLostError):  # A worker of it may still run.
        holder.lease.require()


def test_a_store_that_fails_when_all_is_done_takes_nothing_back() -> None:
    objects = FakeObjects()
    builder = Builder(0, objects, 0.0)
    with builders(objects).join(process(1), alone=False):
        builder.ask()
        objects.broken = True
        assert builder.lease is not None
        builder.lease.release()
        assert builder.lease.due == float("inf"), "nobody renews it any more"
    assert set(objects.content) == {".leases/asset/one.json", name_of(process(0)), name_of(process(1))}


def test_who_was_given_up_writes_nothing_and_takes_no_lease() -> None:
    objects = FakeObjects()
    builder = Builder(0, objects, 0.0)
    builder.ask()
    assert builder.lease is not None
    objects.delete(name_of(builder.me))
    with pytest.raises(BuilderLostError, match="process 0 on host0"):
        builder.lease.require()
    builder.lease.release()
    with pytest.raises(BuilderLostError, match="process 0 on host0"):
        builder.leases.take("asset/one", builder.me)
    assert objects.content == {}


def test_who_begins_looks_at_the_sign_of_its_builder_once_a_second() -> None:
    class Counted(FakeObjects):
        looks = 0

        @override
        def read(self, name: str) -> Found | None:
            self.looks += name.startswith(".builders/")
            return super().read(name)

    objects = Counted()
    builder = Builder(0, objects, 0.0)
    for _ in range(5):
        builder.ask()
        assert builder.lease is not None
        builder.lease.release()
    assert objects.looks == 1
    builder.time += 1
    builder.ask()
    assert objects.looks == 2
    assert builder.lease is not None
    builder.lease.require()
    assert objects.looks == 3, "before it writes it checks again"


def lost(**given: Any) -> Outcome:
    return Outcome("asset/one", "asset", "one", error="taken over", **given)


def test_a_partition_whose_lease_is_lost_again_and_again_fails() -> None:
    time = count(step=10)
    elsewhere = Elsewhere(cast(Planner, None), lambda: next(time))
    held = Outcome("asset/one", "asset", "one", held=Held("another process"))
    taken = []
    for _ in range(5):
        assert elsewhere.takes(held), "to wait is no loss"
        assert list(elsewhere.due()) == [("asset", "one")]
        taken.append(elsewhere.takes(lost(held=Held("taken over"))))
        list(elsewhere.due())
    assert taken == [True, True, True, True, False]


def test_a_builder_that_was_given_up_ends() -> None:
    with pytest.raises(BuilderLostError, match="taken over"):
        Elsewhere(cast(Planner, None)).takes(lost(lost=True))


def builders(objects: FakeObjects, *, may_share: bool = True, expiry: float = EXPIRY) -> ObjectBuilders:
    return ObjectBuilders(objects, "s3://bucket", expiry, may_share)


class OfAnotherMachine(FakeObjects):
    """The same store, as another process sees it: this one has not joined its builders."""

    def __init__(self, store: FakeObjects) -> None:
        super().__init__()
        self.content = store.content
        self._signs = count(1000)

    @override
    def read(self, name: str) -> Found | None:
        """Who looks at another twice sees that it has given a sign of life meanwhile."""
        found = super().read(name)
        if found is None:
            return None
        written = msgspec.json.decode(found.content, type=Written)
        return Found(msgspec.json.encode(msgspec.structs.replace(written, sign=next(self._signs))), found.version)


def test_builders_with_the_same_settings_share_a_store_and_see_each_other() -> None:
    store = FakeObjects()
    with builders(store).join(process(1), alone=False) as first:
        assert first == []
        with builders(OfAnotherMachine(store)).join(process(2), alone=False) as second:
            assert [other.process for other in second] == [1]
    assert store.content == {}


@pytest.mark.parametrize(
    ("other", "alone", "may_share", "words"),
    [
        (process(2, "other settings"), False, True, "with another configuration"),
        (process(2), True, True, "wait until it is done"),
        (process(2), False, False, "cannot hold leases: only one may build"),
    ],
)
def test_who_may_not_join_is_told_who_builds_and_why(other: Process, alone: bool, may_share: bool, words: str) -> None:
    store = FakeObjects()
    with (
        builders(store, may_share=may_share, expiry=2.0).join(process(1), alone=False),
        pytest.raises(HeldError, match=rf"s3://bucket: process 1 on host1.* is building on this store.*{words}"),
        builders(OfAnotherMachine(store), may_share=may_share).join(other, alone=alone),
    ):
        pass
    assert store.content == {}


def test_a_builder_that_gives_no_sign_is_thought_dead_after_its_time() -> None:
    store = FakeObjects()
    with builders(store, expiry=0.2).join(process(1), alone=True):
        silent = FakeObjects()
        silent.content = dict(store.content)
    with builders(silent).join(process(2), alone=True) as others:
        assert others == []
        assert list(silent.content) == [name_of(process(2))]


class Passing(FakeObjects):
    """A store whose other builder, which is there at first, goes on in the moment when somebody reads its sign twice.

    then: what it writes; None if it ends.
    """

    def __init__(self, first: Written, then: Written | None) -> None:
        super().__init__()
        self._name, self._then, self._reads = name_of(first.process), then, 0
        self.seen: list[str] = []
        self.write(self._name, msgspec.json.encode(first))

    @override
    def read(self, name: str) -> Found | None:
        self._reads += name == self._name
        if self._reads == 2:
            self.seen = list(self.content)
            self.delete(self._name)
            if self._then is not None:
                self.write(self._name, msgspec.json.encode(self._then))
        return super().read(name)


SHARING = Written(process(1), alone=False, expiry=EXPIRY, sign=1)


@pytest.mark.parametrize(("then", "alone"), [(None, False), (None, True), (SHARING, False)])
def test_who_meets_one_that_holds_the_store_for_a_moment_waits_and_keeps_nobody_out_meanwhile(
    then: Written | None, alone: bool
) -> None:
    store = Passing(Written(process(1), alone=True, expiry=EXPIRY), then)
    with builders(store).join(process(2), alone=alone) as others:
        assert [other.process for other in others] == ([] if then is None else [1])
        assert name_of(process(2)) in store.content
    assert store.seen == [name_of(process(1))]
    assert name_of(process(2)) not in store.content


def test_who_wants_a_store_alone_does_not_get_it_from_one_that_shares_it_now() -> None:
    store = Passing(Written(process(1), alone=True, expiry=EXPIRY), SHARING)
    with pytest.raises(HeldError, match="process 1"), builders(store).join(process(2), alone=True):
        pass
    assert list(store.content) == [name_of(process(1))]


def always(_: Written) -> bool:
    """Every builder keeps this one out."""
    return True


def signs_of(numbers: Iterable[int], expiry: float) -> FakeObjects:
    """A store with the signs of builders of other machines."""
    store = FakeObjects()
    for number in numbers:
        written = Written(process(number), alone=False, expiry=expiry)
        store.write(name_of(written.process), msgspec.json.encode(written))
    return store


def test_dead_builders_are_waited_for_together() -> None:
    store, waited = signs_of(range(5), EXPIRY), [0.0]

    def sleep(seconds: float) -> None:
        waited[0] += seconds

    others = [Written(process(number), alone=False, expiry=EXPIRY) for number in range(5)]
    assert _living(store, others, always, lambda: waited[0], sleep) is None
    assert EXPIRY <= waited[0] < 1.1 * EXPIRY
    assert store.content == {}


def test_one_that_lives_among_dead_builders_is_named() -> None:
    store, steps = signs_of(range(3), EXPIRY), count()

    def sleep(_: float) -> None:
        if next(steps) == 2:
            written = Written(process(1), alone=False, expiry=EXPIRY, sign=1)
            store.write(name_of(written.process), msgspec.json.encode(written))

    others = [Written(process(number), alone=False, expiry=EXPIRY) for number in range(3)]
    found = _living(store, others, always, lambda: 0.0, sleep)
    assert found is not None and found.process == process(1)


def test_builders_that_share_a_store_remove_those_that_gave_no_sign_meanwhile() -> None:
    store = signs_of((1, 2), 0.0)
    dead = name_of(process(3))
    store.write(dead, msgspec.json.encode(Written(process(3), alone=False, expiry=EXPIRY)))
    with builders(store).join(process(4), alone=False) as others:
        assert {other.process for other in others} == {1, 2, 3}
        living = Written(process(2), alone=False, expiry=0.0, sign=1)
        store.write(name_of(process(2)), msgspec.json.encode(living))
    assert set(store.content) == {name_of(process(2)), dead}


class Busy(FakeObjects):
    """A store that refuses some conditional writes although nobody changed the object."""

    refuses = 0

    @override
    def replace(self, name: str, content: bytes, version: str) -> str:
        if self.refuses:
            self.refuses -= 1
            raise ChangedError
        return super().replace(name, content, version)


def test_a_write_that_is_refused_without_a_change_is_tried_again() -> None:
    objects = Busy()
    version = objects.create("one", b"1")
    objects.refuses = 3
    new = replace(objects, "one", b"2", version)
    assert objects.read("one") == Found(b"2", str(new))
    objects.refuses = 100
    with pytest.raises(StoreAccessError, match="one: the store refuses"):
        replace(objects, "one", b"3", str(new))
    assert replace(objects, "one", b"3", "older") is None


class Late(FakeObjects):
    """A store that does a write once more after the one that follows it, as a busy server does with a repeated one."""

    before: tuple[str, bytes] | None = None

    @override
    def replace(self, name: str, content: bytes, version: str) -> str:
        new = super().replace(name, content, version)
        if self.before is not None:
            self.write(*self.before)
        self.before = name, content
        return new


def test_a_sign_that_comes_late_is_no_loss() -> None:
    objects = Late()
    presence = _Presence(objects, Written(process(0), alone=False, expiry=EXPIRY), objects, conditional=True)
    for _ in range(3):
        presence.renew()
    found = objects.read(name_of(process(0)))
    assert found is not None and b'"sign":2' in found.content
    objects.delete(name_of(process(0)))
    with pytest.raises(BuilderLostError):
        presence.renew()


def test_a_renewal_that_comes_late_is_no_loss_but_a_lease_of_another_is() -> None:
    objects, builder = Late(), process(0)
    objects.write(name_of(builder), b"")
    lease = ObjectLeases(objects, EXPIRY, lambda: 0.0, ByHand()).take("asset/one", builder)
    assert isinstance(lease, ObjectLease)
    for _ in range(3):
        lease.renew()
    theirs = FakeObjects()
    theirs.write(name_of(process(1)), b"")
    assert isinstance(ObjectLeases(theirs, EXPIRY, lambda: 0.0, ByHand()).take("asset/one", process(1)), ObjectLease)
    (path,) = theirs.names(".leases")
    objects.content[path] = Found(theirs.content[path].content, "another")
    with pytest.raises(LeaseLostError):
        lease.renew()


@pytest.mark.parametrize("may_share", [True, False])
def test_who_was_given_up_gives_no_sign_again(may_share: bool) -> None:
    objects = FakeObjects()
    me = Written(process(0), alone=False, expiry=EXPIRY)
    presence = _Presence(objects, me, objects, conditional=may_share)
    presence.renew()
    found = objects.read(name_of(process(0)))
    assert found is not None and b'"sign":1' in found.content
    objects.delete(name_of(process(0)))
    with pytest.raises(BuilderLostError):
        presence.renew()
    presence.renew()
    assert (objects.content, presence.due) == ({}, float("inf"))


def test_renewals_go_over_requests_that_are_soon_given_up() -> None:
    class Unreachable(FakeObjects):
        @override
        def replace(self, name: str, content: bytes, version: str) -> str:
            raise StoreAccessError(f"{name}: no answer")

    objects, builder = FakeObjects(), process(0)
    objects.write(name_of(builder), b"")
    time = count(step=60)
    leases = ObjectLeases(objects, EXPIRY, lambda: float(next(time)), ByHand(), Unreachable())
    lease = leases.take("asset/one", builder)
    assert isinstance(lease, ObjectLease)
    with pytest.raises(StoreAccessError, match="no answer"):
        lease.renew()
    lease.require()


def test_a_machine_that_refuses_a_thread_once_renews_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Due:
        due = 0.0
        renewed = threading.Event()

        def renew(self) -> None:
            self.due = float("inf")
            self.renewed.set()

    def refuses(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    renewals, held = Renewals(), Due()
    with monkeypatch.context() as refused, pytest.raises(RuntimeError, match="can't start new thread"):
        refused.setattr(threading.Thread, "start", refuses)
        renewals.add(Due())
    renewals.add(held)
    assert held.renewed.wait(10)


@pytest.mark.parametrize(("owner", "said"), [(True, "others went on without it"), (False, "removed or emptied")])
def test_a_store_that_was_deleted_is_told_from_a_builder_that_was_given_up(owner: bool, said: str) -> None:
    objects = FakeObjects()
    if owner:
        objects.write("owner.json", b"{}")
    builder = Builder(0, objects, 0.0)
    builder.ask()
    assert builder.lease is not None
    objects.delete(name_of(builder.me))
    with pytest.raises(BuilderLostError, match=said):
        builder.lease.require()
