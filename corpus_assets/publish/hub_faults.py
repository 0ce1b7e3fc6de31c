"""Faults of writing to the hub, in our words: those of its client hold signed addresses, and advice for programs."""

from collections.abc import Iterator
from contextlib import contextmanager

from resources.errors import ConfigError, CorpusError, StorageError
from resources.hub_client import PASSING, cause_of, faults_of_connections, first_line, has_answer, status_of
from resources.raw_places.addresses import HubAddress

UNPUBLISHED = "nothing was published"
_SHOWN = 300


@contextmanager
def faults_in_words(place: HubAddress) -> Iterator[None]:
    """Translates what the hub's client raises while something is published; each sentence says that nothing was."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        translated = _translated(place, cause_of(error))
        if translated is None:
            raise
        raise translated from None


def _translated(place: HubAddress, error: BaseException) -> CorpusError | None:
    from huggingface_hub import errors

    where = named(place)
    status = status_of(error)
    if isinstance(error, errors.OfflineModeIsEnabled):
        return StorageError(f"{where}: the hub is not asked, since HF_HUB_OFFLINE is set; {UNPUBLISHED}")
    if isinstance(error, errors.RevisionNotFoundError):
        return ConfigError(f"{where}: the hub has no branch {place.revision!r}; make it there first; {UNPUBLISHED}")
    if isinstance(error, errors.RepositoryNotFoundError):
        return ConfigError(
            f"{where}: the hub has no such dataset, or does not show it to this token (HF_TOKEN, or `hf auth login`); "
            f"--create makes a private one; {UNPUBLISHED}"
        )
    if status in (401, 403):
        return ConfigError(
            f"{where}: the hub answers {status}: the token (HF_TOKEN, or `hf auth login`) has no right to write there; "
            f"{UNPUBLISHED}"
        )
    if status == 412:
        return moved(place)
    if isinstance(error, (errors.HfHubHTTPError, *faults_of_connections())):
        answer = f"answers {status}" if has_answer(error) else f"breaks off ({type(error).__name__})"
        said = f": {_said(error)}" if has_answer(error) and status not in PASSING else ""
        return StorageError(f"{where}: the hub {answer}{said}; {UNPUBLISHED}; the same command sends what is missing")
    if isinstance(error, (ValueError, KeyError, TypeError)):
        return StorageError(f"{where}: the hub refuses, or its answer cannot be understood: {_first_line(error)}")
    return None


def moved(place: HubAddress) -> StorageError:
    """Returns the fault of a branch that got another commit meanwhile."""
    return StorageError(
        f"{named(place)}: the branch {place.revision} got another commit meanwhile; {UNPUBLISHED}; look at it, and "
        "run the same command again: what was sent is not sent again"
    )


def named(place: HubAddress) -> str:
    """Returns the dataset as messages name it."""
    return f"hf://datasets/{place.repository}@{place.revision}"


def _said(error: BaseException) -> str:
    """Returns what the server says, without the address that was asked."""
    words = str(getattr(error, "server_message", "") or "no reason is given")
    return first_line(" ".join(words.split()))[:_SHOWN]


def _first_line(error: BaseException) -> str:
    return (first_line(str(error)) or type(error).__name__)[:_SHOWN]
