"""The open benchmark: gough and its rivals on the same data, each in an environment of its own.

    make bench                                    # all tasks, all rivals
    python -m benchmarks arm-white --rival figaroh --rival gough

A task (`arm`, `bounded`, `hexapod`, `camera`) makes data and the truth; a rival's runner (`runners`) reads the data and
prints a line of JSON for each recording; `score` compares them with the truth. No data are made by gough.
"""
