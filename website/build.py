"""Build the site: `python -m website.build [FOLDER]`, into `site` unless told otherwise.

Pages are copied to a temporary folder with their links rewritten, notebooks become pages, Zensical
builds the HTML, and every link and asset of the result is checked. Nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from website.built import external_assets, faults, read_pages
from website.llms import llms_text
from website.navigation import NOTEBOOKS, read_settings
from website.notebooks import notebook_page, notebook_title
from website.pages import PROJECT_PAGES, ROOT, site_page

__all__ = ["build", "stage"]


def build(site: Path, *, docs: Path = ROOT / "docs") -> None:
    """Build the site of `docs` into the folder `site`, which is replaced."""
    with TemporaryDirectory(prefix="sottovoce-site-") as temporary:
        folder = Path(temporary).resolve()
        stage(folder, docs)
        _run_generator(folder)
        settings = read_settings(folder / "mkdocs.yml")
        text = llms_text(settings, folder / "docs")
        (folder / "site" / "llms.txt").write_text(text, encoding="utf-8")
        pages = read_pages(folder / "site")
        wrong = faults(folder / "site", pages, settings["site_url"])
        wrong += external_assets(folder / "site", pages)
        if wrong:
            raise SystemExit("The site has faults:\n  " + "\n  ".join(wrong))
        if site.exists():
            shutil.rmtree(site)
        site.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / "site", site)


def stage(folder: Path, docs: Path) -> None:
    """Write settings and pages for a generator, Zensical or mkdocs, into `folder`."""
    pages = folder / "docs"
    shutil.copytree(ROOT / "website" / "assets", pages / "assets")
    for file in sorted(docs.rglob("*")):
        place = pages / file.relative_to(docs)
        if file.is_dir() or file.suffix == ".ipynb":
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            name = f"docs/{file.relative_to(docs).as_posix()}"
            place.write_text(site_page(file.read_text(encoding="utf-8"), name), encoding="utf-8")
        else:
            shutil.copyfile(file, place)
    missing = []
    for name, path in PROJECT_PAGES.items():
        if not (ROOT / name).exists():
            missing.append(path)
            continue
        (pages / path).parent.mkdir(exist_ok=True)
        text = site_page((ROOT / name).read_text(encoding="utf-8"), name)
        (pages / path).write_text(text, encoding="utf-8")
    notebooks = _stage_notebooks(docs, pages)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (folder / "mkdocs.yml").write_text(
        _with_notebooks(settings, notebooks, missing), encoding="utf-8"
    )
    for name in ("src", "website"):
        (folder / name).symlink_to(ROOT / name)


def _stage_notebooks(docs: Path, pages: Path) -> dict[str, str]:
    """The path and title of each notebook's page."""
    titles = {}
    for notebook in sorted((docs / "notebooks").glob("*.ipynb")):
        path = f"notebooks/{notebook.stem}.md"
        text = notebook_page(notebook, pages / "notebooks")
        place = pages / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(site_page(text, f"docs/{path}"), encoding="utf-8")
        titles[path] = notebook_title(notebook)
    return titles


def _with_notebooks(settings: str, notebooks: dict[str, str], missing: list[str]) -> str:
    lines = []
    for line in settings.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == f"- {NOTEBOOKS}":
            lines += [f"{indent}- {path}" for path in notebooks]
        elif not any(line.endswith(f" {path}") for path in missing):
            lines.append(line)
    return "\n".join([*lines, ""])


def _run_generator(folder: Path) -> None:
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(  # noqa: S603 - a command of ours
        [*command, "--config-file", str(folder / "mkdocs.yml")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).partition("Traceback (most recent")[0]
        raise SystemExit(f"{said or done.stdout}\nThe site was not built: see above.")


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve())
