"""The page and its files: well-formed, true to results.json, escaped, loading nothing, whole or untouched."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import measured_stories
import pytest
import synthetic

from onechange import report
from onechange.report import page as page_module
from onechange.report import stories

VOID = {"meta", "br", "wbr", "input", "link", "img", "hr"}


class Page(HTMLParser):
    """The page's elements; an `AssertionError` where an end tag does not close what is open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def shown(self) -> str:
        """What a reader reads, in order, spaces folded."""
        return " ".join(" ".join(text for tag, text in self.texts if tag not in ("script", "style")).split())


@pytest.fixture(scope="module", params=[1, 5])
def folder(tmp_path_factory, request) -> Path:
    """A study with its report; tests only read it."""
    folder = synthetic.make_study(tmp_path_factory.mktemp("study"), seeds=request.param, floor=0.46)
    report.write(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder) -> "Page":
    return Page((folder / "report.html").read_text("utf-8"))


def page_of(folder: Path) -> Page:
    return Page(report.write(folder).read_text("utf-8"))


def test_the_page_is_well_formed_and_its_headings_are_in_order(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_picture_is_xml_with_ids_of_its_own(folder):
    text = (folder / "report.html").read_text("utf-8")
    pictures = re.findall(r'<div class="still [a-z]+">(<svg.*?</svg>)</div>', text, re.S)
    assert len(pictures) == 9
    ids: list[str] = []
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        own = [element.get("id") for element in root.iter() if element.get("id")]
        used = re.findall(r"url\(#([^)]+)\)", picture)
        assert set(used) <= set(own)
        ids += [name for name in own if name]
    assert len(ids) == len(set(ids))


def test_the_figures_are_those_of_the_results(folder, page):
    results = json.loads((folder / "results.json").read_text())
    shown = page.shown()
    for arm in results["arms"]:
        best = sum(run["best"]["nats_per_character"] for run in arm["runs"]) / len(arm["runs"])
        last = sum(run["last"]["nats_per_character"] for run in arm["runs"]) / len(arm["runs"])
        assert f"{best:.3f}" in shown and f"{last:.3f}" in shown
        assert f"{arm['parameters']:,}" in shown and f"{arm['characters_per_token']:.2f}" in shown
        for versus in (arm["versus_parent"], arm["versus_parent_last"]):
            if versus:
                figures = [versus[key] for key in ("nats_per_character_difference", "low", "high")]
                written = [f"{figure:+.3f}".replace("-", "−") for figure in figures]
                assert f"{written[0]} {written[1]} to {written[2]}" in shown
                assert versus["verdict"] in shown
    assert results["command"] in shown and results["corpus"]["fingerprint"] in shown


def test_nothing_is_loaded_and_only_the_pages_own_scripts_may_run(page):
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {"src", "srcset", "action", "background"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    styles = "".join(text for tag, text in page.texts if tag == "style")
    assert "@import" not in styles and "url(" not in styles
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy and "unsafe-inline" not in policy.split("style-src")[0]


def test_the_page_stays_small(tmp_path):
    folder = synthetic.make_study(tmp_path / "study", seeds=5)
    assert report.write(folder).stat().st_size < 5_000_000


def test_hostile_text_stays_text(tmp_path):
    folder = synthetic.make_study(tmp_path / "study")
    measured_stories.record(folder, each=1)
    synthetic.poison(folder)
    page = page_of(folder)
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert len(scripts) == 3
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert synthetic.POISON.split("`")[0] in page.shown()
    assert "{{ 7 * 7 }}${7}" in page.shown()
    assert {"mark", "tbody"} <= {tag for tag, _ in page.elements}
    for line in (folder / "report.md").read_text("utf-8").splitlines():
        if not line.startswith("    "):
            assert "<" not in re.sub(r"\\<", "", line), line


def test_data_in_a_script_element_cannot_end_it_or_open_a_comment():
    hostile = {"</script>": "<!--<script>\u2028&amp;"}
    text = page_module._data(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile


def test_the_answer_is_said_in_words(folder, page):
    results = json.loads((folder / "results.json").read_text())
    shown = page.shown()
    seeds = len(results["arms"][0]["runs"])
    if seeds == 1:
        assert "0.243 nats per character lower, but not judged: one seed alone." in shown
        assert "two runs of the very same model differ too" in shown
        assert "That is too few, and nothing was judged." in shown
    else:
        moved = -results["arms"][1]["versus_parent"]["nats_per_character_difference"]
        assert f"Better, by {moved:.3f} nats per character." in shown
        assert "not judged" not in shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            synthetic.unfinish,
            ["This study is not finished", "bpe-rope has not finished: at step 600 of 2,000"],
        ),
        (
            synthetic.fail,
            ["bpe-wpe failed (seed 0): step 311: the loss is not finite", "from which it starts"],
        ),
        (synthetic.no_validation, ["The corpus left no text for validation", "there is nothing to draw"]),
        (synthetic.alone, ["The study has one arm: nothing was changed"]),
        (synthetic.peek, ["bpe-rope learned its tokenizer from all text", "flattered by an unknown amount"]),
        (synthetic.lose, ["bpe-wpe has no nats per character", "do not give the text back"]),
    ],
)
def test_what_went_otherwise_is_said_plainly(tmp_path, change, said):
    folder = synthetic.make_study(tmp_path / "study")
    synthetic.edit(folder, change)
    page, markdown = page_of(folder).shown(), (folder / "report.md").read_text("utf-8")
    for words in said:
        assert words in page
    assert said[0] in markdown or said[0] in markdown.replace("\\_", "_")
    for text in (page, markdown):
        assert "None" not in text and "nan " not in text and "Undefined" not in text


def test_the_least_that_a_study_may_record_is_enough(tmp_path):
    least = {
        "study": "s",
        "question": "Why?",
        "corpus": {},
        "arms": [{"name": "a", "from": None, "runs": []}],
    }
    (tmp_path / "results.json").write_text(json.dumps(least))
    assert "a has not run" in page_of(tmp_path).shown()


def test_an_arm_that_lacks_a_seed_says_which(tmp_path):
    folder = synthetic.make_study(tmp_path / "study", seeds=3)

    def take(results):
        results["status"] = "unfinished"
        results["arms"][0]["runs"][2] = {"seed": 2, "status": "missing"}

    synthetic.edit(folder, take)
    assert "char-wpe has not run with seed 2." in page_of(folder).shown()


def test_a_loss_that_is_not_finite_is_a_missing_figure(tmp_path):
    folder = synthetic.make_study(tmp_path / "study")

    def explode(results):
        for key in ("validation_nats_per_character", "training_nats_per_character", "batch_loss"):
            results["arms"][1]["runs"][0]["history"][-1][key] = float("nan")

    synthetic.edit(folder, explode)
    assert "bpe-wpe 2,000 – –" in page_of(folder).shown()


def test_errors_name_the_file_and_the_way_out(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"results\.json"):
        report.write(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ValueError, match=r"results\.json is not JSON"):
        report.write(tmp_path)
    (tmp_path / "results.json").write_text('{"format": 99, "arms": []}')
    with pytest.raises(ValueError, match="format 99"):
        report.write(tmp_path)


def test_a_report_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    folder = synthetic.make_study(tmp_path / "study")
    before = report.write(folder).read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space"):
        report.write(folder)
    assert (folder / "report.html").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "arms",
        "report.html",
        "report.md",
        "results.json",
    ]


def test_stories_of_an_earlier_version_are_shown_without_marks_and_it_is_said(page):
    assert "not marked: written by an earlier version" in page.shown() and "shilver key" in page.shown()
    assert not [tag for tag, _ in page.elements if tag == "mark"]
    assert not [kind for kind in stories.KINDS.values() if kind.note in page.shown()]


def test_writing_twice_gives_the_same_bytes(folder):
    first = (folder / "report.html").read_bytes()
    assert report.write(folder).read_bytes() == first
