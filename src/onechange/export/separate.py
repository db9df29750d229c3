"""A folder with a `load.py`, tried in a process that has nothing of onechange."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from onechange import atomic
from onechange.checkpoint_reader import Trained
from onechange.export import comparison
from onechange.export.comparison import Agreement, Differs
from onechange.export.material import Material

PROGRAM = """
import importlib.util, json, sys
sys.modules["onechange"] = sys.modules["transformers"] = None  # whoever imports them fails
import torch
from safetensors.torch import load_file, save_file
for place in sys.argv[1:]:
    order = json.load(open(place + "/order.json", encoding="utf-8"))
    spec = importlib.util.spec_from_file_location("load", order["folder"] + "/load.py")
    page = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(page)
    model, given, found = page.load(), load_file(place + "/given.safetensors"), {}
    entering, leaving = [], []
    model.blocks[0].register_forward_pre_hook(lambda module, given: entering.append(given[0][0]))
    for block in model.blocks:
        block.register_forward_hook(lambda module, given, made: leaving.append(made[0]))
    with torch.no_grad():
        for number in range(order["rows"]):
            entering.clear(), leaving.clear()
            found[f"scores.{number}"] = model(given[f"row.{number}"][None])[0]
            if number == order["features"]:
                for depth, part in enumerate(entering + leaving):
                    found[f"features.{depth}"] = part.contiguous()
    prompts = given["prompts"]
    written = [model.generate(ids.tolist(), order["new"], temperature=0)[len(ids):] for ids in prompts]
    found["written"] = torch.tensor(written)
    save_file(found, place + "/found.safetensors")
    try:
        from tokenizers import Tokenizer
    except ImportError:
        texts = None
    else:
        cut = Tokenizer.from_file(order["folder"] + "/tokenizer.json")
        ids = [cut.encode(text, add_special_tokens=False).ids for text in order["texts"]]
        texts = [[some, cut.decode(some, skip_special_tokens=False)] for some in ids]
    json.dump(texts, open(place + "/found.json", "w", encoding="utf-8"))
"""


@dataclass(frozen=True)
class Answers:
    """What the page made of a material."""

    scores: Sequence[Tensor]
    written: Tensor
    texts: Sequence[tuple[list[int], str]] | None
    """Ids, and what they are decoded to; ``None`` where the library tokenizers is not installed."""
    features: Sequence[Tensor]


def tried(trained: Trained, given: Material, folder: Path) -> Agreement:
    """Load the folder with its own page in a process of its own, and compare; `Differs` says where it is another."""
    (answers,) = asked([(given, folder)])
    return agreement(trained, given, answers, folder)


def agreement(trained: Trained, given: Material, answers: Answers, folder: Path) -> Agreement:
    """How well the ``answers`` agree with the model. ``folder``: to ask more where they do not."""
    model, tokenizer = trained.model, trained.tokenizer
    rows = iter(range(len(given.rows)))
    now = 0

    def theirs(ids: Tensor) -> Tensor:
        nonlocal now
        now = next(rows)
        return answers.scores[now]

    def explained(ids: Tensor) -> str:
        (more,) = asked([(given, folder)], features=now)
        return comparison.first_layer(comparison.features(model, ids), more.features)

    difference, most, count = comparison.largest_difference(
        given, comparison.scores(model), theirs, explained
    )
    alike, ties = comparison.same_tokens(model, given.prompts, given.new, answers.written.numpy())
    texts = 0
    if answers.texts is not None:
        found = dict(zip(given.texts, answers.texts, strict=True))
        back = {tuple(ids): text for ids, text in answers.texts}
        texts = comparison.same_texts(
            tokenizer, given.texts, lambda text: found[text][0], lambda ids: back[tuple(ids)]
        )
    return Agreement(difference, most, count, len(given.rows), alike, ties, texts, given.what)


def asked(what: Sequence[tuple[Material, Path]], features: int = -1) -> list[Answers]:
    """What several folders' pages make of a material each, all in one new process.

    ``features``: of which row to hand back what goes through the layers.
    """
    with tempfile.TemporaryDirectory(prefix="onechange-") as name:
        places = [Path(name, str(number)) for number in range(len(what))]
        for place, (given, folder) in zip(places, what, strict=True):
            place.mkdir()
            rows = {f"row.{number}": ids.clone() for number, ids in enumerate(given.rows)}
            atomic.write(place / "given.safetensors", save({**rows, "prompts": given.prompts}))
            order: dict[str, Any] = {
                "folder": str(folder.absolute()),
                "rows": len(rows),
                "new": given.new,
                "texts": list(given.texts),
                "features": features,
            }
            atomic.write(place / "order.json", json.dumps(order))
        # -I: nothing of this process's path or environment is taken over.
        ended = subprocess.run(
            [sys.executable, "-I", "-c", PROGRAM, *map(str, places)],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        )
        if ended.returncode:
            last = (ended.stderr.strip() or "it ended without a word").splitlines()[-1]
            raise Differs(f"its load.py fails: {last}")
        return [_answers(place, len(given.rows)) for place, (given, _) in zip(places, what, strict=True)]


def _answers(place: Path, rows: int) -> Answers:
    found = load_file(place / "found.safetensors")
    texts = json.loads((place / "found.json").read_text("utf-8"))
    depth = sum(name.startswith("features.") for name in found)
    return Answers(
        [found[f"scores.{number}"] for number in range(rows)],
        found["written"],
        texts,
        [found[f"features.{number}"] for number in range(depth)],
    )
