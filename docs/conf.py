"""Configuration of the site: `make docs` builds it, offline, and every warning is an error."""

import sys
from pathlib import Path

import gough

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "gough"
author = "The gough developers"
copyright = author  # noqa: A001 - the name that Sphinx asks for
version = release = gough.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "myst_nb",
    "api_reference",
    "command_reference",
    "docstrings",
    "figures_by_theme",
    "source_pages",
]
exclude_patterns = ["_build", "_extensions", "_gallery"]
templates_path: list[str] = []

nitpicky = True
# Names of other libraries and of the standard library: their inventories are on the net, and the site builds offline.
nitpick_ignore_regex = [
    (r"py:.*", r"(abc|builtins|collections|concurrent|contextlib|dataclasses|enum|fractions)(\..*)?"),
    (r"py:.*", r"(os|pathlib|types|typing)(\..*)?"),
    (r"py:.*", r"(casadi|matplotlib|mujoco|np|numpy|numpy\.typing|pinocchio|polars|pydantic|scipy)(\..*)?"),
    (r"py:class", r"Figure|Path|tuple\[.*"),
]

suppress_warnings = ["ref.python"]  # forward references by short names that several modules have

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "show-inheritance": True}
autosummary_generate = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "gough"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_gallery"]
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("benchmarks", "changelog")}  # they have no pages below them
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
