"""Reports of certified geometry."""
