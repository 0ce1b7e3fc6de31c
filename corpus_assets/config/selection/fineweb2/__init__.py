"""`filter.fineweb2`: the languages of the preset, and the limits of each."""
