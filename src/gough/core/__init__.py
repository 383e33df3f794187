"""Arrays, errors, units, text, intervals and verified arithmetic, for all other packages."""
