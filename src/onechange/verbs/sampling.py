"""`onechange sample`: trained models continue a prompt."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from onechange import cached, checkpoint_reader, finished_run, json_file, shapes
from onechange import sampling as settings
from onechange.checkpoint_reader import Trained
from onechange.decoding import Decoder
from onechange.generate import Piece, gathered, write
from onechange.model import Model
from onechange.processor import why_not_compile
from onechange.sampling import Sampling
from onechange.study import DEMONSTRATION
from onechange.study_folder import StudyFolder
from onechange.verbs import output, stories, words
from onechange.verbs.stories import Author


@dataclass(frozen=True)
class How:
    """How texts are computed: in which ``weights``, `onechange.row_linear.Weights`, and whether ``compiled``."""

    weights: str
    compiled: bool

    def decoder(self, model: Model, rows: int) -> Decoder:
        """As `onechange.generate` asks for one."""
        return cached.decoder(model, rows, weights=words.weights_word(self.weights), compiled=self.compiled)

    def check(self) -> None:
        """A `ValueError` for weights that there are not, or where nothing can be compiled."""
        words.weights_word(self.weights)
        if self.compiled and (reason := why_not_compile()):
            raise ValueError(f"--compile: {reason}; install it, or go without")


@dataclass(frozen=True)
class Asked:
    """What a person wants written; without a prompt, the article's first is continued."""

    checkpoint: str
    prompts: Sequence[str]
    sampling: Sampling
    go_on: bool
    """Whether a story goes on where the model ends it."""
    how: How
    trust: bool
    """Execute code that the runs keep of members from outside."""


def sample(named: Sequence[Path], asked: Asked, as_json: bool) -> None:
    """Continue every prompt with every run: one run's stories as they are written, several runs' side by side."""
    words.any_checkpoint(asked.checkpoint)
    asked.how.check()
    asked = replace(asked, prompts=[_prompt(prompt) for prompt in asked.prompts])
    folders = [run for folder in named for run in _runs(folder)]
    if as_json:
        for folder in folders:
            _lines(*_begun(folder, asked))
    elif len(folders) == 1:
        stories.as_written(*_begun(folders[0], asked))
    else:
        authors, written = [], []
        for folder in folders:
            author, pieces = _begun(folder, asked)
            authors.append(author)
            written.append(gathered(pieces))
        stories.side_by_side(authors, written)


def _prompt(word: str) -> str:
    """What ``word`` stands for. The end of the line in which standard input was typed is no part of it."""
    return words.given(word).removesuffix("\n") if word == "-" else word


def _runs(folder: Path) -> list[Path]:
    """The runs that ``folder`` stands for: itself, an arm's first finished seed, or that of every arm of a study."""
    study = StudyFolder(folder)
    if not study.exists:
        if (folder / "recipe.toml").is_file() or not any(folder.glob("seed-*")):
            return [folder]
        return finished_run.below(folder)[0][:1]
    found = []
    for name in study.study().names(study.start().scale):
        try:
            found += finished_run.below(folder / "arms" / name)[0][:1]
        except (ValueError, LookupError) as error:
            output.say(f"{error.args[0]}; left out")
    if not found:
        raise ValueError(f"{folder} has no finished run")
    return found


def _begun(folder: Path, asked: Asked) -> tuple[Author, Iterator[Piece]]:
    """Who writes, and what; nothing is written yet, but every mistake in what was asked is found."""
    trained = checkpoint_reader.read(folder, words.any_checkpoint(asked.checkpoint), asked.trust)
    separator = trained.recipe.corpus["separator"]
    sampling = asked.sampling if asked.go_on else asked.sampling.ending_at(separator)
    if note := settings.remark(sampling, trained.tokenizer.vocabulary_size):
        output.say(f"{folder}: {note}")
    prompts = asked.prompts or [DEMONSTRATION]
    try:
        pieces = write(
            trained.model, trained.tokenizer, prompts, sampling, before=separator, decoder=asked.how.decoder
        )
    except ValueError as error:
        advice = "" if asked.prompts else "; name another prompt with --prompt"
        raise ValueError(f"{error.args[0]}{advice}") from None
    return _author(folder, asked.checkpoint, trained, sampling), pieces


def _author(folder: Path, checkpoint: str, trained: Trained, sampling: Sampling) -> Author:
    path = folder.resolve()
    arm = path.parent.name if path.parent.parent.name == "arms" else path.name
    nats = None
    if (folder / "measures.json").is_file():
        measures = json_file.read(folder / "measures.json")
        shapes.fit(measures, shapes.Measures, folder / "measures.json")
        at = {measures[which]["step"]: measures[which]["nats_per_character"] for which in ("last", "best")}
        nats = at.get(trained.step)
    return Author(str(folder), arm, trained.recipe.seed, checkpoint, trained.step, nats, sampling)


def _lines(author: Author, pieces: Iterator[Piece]) -> None:
    """One JSON object per story."""
    told = {key: getattr(author, key) for key in ("run", "arm", "seed", "checkpoint", "step")}
    for story in gathered(pieces):
        content = {**told, **asdict(story), "settings": msgspec.structs.asdict(author.sampling)}
        print(json.dumps(content, ensure_ascii=False))
