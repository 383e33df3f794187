"""The part to trust stands alone."""

import subprocess
import sys


def test_the_checker_imports_no_method_and_no_robot():
    code = "import sys, gough.checker; print(*[m for m in sys.modules if m.startswith('gough.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    packages = {module.split(".")[1] for module in loaded}
    assert packages == {"core", "checker", "answers", "region", "unknowns", "noise", "problem", "evidence", "estimates"}
