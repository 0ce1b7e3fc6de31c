"""Options that all datasets in the formats of trainers share."""

from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from corpus_assets.config.datasets.files import Files, TextInput
from corpus_assets.config.datasets.options import TEXTS_ONLY, Cleaning, Reading, with_texts
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.datasets.weights import Weights
from corpus_assets.config.naming import TOKEN

Separator = Literal["after", "before", "none"]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=100)]
"""The beginning of a file's name."""


class Export(Cleaning, Reading):
    """Options that every format has.

    most_ids: size of the vocabulary up to which the format can hold ids; None: 2^31 - 1.
    keeps_empty: rows of files of its own whose text is empty are documents; else they are bad rows.
    convention: which ids files say are learned, and how; None for plain texts, of which all are.
    in_part: documents are learned in part, as their stream says.
    later: options that were added to a format later. Unset ones are in no recipe, so that older files stay fresh.
    """

    most_ids: ClassVar[int | None] = None
    keeps_empty: ClassVar[bool] = False
    later: ClassVar[Set[str]] = frozenset()
    convention: ClassVar[str | None] = None
    in_part: ClassVar[bool] = False

    input: TextInput = Field("decontaminated_train", description="a split of the corpus, or files of its own")
    weights: Weights | None = Field(None, description="tokens by source; by default those of the documents")
    separator: Separator = Field("after", description="place of the separator of documents")
    separator_token: Annotated[str | None, TOKEN] = Field(
        None, description="the separator; by default end-of-text after, and begin-of-text before, if there is one"
    )

    @property
    def separator_texts(self) -> tuple[str | None, str | None] | None:
        """Returns the configured texts whose ids stand before and after each document."""
        return None

    @property
    def first_token(self) -> str | None:
        """Returns the token before each document, if there is one besides the separator after it."""
        return None

    @property
    def keeps_own_separators(self) -> bool:
        """Returns whether a document that already begins or ends with a separator gets no second one."""
        return False

    @property
    def more_parameters(self) -> Mapping[str, Any]:
        """Returns further parameters that files depend on; only datasets that have them depend on them."""
        return {}

    @property
    def tells_learned(self) -> bool:
        """Returns whether its files say which ids are learned."""
        return False

    @property
    def has_rows(self) -> bool:
        """Returns whether documents share rows."""
        return False

    @property
    def is_held_out(self) -> bool:
        """Returns whether the documents are those of a split that is not trained on."""
        return self.input in ("holdout", "validation", "test")

    def problems(self) -> Iterator[str]:
        """Yields what is wrong with options that are valid each by itself."""
        if isinstance(self.input, Files):
            yield from self.input.problems("text")
        if isinstance(self.input, TokenFiles):
            yield from self.input.problems()
            yield from with_texts(self, {**TEXTS_ONLY, "compat": ("dolma",)})
        if self.separator == "none" and self.separator_token is not None:
            yield f"separator_token is {self.separator_token!r}; valid with `separator: none`: none"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for problem in self.problems():
            raise ValueError(problem)
        return self
