"""Attribute rows under the name of their module in version 0.1, for stages that were written for it."""

from resources.formats.attributes import AttributeRow, attribute_line, attribute_rows

__all__ = ["AttributeRow", "attribute_line", "attribute_rows"]
