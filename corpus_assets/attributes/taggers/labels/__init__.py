"""Labels of languages with their script, by models that are local files."""
