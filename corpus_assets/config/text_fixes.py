"""The fixes of ftfy besides broken characters, under ftfy's own names."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag

from corpus_assets.config.section import Section


class TextFixes(Section):
    """The fixes of ftfy besides broken characters, under the names of its TextFixerConfig."""

    unescape_html: Literal["auto"] | bool = Field(
        "auto",
        description="entities such as `&amp;` become characters; `auto`: only before the first line with a `<`, "
        "which is taken for HTML",
    )
    fix_latin_ligatures: bool = Field(True, description="ligatures such as U+FB01 become letters: `fi`")
    fix_character_width: bool = Field(
        True, description="full-width letters, digits and signs, and half-width kana, get their usual width"
    )
    uncurl_quotes: bool = Field(True, description="curly quotation marks and apostrophes become straight ones")

    def unlike_default(self) -> dict[str, Any]:
        """Returns the values that differ from ftfy's defaults."""
        return {key: value for key, value in self.model_dump().items() if value != type(self).model_fields[key].default}


def _branch(value: Any) -> str:
    return "fixes" if isinstance(value, dict | BaseModel) else "whether"


Ftfy = Annotated[
    Annotated[bool, Tag("whether")] | Annotated[TextFixes, Tag("fixes")],
    Discriminator(_branch),
]
"""Whether ftfy fixes texts, or which of its fixes are applied."""
