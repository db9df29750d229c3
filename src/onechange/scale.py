"""The built-in scales: sizes and budget under which any study runs.

`full` has the article's sizes. What it leaves unsaid is written down in docs/decisions/0001-training-settings.md.
"""

from typing import Any

SCALES: dict[str, dict[str, Any]] = {
    "tiny": {
        "layers": 2,
        "heads": 2,
        "width": 32,
        "window": 32,
        "batch": 8,
        "budget": {"steps": 40},
        "evaluate_every": 20,
        "optimizer": [
            {"name": "adamw", "learning_rate": 5e-3},
            {"name": "muon", "learning_rate": 5e-3},
        ],
        "schedule": [
            {"name": "cosine", "warmup": 5},
            {"name": "constant", "warmup": 5},
            {"name": "warmup_stable_decay", "warmup": 5},
        ],
        "tokenizer": {"name": "bpe", "vocabulary": 512},
        "compile": "off",
        "threads": 1,
        "sampling": {"samples": 2, "characters": 80},
    },
    "quick": {
        "layers": 4,
        "heads": 4,
        "width": 128,
        "window": 128,
        "batch": 16,
        "budget": {"steps": 1000},
        "evaluate_every": 200,
        "optimizer": [
            {"name": "adamw", "learning_rate": 4e-3},
            {"name": "muon", "learning_rate": 4e-3},
        ],
        "schedule": {"name": "cosine", "warmup": 100},
        "threads": 1,
        "sampling": {"samples": 64, "characters": 800},
    },
    "full": {
        "layers": 6,
        "heads": 6,
        "width": 384,
        "window": 512,
        "batch": 32,
        "budget": {"steps": 2000},
        "evaluate_every": 200,
        "sampling": {"samples": 64, "characters": 800},
    },
    "large": {
        "layers": 12,
        "heads": 12,
        "width": 768,
        "window": 1024,
        "batch": 32,
        "micro_batch": 4,
        "activations": "recompute",
        "budget": {"steps": 2000},
        "evaluate_every": 200,
        "optimizer": {"name": "adamw", "learning_rate": 3e-4},
        "schedule": [
            {"name": "cosine", "warmup": 200},
            {"name": "constant", "warmup": 200},
            {"name": "warmup_stable_decay", "warmup": 200},
        ],
        "sampling": {"samples": 64, "characters": 800},
    },
}
"""A setting that a scale gives for a member applies only where an arm uses that member. Muon's updates have the size of
AdamW's, and so it has the same rates; a warm-up is as long under every schedule."""
