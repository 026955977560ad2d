"""HTML from strangers' text: everything is escaped here, and nothing else makes markup of text."""

from __future__ import annotations

import html

from scrapy_robotspec.show.style import CSS
from scrapy_robotspec.show.text import escaped

#: A line of a file is cut here on a page (characters); the verdicts know the whole of it.
LONGEST = 2000


def esc(text: str) -> str:
    """``text`` for an element or an attribute; what does not print stands as its escape."""
    cut = len(text) > LONGEST
    shown = text[:LONGEST]
    safe = html.escape(shown) if shown.isprintable() else "".join(map(_escape, shown))
    return f'{safe}<span class="escape">… {len(text):,} characters</span>' if cut else safe


def _escape(character: str) -> str:
    if character.isprintable():
        return html.escape(character)
    return f'<span class="escape">{escaped(character)}</span>'


def code(text: str) -> str:
    """A stranger's text. The direction is fixed, or its letters could turn the line around."""
    return f'<code dir="ltr">{esc(text)}</code>'


def word(style: str, text: str) -> str:
    """A short word in a frame; its style only repeats what it says."""
    return f'<span class="word {style}">{esc(text)}</span>'


def verdict(allowed: bool) -> str:
    """The verdict's word."""
    return word("good", "allowed") if allowed else word("bad", "disallowed")


def page(title: str, lead: str, sections: list[tuple[str, str, str]]) -> str:
    """A whole document. ``sections`` are (id, heading, markup); an empty markup is left out."""
    shown = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{esc(head)}</a></li>' for name, head, _ in shown)
    body = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{esc(head)}</h2>\n{markup}</section>\n'
        for name, head, markup in shown
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{esc(title)}</title>
<style>
{CSS}</style>
</head>
<body>
<a class="skip" href="#{shown[-1][0] if shown else ""}">Skip to the file</a>
<header>
<h1>{esc(title)}</h1>
{lead}
<nav aria-label="On this page"><ul>{links}</ul></nav>
</header>
<main>
{body}</main>
<footer><p>Made by scrapy_robotspec. robots.txt asks; it does not lock.</p></footer>
</body>
</html>
"""
