"""Why an example gives no row."""

from typing import Final

from resources.errors import CorpusError

REASONS: Final = (
    *("no_prompt", "no_response", "equal_responses", "not_texts", "not_messages"),
    *("bad_tools", "bad_system", "bad_tool_call", "other_message_key", "no_label", "label_not_boolean"),
)


class RefusedError(CorpusError):
    """An example that gives no row; `reason` is the key it is counted under, one of `REASONS`."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason

    def __reduce__(self) -> tuple[type["RefusedError"], tuple[str, str]]:
        return (type(self), (self.reason, str(self)))
