"""Studies: one TOML file that says robot, data, methods and outputs."""
