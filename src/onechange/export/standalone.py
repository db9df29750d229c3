"""A folder that needs no library for models: weights, settings, tokenizer, and the model written out on one page.

The page, `load.py`, is put together from a piece for each member that the arm has, and holds nothing else.
"""

import json
import shutil
import textwrap
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from safetensors.torch import save
from torch import nn

from onechange import atomic, family, tokenizer_file
from onechange.export import card, folder, separate
from onechange.export.comparison import Agreement
from onechange.export.material import gathered
from onechange.export.origin import Origin
from onechange.export.written import Written
from onechange.model import Block, parameter_count
from onechange.position import Position

PIECES = Path(__file__).parent / "pieces"
PROMPT = "Once upon a time"


def write(origin: Origin, into: Path) -> Written:
    """Make the folder ``into``. A `ValueError` where a member has no piece, or what is written is not the model."""
    folder.check_free(into)
    check_pieces(origin)

    def fill(part: Path) -> tuple[Agreement, list[str]]:
        fill_in(origin, part)
        agreement = separate.tried(origin.trained, gathered(origin), part)
        return agreement, sorted(file.name for file in part.iterdir())

    agreement, files = folder.make(into, fill)
    return Written(
        "safetensors",
        into,
        "written out in load.py",
        parameter_count(origin.trained.model),
        files,
        agreement,
        f'python {into / "load.py"} "{PROMPT}"',
    )


def check_pieces(origin: Origin) -> None:
    """A `ValueError` names a member that the page cannot be made of."""
    for kind, part in origin.trained.recipe.parts.items():
        name = part["name"]
        if not piece(kind, name).is_file():
            raise ValueError(
                f'{kind} = "{name}": there is no piece of load.py for it; {piece(kind, name).name} in '
                f"onechange/export/pieces/{kind} would be one"
            )


def piece(kind: str, name: str) -> Path:
    """The template that writes a member out."""
    return PIECES / kind / f"{name}.py.jinja"


def fill_in(origin: Origin, part: Path) -> None:
    """Write the files, without trying them."""
    trained = origin.trained
    tensors = {name: weight.contiguous() for name, weight in trained.model.state_dict().items()}
    atomic.write(part / "model.safetensors", save(tensors, metadata={"format": "pt"}))
    atomic.write(part / "config.json", json.dumps(_settings(origin), ensure_ascii=False, indent=1) + "\n")
    atomic.write(part / "load.py", page(origin))
    shutil.copyfile(origin.folder / tokenizer_file.NAME, part / tokenizer_file.NAME)


def _settings(origin: Origin) -> dict[str, Any]:
    """Sizes and settings with nothing left to be worked out, and where the model comes from."""
    trained, recipe, sampling = origin.trained, origin.trained.recipe, origin.sampling
    members = origin.settings
    first = cast(Block, trained.model.blocks[0])
    members["mlp"] |= {"hidden": cast(nn.Linear, first.mlp.out).in_features}
    told = origin.told
    return {
        **{key: getattr(recipe, key) for key in ("layers", "heads", "width", "window", "dropout")},
        "vocabulary": trained.tokenizer.vocabulary_size,
        **{kind: members[kind] for kind in (*family.MODEL_FAMILIES, "tokenizer")},
        "separator": origin.separator,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "origin": {
            "onechange": metadata.version("onechange"),
            "study": told and told.study,
            "question": told and told.question,
            "scale": told and told.scale,
            "arm": told and told.arm,
            "change": told and told.change,
            "nats_per_character": origin.nats_per_character,
            "corpus": members["corpus"],
            "corpus_fingerprint": recipe.corpus_fingerprint,
            **{kind: members[kind] for kind in family.TRAINING_FAMILIES},
            **{key: getattr(recipe, key) for key in ("batch", "steps", "clip", "precision", "seed")},
            "step": trained.step,
        },
    }


def page(origin: Origin) -> str:
    """`load.py`."""
    model, recipe = origin.trained.model, origin.trained.recipe
    kind = type(model.position)
    embeds, turns, biases = (
        getattr(kind, name) is not getattr(Position, name) for name in ("embed", "rotate", "bias")
    )
    slides = bool(recipe.attention.get("sliding"))
    names = [name for name, wanted in (("position", turns), ("mask", biases or slides)) if wanted]
    passed = [name for name, wanted in (("self.position", turns), ("mask", biases or slides)) if wanted]
    return (
        card.environment(PIECES)
        .get_template("page.py.jinja")
        .render(
            title=origin.told.arm if origin.told else "A model",
            parameters=parameter_count(model),
            prompt=PROMPT,
            members=textwrap.fill(
                "Its parts: "
                + ", ".join(f"{kind} {part['name']}" for kind, part in recipe.parts.items())
                + ".",
                110,
            ),
            version=metadata.version("onechange"),
            parts=recipe.parts,
            embeds=embeds,
            turns=turns,
            biases=biases,
            slides=slides,
            given="".join(f", {name}" for name in names),
            passed="".join(f", {name}" for name in passed),
        )
    )
