"""The page as a person meets it: in a browser, offline, at several widths, by keyboard, without scripts."""

from pathlib import Path

import browser
import instrument
import measured_stories
import pytest
import synthetic
import test_report_where

from onechange import report

pytestmark = pytest.mark.skipif(not browser.available(), reason="chromium and chromedriver are not installed")
MOVING = "return document.querySelector('#chart-curves.moves svg') !== null"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    window = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield window
    window.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    return report.write(synthetic.make_study(tmp_path_factory.mktemp("study"), seeds=5, floor=0.46))


@pytest.mark.parametrize("width", [400, 700, 1000, 1280, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_quietly_offline_and_within_the_window(chromium, page, width, scheme):
    chromium.open(page, width, scheme=scheme)
    chromium.wait_for(MOVING)
    assert chromium.requests() == [page.resolve().as_uri()]
    assert chromium.logs("browser") == []
    assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
    wider = "return [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, table') && "
    wider += "getComputedStyle(e).position !== 'absolute' && "
    wider += "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    assert chromium.evaluate(wider) == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A page with every section: test text, tuning, a sweep and measured stories too."""
    folder = synthetic.make_study(tmp_path_factory.mktemp("whole"), seeds=3, floor=0.46)
    instrument.record_statistics(folder)
    instrument.record_test(folder)
    test_report_where.with_readings(folder)
    instrument.record_tuning(folder)
    measured_stories.record(folder, each=2)
    instrument.record_sweep(folder)
    synthetic.edit(folder, instrument.stop_early)
    return report.write(folder)


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (700, "dark"), (1280, "light")])
def test_a_page_with_every_section_opens_as_quietly(chromium, whole, width, scheme):
    chromium.open(whole, width, scheme=scheme)
    chromium.wait_for(MOVING)
    assert chromium.logs("browser") == []
    assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
    outside = "return [...document.querySelectorAll('.still')].filter(e => e.offsetParent !== null)"
    outside += ".flatMap(e => [...e.querySelectorAll('text')]).filter(t => t.getBoundingClientRect().right > "
    outside += "innerWidth + 1 || t.getBoundingClientRect().left < -1).map(t => t.textContent)"
    assert chromium.evaluate(outside) == []
    sections = "return ['differences', 'tuning', 'sweeps', 'ends', 'equal', 'measured'].map(id => "
    sections += "document.querySelector(`section[aria-labelledby=${id}]`).getBoundingClientRect().height)"
    assert min(chromium.evaluate(sections)) > 200


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1280, "light"), (1400, "dark")])
def test_nothing_shuts_anybody_out(chromium, whole, width, scheme):
    """Axe finds nothing on a page with every section, all that is folded up opened."""
    chromium.open(whole, width, scheme=scheme)
    chromium.wait_for(MOVING)
    chromium.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert chromium.audit() == []


def test_every_table_that_is_wider_than_the_window_is_reached_by_keyboard(chromium, whole):
    chromium.open(whole, 400)
    hidden = "return [...document.querySelectorAll('details')].forEach(d => d.open = true)"
    chromium.evaluate(hidden)
    wide = "return [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
    assert chromium.evaluate(f"{wide}.length") > 0
    assert (
        chromium.evaluate(f"{wide}.filter(e => e.tabIndex !== 0 || e.getAttribute('role') !== 'region')")
        == []
    )


@pytest.mark.parametrize(("width", "shown"), [(400, "narrow"), (760, "medium"), (1280, "wide")])
def test_the_ladder_that_fits_is_the_one_shown_and_its_letters_are_legible(chromium, page, width, shown):
    chromium.open(page, width)
    visible = "return [...document.querySelectorAll('section[aria-labelledby=ladder] .still')]"
    visible += ".filter(e => e.offsetParent !== null)"
    assert chromium.evaluate(f"{visible}.map(e => e.classList[1])") == [shown]
    smallest = "Math.min(...[...e.querySelectorAll('text')].map(t => t.getBoundingClientRect().height))"
    assert chromium.evaluate(f"{visible}.map(e => {smallest})")[0] >= 11


def test_colours_follow_the_readers_system(chromium, page):
    look = "return [getComputedStyle(document.documentElement).backgroundColor, "
    look += "getComputedStyle(document.querySelector('.mark')).fill]"
    chromium.open(page, scheme="light")
    light = chromium.evaluate(look)
    chromium.open(page, scheme="dark")
    dark = chromium.evaluate(look)
    assert light[0] != dark[0] and light[1] != dark[1]


def test_the_axis_of_the_curves_can_be_switched_by_keyboard(chromium, page):
    chromium.open(page)
    chromium.wait_for(MOVING)
    titles = "return [...document.querySelectorAll('#chart-curves .moving .role-axis-title text')]"
    titles += ".map(t => t.textContent)"
    assert "training steps" in chromium.evaluate(titles)
    chromium.evaluate("document.querySelector('input[name=axis]').focus()")
    for title in (
        "tokens read",
        "characters of text read",
        "floating-point operations",
        "seconds of training",
    ):
        chromium.press("ArrowRight")
        chromium.wait_for(f"{titles}.includes({title!r})")


def test_pointing_at_a_curve_tells_the_figures(chromium, page):
    chromium.open(page)
    chromium.wait_for(MOVING)
    chromium.evaluate("document.getElementById('chart-curves').scrollIntoView({block: 'center'})")
    left, top, width, height = chromium.evaluate(
        "const r = document.querySelector('#chart-curves .moving svg').getBoundingClientRect();"
        "return [r.left, r.top, r.width, r.height]"
    )
    for step in range(6):
        chromium.point_at(left + width * 0.6 + step, top + height * 0.5)
    chromium.wait_for("return !document.getElementById('told').hidden")
    told = chromium.evaluate("return document.getElementById('told').textContent")
    assert "validation" in told and "training" in told and "5 seeds" in told


SEEN = """
const seen = (selector) => [...document.querySelectorAll(selector)].filter(
  (part) => part.getClientRects().length && getComputedStyle(part).display !== 'none').length;
return [0, 1].map((number) => {
  const colour = `:is([stroke="var(--arm-${number})"], [fill="var(--arm-${number})"])`;
  const charts = ['.moving', '.chart[data-view="by_context"] .still', 'section[aria-labelledby=ladder]'];
  const parts = [`article[data-arm="${number}"]`, `.kinds [data-arm="${number}"]`];
  return [...parts, ...charts.map((chart) => `${chart} ${colour}`)].map(seen);
});
"""


def test_an_arm_that_is_unticked_in_one_legend_is_gone_everywhere_but_from_the_ladder(chromium, whole):
    chromium.open(whole)
    chromium.wait_for(MOVING)
    first, second = chromium.evaluate(SEEN)
    assert min(first) > 0 and min(second) > 0
    chromium.evaluate(
        "document.querySelector('section[aria-labelledby=curves] input[name=shown][value=\"1\"]').focus()"
    )
    chromium.press(" ")
    chromium.wait_for("return document.querySelectorAll('.moving [stroke=\"var(--arm-1)\"]').length === 0")
    assert chromium.evaluate(SEEN) == [first, [0, 0, 0, 0, second[4]]]
    boxes = "return [...document.querySelectorAll('input[name=shown]:not(:checked)')].map(box => box.value)"
    assert chromium.evaluate(boxes) == ["1"] * 3
    chromium.press(" ")
    chromium.wait_for("return document.querySelectorAll('.moving [stroke=\"var(--arm-1)\"]').length > 0")
    assert chromium.evaluate(SEEN) == [first, second]
    assert chromium.logs("browser") == []


def test_the_contents_lead_to_every_section(chromium, whole):
    chromium.open(whole)
    told = "return [...document.querySelectorAll('.contents a')].map(a => [a.textContent, a.hash.slice(1)])"
    titles = "return [...document.querySelectorAll('main section h2')].map(h => [h.textContent, h.id])"
    assert chromium.evaluate(told) == chromium.evaluate(titles)
    chromium.evaluate("document.querySelector('.contents a[href=\"#where\"]').click()")
    assert abs(chromium.evaluate("return document.getElementById('where').getBoundingClientRect().top")) < 5


def test_stories_are_chosen_by_prompt_and_checkpoint(chromium, page):
    chromium.open(page)
    shown = "return [...document.querySelectorAll('.point')].filter(e => e.offsetParent !== null)"
    shown += ".map(e => [e.parentElement.dataset.prompt, e.dataset.point])"
    chromium.wait_for("return document.querySelectorAll('input[name=prompt]').length > 2")
    assert chromium.evaluate(shown) == [["0", "best"]]
    chromium.evaluate("document.querySelectorAll('input[name=prompt]')[2].click()")
    chromium.evaluate("document.querySelector('input[name=point][value=last]').click()")
    assert chromium.evaluate(shown) == [["2", "last"]]


def test_tab_reaches_every_switch_and_shows_where_it_is(chromium, page):
    chromium.open(page)
    chromium.wait_for(MOVING)
    reached, outlines = set(), []
    for _ in range(80):
        chromium.press("Tab")
        name, outline = chromium.evaluate(
            "const e = document.activeElement, seen = e.matches('input') ? e.nextElementSibling : e;"
            "return [e.name || e.tagName + e.className, getComputedStyle(seen).outlineStyle]"
        )
        if name == "BODY":
            break
        reached.add(name)
        outlines.append(outline)
    assert {"axis", "prompt", "point", "SUMMARY", "DIVscroll wide"} <= reached
    assert "none" not in outlines


def test_without_scripts_everything_is_shown(chromium, page):
    chromium.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(page)
        stories = (
            "return [...document.querySelectorAll('.point')].filter(e => e.offsetParent !== null).length"
        )
        assert chromium.evaluate(stories) == 2 * len(synthetic.PROMPTS)
        still = "return document.querySelector('#chart-curves .still.wide').getBoundingClientRect().height"
        assert chromium.evaluate(still) > 300
        assert chromium.evaluate("return document.querySelector('.live-only').offsetParent === null")
    finally:
        chromium.command("Emulation.setScriptExecutionDisabled", value=False)


def test_on_paper_every_story_is_printed_and_no_switch(chromium, page):
    chromium.open(page)
    chromium.wait_for(MOVING)
    chromium.command("Emulation.setEmulatedMedia", media="print")
    try:
        stories = (
            "return [...document.querySelectorAll('.point')].filter(e => e.offsetParent !== null).length"
        )
        assert chromium.evaluate(stories) == 2 * len(synthetic.PROMPTS)
        assert chromium.evaluate("return document.querySelector('.switch').offsetParent === null")
    finally:
        chromium.command("Emulation.setEmulatedMedia", media="")


def test_hostile_text_runs_nothing(chromium, tmp_path):
    folder = synthetic.make_study(tmp_path / "hostile")
    synthetic.poison(folder)
    page = report.write(folder)
    chromium.open(page, 400)
    chromium.wait_for(MOVING)
    assert chromium.evaluate("return window.poisoned === undefined")
    assert chromium.evaluate("return document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert chromium.evaluate("return document.documentElement.scrollWidth") <= 400
    assert chromium.requests() == [page.resolve().as_uri()]
    assert chromium.logs("browser") == []


@pytest.mark.parametrize(
    "change", [synthetic.unfinish, synthetic.fail, synthetic.no_validation, synthetic.alone]
)
@pytest.mark.parametrize("width", [400, 1280])
def test_studies_that_went_otherwise_open_as_quietly(chromium, tmp_path, change, width):
    folder = synthetic.make_study(tmp_path / "study")
    synthetic.edit(folder, change)
    chromium.open(report.write(folder), width)
    chromium.wait_for(MOVING)
    assert chromium.logs("browser") == []
    assert chromium.evaluate("return document.documentElement.scrollWidth") <= width
