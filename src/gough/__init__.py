"""gough."""
