"""The built-in taggers, a module per subject."""
