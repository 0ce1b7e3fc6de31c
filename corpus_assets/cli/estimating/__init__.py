"""`corpus estimate`: of the whole build, or of one more source."""
