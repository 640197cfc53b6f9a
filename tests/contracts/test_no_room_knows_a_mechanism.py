"""Code outside mechanisms and inference does not depend on a particular mechanism or method.

It asks the protocol (`seams.Release`, `seams.Mechanism`) or the registry. Naming one is fine: a
default, an example, a paper's pipeline.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sottovoce
from sottovoce.inference.noise_aware.registry import AWARE_METHODS
from sottovoce.inference.registry import METHODS
from sottovoce.inference.sealed.registry import SEALED_METHODS
from sottovoce.mechanisms import Sampled
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.mechanisms.registry import RELEASES
from sottovoce.seams import Mechanism, Release
from sottovoce.server.web.worker_page import STATIC

SOURCE = Path(sottovoce.__file__).parent
CLASSES = {kind.__name__ for kind in (*RELEASES.values(), Sampled, PublishedFactorization)}
MECHANISMS = {*RELEASES, Sampled.name}
METHOD_NAMES = {*METHODS, *AWARE_METHODS, *SEALED_METHODS}
OWN = {
    name
    for kind in (*RELEASES.values(), Sampled, PublishedFactorization)
    for name in vars(kind)
    if not name.startswith("_") and not hasattr(Mechanism, name)
} - set(Release.__annotations__)
"""Attributes that only some mechanisms have."""

ALLOWED = {
    # How many keyholders open a sum.
    "threshold": ("securesum/", "live/"),
    # A field of the command's output.
    "sampled": ("cli/guarantee.py",),
}
"""Names of mechanisms that are also words, and where they are."""


def modules(besides: str) -> Iterator[tuple[str, ast.Module]]:
    """The product's modules and their source; a study is about particular mechanisms."""
    for name, tree in parsed():
        if not name.startswith((f"{besides}/", "studies/")):
            yield name, tree


@cache
def parsed() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def decisions(tree: ast.AST) -> Iterator[ast.expr]:
    """The values in comparisons: operands, keys, members of sets, cases."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                for operand in (left, *others):
                    yield from operand.elts if isinstance(operand, ast.Tuple) else [operand]
            case ast.Dict(keys=keys):
                yield from (key for key in keys if key is not None)
            case ast.Set(elts=members) | ast.Call(args=[ast.List(elts=members)]):
                yield from members
            case ast.MatchValue(value=value):
                yield value


def texts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in decisions(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno


def test_none_goes_by_the_name_of_a_mechanism() -> None:
    found = [
        f"{module}:{line} {text}"
        for module, tree in modules(besides="mechanisms")
        for text, line in texts(tree)
        if text in MECHANISMS and not module.startswith(ALLOWED.get(text, ("-",)))
    ]
    assert found == []


def test_none_goes_by_the_class_of_a_mechanism() -> None:
    assert [*by_class()] == []


def by_class() -> Iterator[str]:
    for module, tree in modules(besides="mechanisms"):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                    held = ast.walk(kinds)
                case ast.Compare(ops=[ast.Is() | ast.IsNot()], left=left, comparators=[other]):
                    held = iter([left, other])
                case ast.MatchClass(cls=kind):
                    held = iter([kind])
                case _:
                    continue
            names = {each.id for each in held if isinstance(each, ast.Name)}
            yield from (f"{module} {name}" for name in names & CLASSES)


def test_none_looks_for_what_only_some_mechanisms_have() -> None:
    found = [
        f"{module} {name}"
        for module, tree in modules(besides="mechanisms")
        for node in ast.walk(tree)
        for name in probed(node)
        if name in OWN
    ]
    assert found == []


def probed(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(
            func=ast.Name(id="hasattr" | "getattr"),
            args=[ast.Name(), ast.Constant(value=str(name)), *_],
        ):
            yield name


ON_DEVICES = {"randomize.js", "seal.js"}
"""The modules that run mechanisms: they may know a policy's law by its name."""


def literals(script: str) -> set[str]:
    """Everything with which a script may compare a name: quoted texts, and keys of objects."""
    quoted = re.findall(r"""(["'`])([^"'`\n]*)\1""", script)
    keys = re.findall(r"""[{,]\s*([\w-]+)\s*:""", script)
    return {text for _, text in quoted} | set(keys)


def test_no_page_goes_by_the_name_of_a_mechanism() -> None:
    scripts = [path for path in sorted(STATIC.rglob("*.js")) if path.name not in ON_DEVICES]
    assert len(scripts) > 40
    found = {
        path.relative_to(STATIC).as_posix(): names
        for path in scripts
        if (names := literals(path.read_text("utf-8")) & MECHANISMS)
    }
    assert found == {}


def test_none_goes_by_the_name_of_a_method() -> None:
    found = [
        f"{module}:{node.lineno} {text}"
        for module, tree in modules(besides="inference")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for text, _ in texts(ast.Expression(node))
        if text in METHOD_NAMES
    ]
    assert found == []


def test_these_checks_find_what_they_look_for() -> None:
    tree = ast.parse("policy.name != 'laplace'; {'duchi': 1}; name in ('two-layer', 'x')")
    assert {text for text, _ in texts(tree)} == {"laplace", "duchi", "two-layer", "x"}
    assert [*probed(ast.parse("getattr(it, 'beyond', 3)", mode="eval").body)] == ["beyond"]
    assert {"unbiased", "channel", "beyond", "labels"} <= OWN
    script = """name === "laplace" || ['two-layer', `duchi`]; const words = {\n  threshold: "…" }"""
    assert literals(script) & MECHANISMS == {"laplace", "two-layer", "duchi", "threshold"}
    for name in ON_DEVICES:
        assert literals((STATIC / name).read_text("utf-8")) & MECHANISMS
