"""How long the rest of a build takes."""
