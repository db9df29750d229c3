"""A folder that transformers loads, without code of ours: `AutoModelForCausalLM.from_pretrained(DIR)`."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float, Int
from safetensors.torch import save
from torch import Tensor

from onechange import atomic, tokenizer_file
from onechange.export import architectures, card, comparison, folder, material
from onechange.export.architectures import Architecture
from onechange.export.comparison import Agreement, Differs
from onechange.export.material import Material
from onechange.export.origin import Origin
from onechange.export.written import Written
from onechange.model import parameter_count


def write(origin: Origin, into: Path) -> Written:
    """Make the folder ``into``. A `ValueError` where no architecture fits, or what is written is not the model."""
    folder.check_free(into)
    architecture = architectures.fitting(origin.trained.recipe.parts)
    library = _transformers()

    def fill(part: Path) -> tuple[Agreement, list[str]]:
        with _quiet(library):
            _settings(library, architecture, origin, part)
            _weights(architecture, origin, part)
            _tokenizer(origin, part)
            agreement = _tried(library, origin, part)
        text = card.text(origin, architecture, agreement, into.name)
        atomic.write(part / "README.md", text)
        return agreement, sorted(file.name for file in part.iterdir())

    agreement, files = folder.make(into, fill)
    return Written(
        "hf",
        into,
        architecture.name,
        parameter_count(origin.trained.model),
        files,
        agreement,
        f'AutoModelForCausalLM.from_pretrained("{into}"), AutoTokenizer.from_pretrained("{into}")',
    )


def _transformers() -> ModuleType:
    try:
        import tokenizers  # noqa: F401 (transformers reads tokenizers with it)
        import transformers
    except ImportError as error:
        raise ValueError(
            f"--to hf needs the library {error.name}, which is not installed: pip install 'onechange[export]'"
        ) from None
    return transformers


@contextmanager
def _quiet(library: ModuleType) -> Iterator[None]:
    """No remarks and no progress bars of the library."""
    log = library.utils.logging
    level, shown = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if shown:
            log.enable_progress_bar()


def _settings(library: ModuleType, architecture: Architecture, origin: Origin, part: Path) -> None:
    """`config.json`, and `generation_config.json` with the study's way to write."""
    model, recipe = origin.trained.model, origin.trained.recipe
    settings = architecture.settings(model, recipe.parts)
    config = getattr(library, architecture.configuration)(
        architectures=[architecture.name],
        vocab_size=model.sizes.vocabulary,
        tie_word_embeddings=model.scoring is model.embedding,
        dtype="float32",
        bos_token_id=None,
        eos_token_id=origin.end,
        pad_token_id=None,
        **settings,
    )
    config.save_pretrained(part)
    written = json.loads((part / "config.json").read_text("utf-8"))
    # The library drops these keys, but a version that knows no others would take its own defaults.
    written |= architecture.older(settings)
    atomic.write(part / "config.json", json.dumps(written, indent=2, sort_keys=True) + "\n")
    _generation(library, origin).save_pretrained(part)


def _generation(library: ModuleType, origin: Origin) -> Any:
    sampling = origin.sampling
    chosen: dict[str, Any] = {"do_sample": False}
    if sampling.temperature > 0:
        chosen = {
            "do_sample": True,
            "temperature": sampling.temperature,
            "top_k": min(sampling.top_k, origin.trained.tokenizer.vocabulary_size),
            "top_p": sampling.top_p,
        }
        if sampling.min_p > 0:
            chosen["min_p"] = sampling.min_p
    if sampling.repetition_penalty != 1:
        chosen["repetition_penalty"] = sampling.repetition_penalty
    return library.GenerationConfig(
        max_length=origin.trained.recipe.window,
        eos_token_id=origin.end,
        pad_token_id=origin.end,  # where one text of several has ended, something must stand
        **chosen,
    )


def _weights(architecture: Architecture, origin: Origin, part: Path) -> None:
    """`model.safetensors`; a table that two layers share stands there once."""
    found = architecture.weights(origin.trained.model)
    tensors = {name: weight.detach().float().contiguous().clone() for name, weight in found.items()}
    atomic.write(part / "model.safetensors", save(tensors, metadata={"format": "pt"}))


def _tokenizer(origin: Origin, part: Path) -> None:
    shutil.copyfile(origin.folder / tokenizer_file.NAME, part / tokenizer_file.NAME)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": origin.trained.recipe.window,
    }
    atomic.write(part / tokenizer_file.CONFIG, json.dumps(settings, indent=2) + "\n")


def _tried(library: ModuleType, origin: Origin, part: Path) -> Agreement:
    """The folder as anybody loads it, beside the model."""
    model, given = origin.trained.model, material.gathered(origin)
    loaded, told = library.AutoModelForCausalLM.from_pretrained(
        part, local_files_only=True, output_loading_info=True, dtype=torch.float32
    )
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if told.get(what):
            raise Differs(
                f"transformers finds {what.replace('_', ' ')}: {', '.join(sorted(map(str, told[what])))}"
            )
    loaded = loaded.eval()
    difference, most, count = comparison.largest_difference(
        given,
        comparison.scores(model),
        _scores(loaded),
        lambda ids: comparison.first_layer(comparison.features(model, ids), _features(loaded, ids)),
    )
    alike, ties = comparison.same_tokens(model, given.prompts, given.new, _goes_on(library, loaded, given))
    tokenizer = library.AutoTokenizer.from_pretrained(part, local_files_only=True)
    texts = comparison.same_texts(
        origin.trained.tokenizer,
        given.texts,
        lambda text: tokenizer(text)["input_ids"],
        lambda ids: tokenizer.decode(ids),
    )
    return Agreement(difference, most, count, len(given.rows), alike, ties, texts, given.what)


def _scores(loaded: Any) -> comparison.Scores:
    @torch.no_grad()
    def found(ids: Int[Tensor, " time"]) -> Float[Tensor, "time vocabulary"]:
        return loaded(ids[None]).logits[0].float()

    return found


@torch.no_grad()
def _features(loaded: Any, ids: Int[Tensor, " time"]) -> list[Tensor]:
    """The last one has gone through the last norm, and is left out."""
    return [state[0] for state in loaded(ids[None], output_hidden_states=True).hidden_states[:-1]]


@torch.no_grad()
def _goes_on(library: ModuleType, loaded: Any, given: Material) -> Any:
    kept, loaded.generation_config = loaded.generation_config, library.GenerationConfig()
    try:
        how = library.GenerationConfig(
            do_sample=False,
            max_new_tokens=given.new,
            min_new_tokens=given.new,
            eos_token_id=None,
            pad_token_id=0,
        )
        found = loaded.generate(
            given.prompts, attention_mask=torch.ones_like(given.prompts), generation_config=how
        )
    finally:
        loaded.generation_config = kept
    return found[:, given.prompts.shape[1] :].numpy()
