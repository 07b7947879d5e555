"""What MkDocs calls while it builds the site: it adds the pages that are made from the package itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import outside
import unit_pages
import which_unit

ROOT = Path(__file__).parents[1]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are made here into the navigation, where `mkdocs.yml` has their markers."""
    pages = {"UNITS": unit_pages.navigation(), "DECISIONS": outside.decisions_navigation(ROOT)}
    config.nav = _filled(config.nav, pages)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages themselves."""
    made = {**unit_pages.pages(ROOT), **which_unit.pages(), **outside.pages(ROOT)}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def _filled(nav: Any, pages: dict[str, list[Any]]) -> Any:
    """The navigation with each marker replaced by its pages: in a list, or as the value of a section."""
    if isinstance(nav, dict):
        return {title: _filled(value, pages) for title, value in nav.items()}
    if isinstance(nav, list):
        return [
            each
            for item in nav
            for each in (pages.get(item, [item]) if isinstance(item, str) else [_filled(item, pages)])
        ]
    return pages.get(nav, nav)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Change links to files that are pages elsewhere in the site."""
    return outside.from_docs(markdown, ROOT)
