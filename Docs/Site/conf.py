# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx configuration of the site that Utilities/site builds from the Markdown pages of the repository.

The pages link each other as in a repository browser. They have no directives of Sphinx: the navigation is the list
below, which is added to the front page.
"""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Captions of the side bar, and their pages. A pattern stands for all other pages that match it.
NAVIGATION = {
    "Start": ["Docs/Start/Picture", "Docs/Start/YourData", "Docs/Start/Script", "Docs/Start/InSitu"],
    "User guide": [
        "Docs/Guide/README",
        "Docs/Guide/StreamTracer",
        "Docs/Guide/PathTracer",
        "Docs/Guide/FlowMap",
        "Docs/Guide/Connectivity",
        "Docs/Guide/FeatureTracker",
        "Docs/Guide/ConvectionDiffusion",
        "Docs/Guide/HarmonicFill",
        "Docs/Guide/Events",
        "Docs/Guide/Velocity",
        "Docs/Guide/Periodic",
        "Docs/Guide/Parallel",
        "Docs/Guide/KnownProblems",
        "Docs/Guide/Library",
    ],
    "Recipes": ["Docs/Recipes/*"],
    "Reference": [
        "Docs/Reference", "Docs/Guarantees", "Docs/Comparison", "Docs/*", "Benchmarks/README", "Benchmarks/REPORT",
        "Data/README",
    ],
    "Code": ["CONTRIBUTING", "CHANGELOG", "Core/Tributary/**/README", "Testing/*/README"],
}


def version_of_project():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(Tributary\s+VERSION (\S+)", file.read()).group(1)


project = "Tributary"
version = release = version_of_project()
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
exclude_patterns = ["build", "build-*", ".*"]
myst_heading_anchors = 4
html_theme = "alabaster"
html_theme_options = {
    "description": "Asynchronous analysis of distributed data",
    "page_width": "1320px",  # wide enough for code of 120 characters
    "code_font_size": "0.8em",
}
html_copy_source = False
html_show_copyright = False


def add_navigation(app, page, source):
    """Adds the lists of pages to the front page."""
    if page != root_doc:
        return
    for caption, pages in NAVIGATION.items():
        directive = ["", "```{toctree}", ":hidden:", ":glob:", f":caption: {caption}", "", *pages, "```", ""]
        source[0] += "\n".join(directive)


def link_api(app, page, template, context, tree):
    """Adds the pages that Doxygen has written to the side bar."""
    context["theme_extra_nav_links"] = {"C++ API": context["pathto"]("api/index.html", resource=True)}


def setup(app):
    app.add_config_value("navigation", NAVIGATION, "env")  # reads all pages again if it has changed
    app.connect("source-read", add_navigation)
    app.connect("html-page-context", link_api)
