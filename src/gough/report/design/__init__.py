"""Reports of designed trajectories."""
