"""Linear programs: a compiled dense simplex method, and HiGHS for large and sparse ones."""
