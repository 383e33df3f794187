"""Design of experiments: exciting trajectories and measurement poses."""
