"""Tests that need a C compiler."""

import shutil

import pytest

HAS_COMPILER = bool(shutil.which("cc") or shutil.which("gcc"))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="needs a C compiler")
