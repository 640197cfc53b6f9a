"""Commands with their options and help, and their output, mostly for wrong usage."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args, get_origin

import typer
import typer.main
from tests.frozen.recordings import Files, as_json, sha256, stable

__all__ = ["commands", "ran_in", "uses"]

VECTORS = Path(__file__).parents[1] / "vectors"


def _root() -> Any:
    """The command that the console script runs."""
    [script] = entry_points(group="console_scripts", name="sottovoce")
    app = script.load().__globals__["app"]
    return typer.main.get_command(app) if isinstance(app, typer.Typer) else app


def _walk(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[tuple[str, Any, Any]]:
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
    yield " ".join(path), command, context
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            _, below, _ = command.resolve_command(context, [name])
            yield from _walk(below, (*path, name), context)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value).replace(str(Path.home()), "HOME")
    return type(value).__name__


OPTION = ("opts", "secondary_opts", "required", "nargs", "multiple", "is_flag", "hidden", "envvar",
          "metavar", "help", "show_default", "default", "is_eager", "count", "prompt",
          "confirmation_prompt", "hide_input", "min", "max")  # fmt: skip
BOUNDS = ("clamp", "exists", "file_okay", "dir_okay", "writable", "readable", "resolve_path",
          "allow_dash", "case_sensitive")  # fmt: skip


def _parameter(parameter: Any) -> dict[str, Any]:
    annotation, info = (
        parameter.type_descriptor.annotation,
        parameter.type_descriptor.parameter_info,
    )
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        kind: Any = [_plain(each) for each in annotation]
    elif get_origin(annotation) is Literal:
        kind = list(get_args(annotation))
    else:
        kind = annotation.__name__ if inspect.isclass(annotation) else stable(str(annotation))
    usual = vars(type(info)())
    said = {name: _plain(getattr(parameter, name, None)) for name in OPTION}
    bounds = {name: _plain(getattr(info, name, None)) for name in BOUNDS}
    return {
        "name": parameter.name,
        "kind": parameter.param_type_name,
        "type": kind,
        **{name: value for name, value in said.items() if value not in (None, False, [])},
        **{name: value for name, value in bounds.items() if value != usual.get(name)},
    }


def _help(path: str, root: Any) -> str:
    """The help of a command without its frames, and a hash of it as printed."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        root.main([*path.split()[1:], "--help"], prog_name="sottovoce")
    text = said.getvalue()
    lines = (
        re.sub(r"^[│╭╰]|─{2,}[╮╯]?|│$", "", line.rstrip()).rstrip() for line in text.split("\n")
    )
    kept = "\n".join(line for line in lines if line)
    return f"$ {path} --help  # {sha256(text)[:16]}\n{kept}\n\n"


def commands() -> Files:
    """Every command with its options, and what --help prints."""
    root = _root()
    found = list(_walk(root, ("sottovoce",), None))
    described = {
        path: {
            "help": command.help,
            "epilog": command.epilog,
            "hidden": command.hidden,
            "parameters": [_parameter(each) for each in command.params],
        }
        for path, command, _ in found
    }
    return {
        "commands.txt": _compact(described),
        "help.txt": "".join(_help(path, root) for path, _, _ in found),
    }


def _compact(described: Mapping[str, Any]) -> str:
    """One line for each command and each parameter, so that a difference is short."""
    lines = []
    for path, command in described.items():
        rest = {key: value for key, value in command.items() if key != "parameters"}
        lines.append(f"{path} {json.dumps(rest, ensure_ascii=False)}")
        for each in command["parameters"]:
            lines.append(f"    {json.dumps(each, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


ANSWERS = "worker,task,answer\n" + "".join(
    f"w{worker},t{task},{'yes' if (worker * task) % 3 else 'no'}\n"
    for worker in range(1, 6)
    for task in range(1, 8)
)
INPUTS = {
    "answers.csv": ANSWERS,
    "lines.csv": "worker,task\na,b\n",
    "gold.csv": "task,truth\nnothing,yes\n",
    "policy.json": json.loads((VECTORS / "policies.json").read_text("utf-8"))[0]["policy"],
}
USES = (
    "", "--version", "nothing", "infer", "infer missing.csv", "infer lines.csv",
    "infer answers.csv -m nothing", "infer answers.csv -m mean", "infer answers.csv -m aware",
    "infer answers.csv --domain nonsense", "infer answers.csv -o answers.csv",
    "infer answers.csv -m dawid-skene", "infer answers.csv --format json",
    "compare answers.csv --gold gold.csv", "inspect answers.csv", "perturb answers.csv",
    "perturb answers.csv --policy policy.json --seed 7", "guarantee missing.json",
    "guarantee policy.json", "plan", "serve --port x", "db check --data none", "db",
    "answer nonsense", "campaign status none0", "datasets show nothing", "keyholder",
    "restore missing.backup", "verify-page http://127.0.0.1:9/c/none0",
    "sealed simulate lines.csv",
)  # fmt: skip
"""Uses of the command line, most of them wrong."""


def ran_in(arguments: str, folder: Path) -> dict[str, Any]:
    """The exit code and the output of a command in a folder."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    quiet = {"HOME": str(folder), "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "sottovoce", *arguments.split()],
        cwd=folder, env={**kept, **quiet}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    stdout, stderr = (
        [line.rstrip().replace(str(folder), "FOLDER") for line in text.splitlines()]
        for text in (ran.stdout, ran.stderr)
    )
    return {"code": ran.returncode, "stdout": stdout, "stderr": stderr}


def uses() -> Files:
    """Exit codes and output of wrong usage and of a few right ones."""
    with TemporaryDirectory(prefix="frozen-") as made, ThreadPoolExecutor(2) as pool:
        for name, content in INPUTS.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (Path(made) / name).write_text(text, "utf-8")
        ran = list(pool.map(lambda each: ran_in(each, Path(made)), USES))
    return {"uses.json": as_json(dict(zip(USES, ran, strict=True)))}
