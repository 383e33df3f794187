"""Data on disk: read and written exactly, refused clearly."""

from gough.data.problems import read_problem, write_problem
from gough.data.tables import read_table

__all__ = ["read_problem", "read_table", "write_problem"]
