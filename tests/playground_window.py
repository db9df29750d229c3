"""A window with the playground's page in it, and what is asked of it again and again."""

from typing import Any

import browser

TEXT = 'The sun was warm. "Hello," said Tom.\n\nThe cat ran to the red mat.'
STORIES = "return [...document.querySelectorAll('#stories .column')].map(c => [...c.querySelectorAll("
STORIES += "'.t:not(.end)')].map(t => t.textContent).join(''))"
COUNTS = "return [...document.querySelectorAll('#stories .count')].map(e => e.textContent)"
WRITTEN = "return [...document.querySelectorAll('#stories .count')].every(e => "
WRITTEN += "/full length|ended its story/.test(e.textContent))"
READ = "return document.querySelectorAll('#readings .figure b').length >= 2 && "
READ += "!document.querySelector('#readings .reading')"
READY = "return !document.getElementById('playground').hidden"


def opened(chromium: browser.Browser, address: str, fragment: str = "", **how: Any) -> None:
    """The page anew: a change of the fragment alone would load nothing."""
    chromium.open("about:blank")
    chromium.open(address + fragment, **how)
    chromium.wait_for(READY)


def units(chromium: browser.Browser, column: int, place: str = "stories") -> list[str]:
    found = f"return [...document.querySelectorAll('#{place} .story')[{column}].querySelectorAll('.t')]"
    return chromium.evaluate(f"{found}.map(t => t.textContent)")


def focus(chromium: browser.Browser, column: int, place: str = "stories") -> None:
    chromium.evaluate(f"document.querySelectorAll('#{place} .story')[{column}].focus()")


def quiet(chromium: browser.Browser) -> bool:
    return chromium.logs("browser") == []
