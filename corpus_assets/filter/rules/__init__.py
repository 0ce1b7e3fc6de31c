"""Row rules of section `filter`, a module per kind."""
