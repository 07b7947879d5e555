"""The site, built once for all tests of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "website"))


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site. The build is strict: a broken link or a page left out fails here."""
    pytest.importorskip("mkdocstrings", reason="needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder
