"""Report pages that follow their studies: the report's own, as often as may be, and nothing is written."""

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from onechange import report
from onechange.ui import page_maker, pages
from onechange.ui.pages import Made, Pages
from onechange.ui.reading import Reader, version
from small_studies import files

LINKS = {"index": True}


def with_pages(work: Callable[[Pages], Awaitable[Any]]) -> Any:
    """What ``work`` returns of pages that are closed after it."""

    async def whole() -> Any:
        reader = Reader()
        found = Pages(reader, LINKS)
        try:
            return await work(found)
        finally:
            await found.close()
            reader.close()

    return asyncio.run(whole())


def main(page: str) -> str:
    """What a page shows, without what a server adds."""
    shown = page[page.index("<main>") + 6 : page.index("</main>")]
    return re.sub(r'<section id="standing".*?</section>', "", shown, count=1, flags=re.DOTALL).strip()


def test_it_is_the_reports_own_page_and_nothing_is_written(tmp_path: Path, finished: Path):
    study = shutil.copytree(finished, tmp_path / "study")
    (study / "results.json").unlink()
    before = files(study, ())
    made = with_pages(lambda pages: pages.get(study, "study", 120.0))
    assert files(study, ()) == before
    text = made.content.decode()
    assert main(text) == main(report.write(shutil.copytree(finished, tmp_path / "other")).read_text("utf-8"))
    assert '<a href="/">All studies</a>' in text and 'href="/studies/study/playground"' in text
    assert made.version == version(study) and f'content="{made.version}"' in text
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2 and made.policy.count("'sha256-") == 2
    assert made.policy.endswith("; frame-ancestors 'none'") and "connect-src 'self'" in made.policy


def test_a_name_that_is_no_text_can_be_shown(finished: Path):
    name = os.fsdecode(b"<no>\xff")
    found = page_maker.make(finished, name, "1", {"name": name, "index": True})
    assert b'href="/studies/%3Cno%3E%FF/playground"' in found


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda study: (study / "corpus.json").unlink(), "nothing is on record yet"),
        (lambda study: (study / "arms/plain/arm.json").write_text("{"), "arms/plain/arm.json is damaged"),
        (lambda study: shutil.rmtree(study), "holds no study"),
    ],
)  # fmt: skip
def test_why_there_is_no_page_is_one_line(tmp_path: Path, finished: Path, damage: Any, told: str):
    study = shutil.copytree(finished, tmp_path / "study")
    damage(study)
    found, content = page_maker.answer(
        {"folder": str(study), "name": "study", "version": "1", "links": {"name": "study", **LINKS}}
    )
    assert told in found["error"] and "\n" not in found["error"] and str(tmp_path) not in found["error"]
    assert content == b""


def test_no_run_has_begun_or_been_evaluated(tmp_path: Path, finished: Path):
    """The page of a study that is prepared, and of one whose first run has not come to an evaluation."""
    study = shutil.copytree(finished, tmp_path / "study")
    for run in study.glob("arms/*/seed-0"):
        shutil.rmtree(run)
        run.mkdir()
    asked = {"folder": str(study), "name": "study", "version": "1", "links": {"name": "study", **LINKS}}
    nothing, content = page_maker.answer(dict(asked))
    assert nothing["error"] is None and "plain has not run." in content.decode()
    shutil.copy(finished / "arms/plain/seed-0/recipe.toml", study / "arms/plain/seed-0")
    begun, content = page_maker.answer(dict(asked))
    assert begun["error"] is None and "plain has not finished: at step 0 of 6." in content.decode()


class Drawn:
    """Stands in for the process: counts what it is asked for, and is as dear as a test says."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.asked = seconds, []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, process: Any, line: bytes) -> tuple[dict[str, Any], bytes]:
        self.asked.append(json.loads(line)["version"])
        await self.go.wait()
        return {"bytes": 0, "seconds": self.seconds, "error": None}, b"drawn"


async def _no_process() -> Any:
    class Process:
        returncode = None

        def kill(self) -> None: ...

        async def wait(self) -> None: ...

    return Process()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    found = Drawn(0.0)
    monkeypatch.setattr(pages, "_answer", found)
    monkeypatch.setattr(pages, "_start", _no_process)
    monkeypatch.setattr("onechange.ui.reading.TOGETHER", 0.0)
    return found


def evaluated(study: Path) -> None:
    """Another evaluation is on record."""
    with (study / "arms/plain/seed-0/metrics.jsonl").open("a") as file:
        file.write("{}\n")


def test_a_page_is_drawn_when_its_files_change_and_costs_a_running_study_little(
    finished: Path, tmp_path: Path, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
):
    study = shutil.copytree(finished, tmp_path / "study")
    now = 1000.0
    monkeypatch.setattr("onechange.ui.pages.time.monotonic", lambda: now)

    async def work(found: Pages) -> None:
        nonlocal now

        async def drawings(*, spare: bool) -> int:
            task = await found.follow(study, "study", spare=spare)
            if task is not None:
                await task
            return len(drawn.asked)

        drawn.seconds = 2.0
        assert await drawings(spare=True) == 1, "what is not there yet is drawn at once"
        assert await drawings(spare=True) == 1, "nothing has changed"
        (study / "arms/plain/seed-0/progress.json").write_text("{}")
        assert await drawings(spare=True) == 1, "how far a run is stands on no page"
        evaluated(study)
        assert await drawings(spare=True) == 1
        now += 39.9
        assert await drawings(spare=True) == 1, "two seconds of twenty times as many are not over"
        now += 0.2
        assert await drawings(spare=True) == 2
        evaluated(study)
        assert await drawings(spare=False) == 3, "nothing trains that would be slowed"
        assert found.version(study) == drawn.asked[-1] == version(study)

    with_pages(work)


def test_many_who_ask_at_once_are_one(finished: Path, drawn: Drawn):
    async def work(found: Pages) -> None:
        drawn.go.clear()
        asking = [asyncio.create_task(found.get(finished, "out", 60.0)) for _ in range(50)]
        while not drawn.asked:
            await asyncio.sleep(0)
        assert await found.get(finished, "out", 0.0) is None, "who has no patience goes without"
        drawn.go.set()
        made = await asyncio.gather(*asking)
        assert len(drawn.asked) == 1 and {one.content for one in made if one} == {b"drawn"}

    with_pages(work)


def test_only_so_many_pages_are_kept(finished: Path, tmp_path: Path, drawn: Drawn):
    studies = [shutil.copytree(finished, tmp_path / str(number)) for number in range(pages.KEPT + 2)]

    async def work(found: Pages) -> None:
        for study in studies:
            await found.get(study, "study", 60.0)
        assert [found.version(study) is not None for study in studies] == [False] * 2 + [True] * pages.KEPT

    with_pages(work)


SHORT = """
import sys
for line in sys.stdin:
    sys.stdout.write('{"bytes": 5, "seconds": 0.0, "error": null}\\ndrawn')
    sys.stdout.flush()
"""


def test_a_process_that_died_is_replaced(finished: Path, monkeypatch: pytest.MonkeyPatch):
    """One that ended because nobody asked for long, or was killed."""
    monkeypatch.setattr(pages, "PROGRAM", SHORT)

    async def work(found: Pages) -> Made | None:
        dead = found._process = await pages._start()
        os.kill(dead.pid, signal.SIGKILL)
        made = await found.get(finished, "out", 120.0)
        assert found._process is not dead
        return made

    assert with_pages(work).content == b"drawn"


def test_a_process_that_dies_of_a_page_is_told(finished: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pages, "PROGRAM", "import sys; sys.stdin.readline()")
    made = with_pages(lambda found: found.get(finished, "out", 120.0))
    assert made == Made(
        version(finished), error="the page cannot be drawn: the process that draws it died twice"
    )
