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

from website.llms import llms_text
from website.navigation import NOTEBOOKS, read_settings
from website.notebooks import notebook_page
from website.pages import PROJECT_PAGES, ROOT, site_page
from website.site_checks import external_assets, faults, read_pages

__all__ = ["build", "stage"]

MARK = ROOT / "src" / "sottovoce" / "server" / "web" / "static" / "icon.svg"
"""The icon of the service's pages is that of the site."""


def build(site: Path) -> None:
    """Build the site into the folder `site`, which is replaced."""
    with TemporaryDirectory(prefix="sottovoce-site-") as temporary:
        folder = Path(temporary).resolve()
        stage(folder)
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


def stage(folder: Path, docs: Path = ROOT / "docs") -> None:
    """Write settings and pages for a generator, Zensical or mkdocs, into `folder`."""
    pages = folder / "docs"
    shutil.copytree(ROOT / "website" / "assets", pages / "assets")
    shutil.copyfile(MARK, pages / "assets" / "mark.svg")
    notebooks = []
    for file in sorted(docs.rglob("*.*")):
        path = file.relative_to(docs)
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            _write_page(pages / path, file.read_text(encoding="utf-8"), f"docs/{path.as_posix()}")
        elif file.suffix == ".ipynb":
            place = (pages / path).with_suffix(".md")
            _write_page(place, notebook_page(file, place.parent), f"docs/{path.as_posix()}")
            with place.open("a", encoding="utf-8") as page:
                page.write(f"\n[Download this notebook]({file.name}){{ .md-button }}\n")
            shutil.copyfile(file, pages / path)
            notebooks.append(path.with_suffix(".md").as_posix())
        else:
            shutil.copyfile(file, pages / path)
    for name, project_path in PROJECT_PAGES.items():
        (pages / project_path).parent.mkdir(exist_ok=True)
        _write_page(pages / project_path, (ROOT / name).read_text(encoding="utf-8"), name)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(
        rf"^( *)- {re.escape(NOTEBOOKS)}\n",
        lambda found: "".join(f"{found[1]}- {path}\n" for path in notebooks),
        settings,
        flags=re.MULTILINE,
    )
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    for name in ("src", "website"):
        (folder / name).symlink_to(ROOT / name)


def _write_page(place: Path, text: str, name: str) -> None:
    place.write_text(site_page(text, name), encoding="utf-8")


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
