"""The H4: dynamic parameters by interval analysis [PRV03i] and by ellipsoids [PRV03e]."""
