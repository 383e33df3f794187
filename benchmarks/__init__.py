"""Speed and honesty, as ratios against named rivals on the same data in one run."""
