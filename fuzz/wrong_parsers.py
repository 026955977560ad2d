"""Searches wrong parsers that the required cases miss: ``python3 -m fuzz.wrong_parsers``.

Each wrong parser is the reference reading (``tests/support/reference.py``) with one random mistake:
a comparison, a constant, a condition, a forgotten statement, a limit. It is asked the required
cases first. If it passes all of them, it is asked about files that look like real ones, made at
random from what the specifications state. Where it differs from the reference, the smallest file
that shows it is printed: it is a candidate for a case in ``conformance/tables``.

``--real FOLDER`` takes real files in place of the made ones, ``--number`` the number of mistakes,
``--seed`` the first random seed, ``--spec`` the specification.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from scrapy_robotspec.editions import EDITIONS
from tests.support import reference
from tests.support.wrong_parsers import (
    SOURCE,
    first_failure,
    new_parser,
    required_cases,
    time_limit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from scrapy_robotspec.editions import Edition

    #: Changes one node of a tree; None where there is nothing to change.
    Mistake = Callable[[ast.AST, random.Random], ast.AST | None]

#: Where a wrong parser stops reading: items of a loop, characters of a text.
ITEM_LIMITS = (1, 2, 3, 5, 8, 10, 20, 50, 100, 1_000, 5_000)
TEXT_LIMITS = (8, 16, 32, 64, 100, 128, 255, 256, 500, 1_000, 1_024, 2_000, 4_096)
TEXTS = {"value", "line", "name", "pattern", "path", "url", "data", "content", "token", "raw"}


# --- mistakes

_OPPOSITES: dict[type[ast.cmpop], Sequence[type[ast.cmpop]]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def _compare(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not isinstance(node, ast.Compare):
        return None
    node.ops[0] = chance.choice(_OPPOSITES[type(node.ops[0])])()
    return node


def _constant(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not isinstance(node, ast.Constant):
        return None
    value: Any = node.value
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, int):
        return ast.Constant(chance.choice([value + 1, value - 1]))
    if isinstance(value, str) and value:
        cut = chance.randrange(len(value))
        return ast.Constant(value[:cut] + value[cut + 1 :])
    if isinstance(value, bytes) and value:
        cut = chance.randrange(len(value))
        return ast.Constant(value[:cut] + value[cut + 1 :])
    return None


def _condition(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if isinstance(node, ast.BoolOp):
        if chance.random() < 0.5:
            return chance.choice(node.values)
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.IfExp):
        return chance.choice([node.body, node.orelse])
    return None


def _forgotten(node: ast.AST, chance: random.Random) -> ast.AST | None:
    """A statement without effect, or a method such as ``lower`` that is not called."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Continue, ast.Break)):
        return ast.Pass()
    if isinstance(node, ast.If):
        node.test = ast.Constant(chance.random() < 0.5)
        return node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return None


def _bound(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not isinstance(node, ast.Slice) or not (node.lower or node.upper):
        return None
    if node.upper is not None and chance.random() < 0.5:
        node.upper = None
    else:
        node.lower = ast.Constant(1) if node.lower is None else None
    return node


def _item_limit(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not isinstance(node, (ast.For, ast.comprehension)):
        return None
    limit = ast.Constant(chance.choice(ITEM_LIMITS))
    items = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
    node.iter = ast.Subscript(items, ast.Slice(None, limit), ast.Load())
    return node


def _text_limit(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not (isinstance(node, ast.Name) and node.id in TEXTS and isinstance(node.ctx, ast.Load)):
        return None
    limit = ast.Constant(chance.choice(TEXT_LIMITS))
    return ast.Subscript(node, ast.Slice(None, limit), ast.Load())


_METHODS = {
    "strip": ("lstrip", "rstrip"),
    "rstrip": ("lstrip", "strip"),
    "split": ("rsplit",),
    "partition": ("rpartition",),
    "rfind": ("find",),
    "startswith": ("endswith",),
    "lower": ("upper", "title"),
    "search": ("match",),
    "fullmatch": ("match",),
}


def _method(node: ast.AST, chance: random.Random) -> ast.AST | None:
    """Another method of the same kind."""
    if not (isinstance(node, ast.Attribute) and node.attr in _METHODS):
        return None
    node.attr = chance.choice(_METHODS[node.attr])
    return node


def _argument(node: ast.AST, chance: random.Random) -> ast.AST | None:
    """An argument is left out, or is a single blank in place of all white space."""
    if not (isinstance(node, ast.Call) and node.args):
        return None
    last = node.args[-1]
    if isinstance(last, ast.Attribute) and last.attr == "whitespace" and chance.random() < 0.7:
        node.args[-1] = ast.Constant(chance.choice([b" ", b"\t", b"\r"]))
    else:
        node.args.pop()
    return node


def _arithmetic(node: ast.AST, chance: random.Random) -> ast.AST | None:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))):
        return None
    if chance.random() < 0.5:
        return chance.choice([node.left, node.right])
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return node


def _once(node: ast.AST, chance: random.Random) -> ast.AST | None:
    """One blank is removed, or one kind of them, in place of all."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr not in ("strip", "rstrip"):
        return None
    blank = ast.Constant(chance.choice([b" ", b"\t"]))
    method = chance.choice(["removeprefix", "removesuffix", "strip"])
    return ast.Call(ast.Attribute(node.func.value, method, ast.Load()), [blank], [])


def _length(node: ast.AST, chance: random.Random) -> ast.AST | None:
    """A length is that of the decoded text."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    if node.func.id != "len" or not isinstance(node.args[0], ast.Name):
        return None
    decoded = ast.parse("unquote(text)", mode="eval").body
    assert isinstance(decoded, ast.Call)
    decoded.args = [node.args[0]]
    node.args[0] = decoded
    return node


MISTAKES: Sequence[Mistake] = (
    *(_compare, _constant, _condition, _forgotten, _bound, _item_limit, _text_limit),
    *(_method, _argument, _arithmetic, _once, _length),
)


class _Change(ast.NodeTransformer):
    """Makes a mistake at the place with a number."""

    def __init__(self, mistake: Mistake, place: int, chance: random.Random) -> None:
        self._mistake, self._place, self._chance = mistake, place, chance
        self.seen = 0
        self.made = ""

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        before = copy.deepcopy(node)
        changed = self._mistake(copy.deepcopy(node), self._chance)
        if changed is None:
            return node
        self.seen += 1
        if self.seen != self._place:
            return node
        self.made = f"{_words(before)}  ->  {_words(changed)}"
        return ast.copy_location(changed, node)


def _words(node: ast.AST) -> str:
    with suppress(Exception):
        return ast.unparse(node).partition("\n")[0][:150]
    return type(node).__name__


def wrong_parser(seed: int) -> tuple[str, ModuleType] | None:
    """A mistake in words and its parser; None if loading fails."""
    chance = random.Random(seed)
    mistake = chance.choice(MISTAKES)
    tree = ast.parse(SOURCE.read_text("utf-8"))
    functions = ast.Module(
        [node for node in tree.body if isinstance(node, ast.FunctionDef)], type_ignores=[]
    )
    count = _Change(mistake, 0, random.Random(seed))
    count.visit(copy.deepcopy(functions))
    if not count.seen:
        return None
    change = _Change(mistake, chance.randint(1, count.seen), chance)
    changed = ast.fix_missing_locations(change.visit(functions))
    module = new_parser()
    vars(module)["unquote"] = unquote
    try:
        exec(compile(changed, "wrong parser", "exec"), vars(module))
    except (SyntaxError, TypeError, ValueError):
        return None
    return change.made, module


# --- files that look like real ones

_NAMES = ["FooBot", "BarBot", "FooBotNews", "examplebot", "AhrefsBot", "GPTBot", "Foo", "Bot"]
_SEGMENTS = ["admin", "search", "cgi-bin", "tmp", "private", "wp-admin", "a", "b", "user", "en"]
_ENDS = ["", "/", ".php", ".html", "?q=", "?page=1&sort=", "/index.html", "$", "/*", "*.pdf$"]
#: White space where the grammar has it, comments included.
_BEFORE, _COLON = ["", "", "", " ", "\t"], [": ", ": ", ":", ":  ", ":\t", " : ", "\t:\t ", ":   "]
_OTHER_LINES = ["# a comment: yes", "Crawl-delay: 5", "", "Noindex: /x", " \t", "no colon"]
_AFTER = ["", "", "", "", " ", "\t", "  ", " # comment", "\t# comment", "#comment", " \t #x: y"]


def made_file(chance: random.Random) -> bytes:
    """A file without anything that a specification leaves open."""

    def line(field: str, value: str) -> str:
        spelt = chance.choice([field, field, field.lower(), field.upper()])
        parts = (_BEFORE, [spelt], _COLON, [value], _AFTER)
        return "".join(chance.choice(part) for part in parts)

    lines = [line("Sitemap", "https://example.com/sitemap.xml")]
    for _ in range(chance.choice([1, 2, 3, 5, 12])):
        named = chance.sample(["*", *_NAMES], chance.choice([1, 1, 1, 2, 4]))
        lines += [line("User-agent", chance.choice([name, name.upper()])) for name in named]
        for _ in range(chance.choice([1, 2, 5, 10, 40])):
            lines.append(line(chance.choice(["Disallow", "Disallow", "Allow"]), _path(chance)))
            if chance.random() < 0.2:
                others = [
                    "# a comment: yes",
                    "Crawl-delay: 5",
                    "",
                    "Noindex: /x",
                    " \t",
                    "no colon",
                ]
                lines.append(chance.choice(others))
        lines += chance.choice([[], [""], ["", ""]])
    end = chance.choice(["\n", "\n", "\r\n", "\r"])
    mark = chance.choice(["", "", "\ufeff"])
    return (mark + end.join(lines) + chance.choice(["", end])).encode()


def _path(chance: random.Random) -> str:
    segments = chance.choices(
        [*_SEGMENTS, "*", "caf\u00e9", "caf%C3%A9", "caf%c3%a9", "%7Ex", "~x", "\u65e5", "a%2Fb"],
        k=chance.choice([1, 1, 2, 3]),
    )
    return "/" + "/".join(segments) + chance.choice(_ENDS)


def urls_of(body: bytes, chance: random.Random) -> Iterator[str]:
    """URLs near the rules of a file."""
    lines = re.split("[\r\n]", body.decode("utf-8", "replace"))
    rules = [line for line in lines if re.match(r"\s*(dis)?allow\s*:\s*/", line, re.IGNORECASE)]
    for line in chance.sample(rules, min(len(rules), 12)):
        path = line.partition(":")[2].partition("#")[0].strip()
        plain = path.replace("*", chance.choice(["", "x", "x/y"])).replace("$", "")
        for url in (plain, plain[:-1], f"{plain}x", f"{plain}/more?z=1", plain.upper()):
            yield f"https://example.com/{url.lstrip('/').partition('#')[0]}"


# --- the search


def shown_by(
    parser: ModuleType, bodies: Sequence[bytes], edition: Edition, chance: random.Random
) -> tuple[bytes, str, str] | None:
    """A small file, URL and token on which a parser is wrong."""
    for body in bodies:
        questions = [(url, chance.choice(_NAMES)) for url in urls_of(body, chance)]
        expected = _verdicts(reference, body, questions, edition)
        given = _verdicts(parser, body, questions, edition)
        for (url, token), right, answer in zip(questions, expected, given, strict=True):
            if answer is not None and answer is not right:
                return _smallest(parser, body, url, token, edition), url, token
    return None


def _verdicts(
    parser: ModuleType, body: bytes, questions: Sequence[tuple[str, str]], edition: Edition
) -> list[bool | None]:
    """The verdicts on some URLs; None where the parser raises or does not end."""
    try:
        with time_limit(10):
            groups = parser.groups_of(body, edition)
            return [parser.rule_by(groups, url, [who], edition).allowed for url, who in questions]
    except Exception:
        return [None] * len(questions)


def _smallest(parser: ModuleType, body: bytes, url: str, token: str, edition: Edition) -> bytes:
    """The file without the lines that are not needed to show the mistake."""

    def differs(file: bytes) -> bool:
        questions = [(url, token)]
        right = _verdicts(reference, file, questions, edition)
        return _verdicts(parser, file, questions, edition) != right

    lines = body.splitlines(keepends=True)
    for number in reversed(range(len(lines))):
        fewer = [*lines[:number], *lines[number + 1 :]]
        if differs(b"".join(fewer)):
            lines = fewer
    return b"".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Search; exits with 1 if a wrong parser passes the required cases."""
    options = argparse.ArgumentParser(description="Search wrong parsers that no case catches.")
    options.add_argument("--number", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--spec", default="rfc9309", choices=[*EDITIONS])
    options.add_argument("--real", type=Path)
    given = options.parse_args(arguments)
    edition = EDITIONS[given.spec]
    cases = required_cases(given.spec)
    chance = random.Random(given.seed)
    bodies = [made_file(chance) for _ in range(60)]
    if given.real:
        bodies = [path.read_bytes()[:100_000] for path in sorted(given.real.iterdir())]
        chance.shuffle(bodies)
    missed = caught = 0
    for seed in range(given.seed, given.seed + given.number):
        wrong = wrong_parser(seed)
        if wrong is None:
            continue
        if first_failure(wrong[1], cases, edition) is not None:
            caught += 1
            continue
        found = shown_by(wrong[1], bodies, edition, chance)
        if found is not None:
            missed += 1
            body, url, token = found
            print(f"\nseed {seed}: {wrong[0]}\n{token} {url}\n{body.decode('utf-8', 'replace')}")
    print(f"{given.spec}: {caught} wrong parsers fail a case, {missed} pass all and are wrong")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
