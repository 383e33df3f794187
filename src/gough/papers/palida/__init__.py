"""PaLiDA: bias-free identification of a hexapod with large measurement noise [AHG]."""
