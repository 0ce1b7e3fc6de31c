"""Windows of ids, mixed like LLM360's Amber data (docs/formats/trainers.md "Amber")."""
