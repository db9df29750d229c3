"""How fast a training step of the article's size is: against transformers' GPT-2, and against the machine itself.

    python benchmarks/training.py [--rounds 3] [--scale full] [--only NAME …] [--json]

Every contestant lives in a process of its own, so that each has its own peak memory; the processes of a group take
turns, one step each, round after round. All have the same sizes, batch, learned positions, tied embedding, fused AdamW
and clipping, the same number of threads, an allocator that keeps memory, and dropout 0 where the name says no other.
The machine's rate is that of a bf16 product of 16,384 × 384 × 1,536, forward and backward. Medians, and ratios of
medians. transformers and x-transformers take part where they are installed (`pip install 'onechange[bench]'`).
"""

import argparse
import contextlib
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from onechange import device, family, processor
from onechange.allocator import keep_freed_memory
from onechange.engine import Engine
from onechange.operations import per_token
from onechange.plan import Means
from onechange.recipe import Recipe
from onechange.study_file import locate, read

ROWS, INNER, OUTER = 16_384, 384, 1_536
PRODUCTS = 10
VOCABULARY = 4_096
Step = Callable[[], object]


def recipe(scale: str, **changed: Any) -> Recipe:
    """The built-in study's BPE model, compiled where this machine can, but for what ``changed`` says."""
    study = read(locate("tokenizers-and-positions"))
    settings = study.settings("bpe-wpe", scale)
    steps = settings.pop("budget")["steps"]
    means = Means(
        threads=processor.threads(0),
        precision=processor.precision("auto"),
        compile=processor.why_not_compile() is None,
    )
    settings.update(
        threads=means.threads, precision=means.precision, compile=means.compile, device=means.device
    )
    return Recipe(corpus={}, corpus_fingerprint="", steps=steps, seed=0, **{**settings, **changed})


def ids(chosen: Recipe) -> torch.Tensor:
    """One fixed batch with its targets, "batch window+1"."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, VOCABULARY, (chosen.batch, chosen.window + 1), generator=generator)


def ours(**changed: Any) -> Callable[[str], Step]:
    """A whole update of our engine."""

    def make(scale: str) -> Step:
        chosen = recipe(scale, **changed)
        engine, batch = Engine(chosen, VOCABULARY), ids(chosen)
        return lambda: engine.update(1, batch[:, :-1], batch[:, 1:])

    return make


def updating(model: torch.nn.Module, loss: Callable[[], torch.Tensor], clip: float) -> Step:
    """A whole update of somebody else's model, with our optimizer and clipping."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )

    def step() -> None:
        loss().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def transformers_gpt2(compiled: bool) -> Callable[[str], Step]:
    """transformers' GPT-2: as it comes (float32, eager), or with bf16 autocast and `torch.compile`."""

    def make(scale: str) -> Step:
        transformers = importlib.import_module("transformers")
        chosen = recipe(scale)
        torch.set_num_threads(chosen.threads)
        config = transformers.GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=chosen.window,
            n_embd=chosen.width,
            n_layer=chosen.layers,
            n_head=chosen.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
            use_cache=False,
        )
        model = transformers.GPT2LMHeadModel(config).train()
        run = torch.compile(model, dynamic=False) if compiled else model
        batch = ids(chosen)[:, :-1]

        def loss() -> torch.Tensor:
            with torch.autocast("cpu", torch.bfloat16, enabled=compiled):
                return run(input_ids=batch, labels=batch).loss

        return updating(model, loss, chosen.clip)

    return make


def x_transformers(scale: str) -> Step:
    """x-transformers' decoder with bf16 autocast and `torch.compile`."""
    library = importlib.import_module("x_transformers")
    chosen = recipe(scale)
    torch.set_num_threads(chosen.threads)
    layers = library.Decoder(
        dim=chosen.width,
        depth=chosen.layers,
        heads=chosen.heads,
        attn_flash=True,
        attn_dim_head=chosen.width // chosen.heads,
    )
    model = library.TransformerWrapper(
        num_tokens=VOCABULARY, max_seq_len=chosen.window, attn_layers=layers, tie_embedding=True
    )
    wrapped = library.AutoregressiveWrapper(model)
    run = torch.compile(wrapped, dynamic=False)
    batch = ids(chosen)[:, :-1]

    def loss() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return run(batch)

    return updating(wrapped, loss, chosen.clip)


def product(scale: str) -> Step:
    """Bare bf16 products, forward and backward: 6 · rows · inner · outer operations each."""
    torch.set_num_threads(recipe(scale).threads)
    left = torch.randn(ROWS, INNER, dtype=torch.bfloat16, requires_grad=True)
    right = torch.randn(INNER, OUTER, dtype=torch.bfloat16, requires_grad=True)
    slope = torch.randn(ROWS, OUTER, dtype=torch.bfloat16)
    return lambda: [torch.autograd.grad(left @ right, (left, right), slope) for _ in range(PRODUCTS)]


CONTESTANTS: Mapping[str, Callable[[str], Step]] = {
    "product": product,
    "learned": ours(),
    "rope": ours(position=family.resolve("position", "rope")),
    "learned, dropout 0.1": ours(dropout=0.1),
    "learned, float32": ours(precision="float32"),
    "transformers float32": transformers_gpt2(compiled=False),
    "transformers bf16 + compile": transformers_gpt2(compiled=True),
    "x-transformers bf16 + compile": x_transformers,
}
GROUPS = (
    ("product", "learned", "rope", "learned, dropout 0.1", "transformers float32"),
    (
        "product",
        "learned",
        "learned, float32",
        "transformers bf16 + compile",
        "x-transformers bf16 + compile",
    ),
)
"""Who lives at the same time: all together would need more memory than 24 GiB. Ratios are taken within a group."""
NEEDS = {"transformers": "transformers", "x-transformers": "x_transformers"}


def present(name: str) -> bool:
    """Whether the package that a contestant needs is installed."""
    package = NEEDS.get(name.split(" ")[0])
    return package is None or importlib.util.find_spec(package) is not None


def serve(make: Callable[[str], Step], scale: str) -> None:
    """In a contestant's process: a step for every line read, answered with its seconds and the peak memory so far."""
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        keep_freed_memory()
        step = make(scale)
        for _ in sys.stdin:
            started = time.perf_counter()
            step()
            seconds = time.perf_counter() - started
            peak = device.peak_memory(torch.device("cpu"))
            print(json.dumps({"seconds": seconds, "peak_memory_bytes": peak}), file=answers, flush=True)


PROGRAM = ("-P", __file__)
"""-P: a file beside this one has the name of a package that transformers needs."""


class Contestant:
    """The other end of `serve`."""

    def __init__(self, name: str, scale: str, program: Sequence[str] = PROGRAM) -> None:
        self.name = name
        self.seconds: list[float] = []
        self.peak = 0
        self._process = subprocess.Popen(
            [sys.executable, *program, "--serve", name, "--scale", scale],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def step(self) -> float:
        """One step, in seconds."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("step\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: the benchmark with --serve {self.name!r} shows why")
        answer = json.loads(line)
        self.peak = answer["peak_memory_bytes"]
        return answer["seconds"]

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def measured(names: list[str], scale: str, rounds: int) -> list[Contestant]:
    """Every contestant's steps, interleaved."""
    contestants = []
    try:
        for name in names:  # one after another: compiling beside a measurement would disturb nobody yet
            contestants.append(Contestant(name, scale))
            for _ in range(2):
                contestants[-1].step()
        for _ in range(rounds):
            for one in contestants:
                one.seconds.append(one.step())
    finally:
        for one in contestants:
            one.close()
    return contestants


def ratios(median: Mapping[str, float], operations: float) -> dict[str, float]:
    """The ratios that the two names of each stand for, where both took part."""
    wanted = {
        "step_vs_transformers_float32": ("transformers float32", "learned"),
        "step_vs_transformers_bf16_compile": ("transformers bf16 + compile", "learned"),
        "step_vs_x_transformers_bf16_compile": ("x-transformers bf16 + compile", "learned"),
        "rope_vs_learned": ("learned", "rope"),
        "dropout_vs_none": ("learned", "learned, dropout 0.1"),
        "float32_vs_bf16": ("learned", "learned, float32"),
    }
    found = {name: median[a] / median[b] for name, (a, b) in wanted.items() if a in median and b in median}
    if "product" in median and "learned" in median:
        rate = PRODUCTS * 6 * ROWS * INNER * OUTER / median["product"]
        found["share_of_matrix_rate"] = operations / median["learned"] / rate
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", default="full")
    parser.add_argument("--only", action="append", choices=list(CONTESTANTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=list(CONTESTANTS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(CONTESTANTS[arguments.serve], arguments.scale)
        return
    groups = [
        [name for name in group if present(name) and name in (arguments.only or CONTESTANTS)]
        for group in GROUPS
    ]
    contestants = [measured(group, arguments.scale, arguments.rounds) for group in groups]
    chosen = recipe(arguments.scale)
    model = Engine(recipe(arguments.scale, compile=False), VOCABULARY).model
    tokens = chosen.batch * chosen.window
    operations = tokens * per_token(model, model.sizes)
    found: dict[str, float] = {}
    for group in reversed(contestants):  # what both groups say is the first one's
        found |= ratios({one.name: statistics.median(one.seconds) for one in group}, operations)
    result = {
        "ratios": found,
        "rows": [
            {
                "group": number,
                "what": one.name,
                "median_seconds": statistics.median(one.seconds),
                "fastest_seconds": min(one.seconds),
                "slowest_seconds": max(one.seconds),
                "tokens_per_second": None
                if one.name == "product"
                else tokens / statistics.median(one.seconds),
                "peak_memory_bytes": one.peak,
            }
            for number, group in enumerate(contestants, 1)
            for one in group
        ],
        "operations_per_step": operations,
        "machine": {
            **processor.machine(),
            **processor.versions(),
            "threads": chosen.threads,
            "precision": chosen.precision,
            "compile": chosen.compile,
        },
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result, arguments.scale, arguments.rounds)


def show(result: Mapping[str, Any], scale: str, rounds: int) -> None:
    """The table."""
    machine = result["machine"]
    print(
        f"scale {scale}, {result['operations_per_step'] / 1e9:,.0f} GFLOP a step, {machine['precision']}, "
        f"{'compiled' if machine['compile'] else 'eager'}, {machine['threads']} threads, {rounds} rounds\n"
    )
    print(f"{'what':<30}{'median s':>10}{'fastest':>10}{'slowest':>10}{'tokens/s':>10}{'peak GiB':>10}")
    for row in result["rows"]:
        speed = f"{row['tokens_per_second']:,.0f}" if row["tokens_per_second"] else ""
        print(
            f"{row['what']:<30}{row['median_seconds']:>10.4f}{row['fastest_seconds']:>10.4f}"
            f"{row['slowest_seconds']:>10.4f}{speed:>10}{row['peak_memory_bytes'] / 2**30:>10.2f}"
        )
    print()
    for name, value in result["ratios"].items():
        print(f"{name:<40}{value:>6.2f}")


if __name__ == "__main__":
    main()
