"""Reports of dynamic identification."""
