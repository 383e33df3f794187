"""Reports of selected poses."""
