"""Runs a snippet in a fresh interpreter whose floating-point state has been spoilt."""

import shutil
import subprocess
import sys
import textwrap

import pytest

ROUNDING = {
    "x86_64": {"to nearest": 0, "downward": 0x400, "upward": 0x800, "toward zero": 0xC00},
    "aarch64": {"to nearest": 0, "upward": 0x400000, "downward": 0x800000, "toward zero": 0xC00000},
}
ROUNDING["arm64"] = ROUNDING["aarch64"]
PREAMBLE = """
import ctypes, ctypes.util, platform
import numpy as np
libm = ctypes.CDLL(ctypes.util.find_library("m"))
def round_(direction):
    assert libm.fesetround({rounding}[platform.machine()][direction]) == 0
"""
# Written so that it compiles on both architectures; -ffast-math alone does it where crtfastmath.o is linked.
FLUSH = """
#if defined(__x86_64__)
#include <xmmintrin.h>
void flush(void) { _mm_setcsr(_mm_getcsr() | %(bits)s); }
#elif defined(__aarch64__)
void flush(void) { unsigned long s; __asm__ volatile("mrs %%0, fpcr" : "=r"(s));
                   __asm__ volatile("msr fpcr, %%0" : : "r"(s | (1UL << 24))); }
#endif
"""


def shared_library(folder, *flags, bits="0x8040"):
    """A shared library with a function flush(), compiled with the given flags."""
    if not (gcc := shutil.which("gcc")):
        pytest.skip("needs gcc to build a library that switches on flush-to-zero")
    source, library = folder / "flush.c", folder / "flush.so"
    source.write_text(FLUSH % {"bits": bits})
    built = subprocess.run([gcc, "-shared", "-fPIC", *flags, "-o", library, source], capture_output=True, check=False)
    if built.returncode:
        pytest.skip(f"gcc cannot build the library: {built.stderr.decode()[:200]}")
    return library


def run(snippet, timeout=120):
    """What the snippet prints, run in a fresh interpreter after the preamble."""
    program = PREAMBLE.format(rounding=ROUNDING) + textwrap.dedent(snippet)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
