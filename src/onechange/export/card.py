"""The model card of an export: what the model is, where it comes from, how it is loaded, and what is exact."""

import json
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from onechange import family
from onechange.export.architectures import Architecture
from onechange.export.comparison import Agreement
from onechange.export.origin import Origin
from onechange.model import parameter_count

HERE = Path(__file__).parent
PROMPT = "Lucy found a small box under her bed."


def environment(folder: Path = HERE) -> Environment:
    """Of the templates in ``folder``, for texts that are no HTML; a name that a template does not know is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def text(origin: Origin, architecture: Architecture, agreement: Agreement, name: str) -> str:
    """`README.md`, with the head that the hub reads."""
    recipe = origin.trained.recipe
    return (
        environment()
        .get_template("card.md.jinja")
        .render(
            name=name,
            origin=origin,
            recipe=recipe,
            trained=origin.trained,
            architecture=architecture,
            agreement=agreement,
            remarks=_remarks(origin, architecture),
            members=origin.settings,
            families=family.MODEL_FAMILIES,
            said=json.dumps,
            prompt=_prompt(origin),
            parameters=parameter_count(origin.trained.model),
            stops="" if origin.end is not None else ", stop_strings=[separator], tokenizer=tokenizer",
            english=recipe.corpus["name"] in ("storyworld", "tinystories"),
            version=metadata.version("onechange"),
        )
    )


def _prompt(origin: Origin) -> str:
    """One that the tokenizer can write, and that leaves half of the window to what is written."""
    tokenizer, words = origin.trained.tokenizer, PROMPT.split()
    for count in range(len(words), 0, -1):
        prompt = " ".join(words[:count])
        with suppress(ValueError):
            if len(tokenizer.encode(prompt)) <= origin.trained.recipe.window // 2:
                return prompt
    return ""


def _remarks(origin: Origin, architecture: Architecture) -> list[str]:
    recipe, model = origin.trained.recipe, origin.trained.model
    found: list[Any] = architecture.remarks(model, recipe.parts)
    if recipe.dropout and not architecture.drops:
        found.append(
            f"It was trained with dropout {recipe.dropout:g} on what attention and mlp add and on the embeddings, "
            "which this architecture has no key for: whoever trains it further does so without."
        )
    if recipe.precision == "bf16":
        found.append("It was trained in bf16 with weights kept in float32, and these are written here.")
    if origin.trained.tokenizer.loss:
        found.append(f"Its tokenizer does not give every text back: {origin.trained.tokenizer.loss}.")
    return found
