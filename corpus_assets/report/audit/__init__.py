"""Judgements of removed documents, as the report and the viewer show them."""
