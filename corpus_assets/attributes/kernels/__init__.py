"""What numba compiles for the taggers. A text is an array of its code points (uint32)."""
