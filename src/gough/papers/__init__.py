"""The papers that gough grew out of: their tables beside those of virtual experiments."""
