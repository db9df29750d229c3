"""What a study will use of this machine, in a line."""

from onechange import estimate
from onechange.plan import Plan


def told(plan: Plan, processes: int) -> str:
    """Threads, precision and whether it compiles."""
    chosen = plan.chosen
    why = estimate.why_eager(plan)
    how = "compiled" if chosen.compile else f"eager ({why})" if why else "eager"
    threads = f"{chosen.threads} thread" + ("s" if chosen.threads > 1 else "")
    each = f"{processes} processes of {threads}" if processes > 1 else threads
    on = f" on {chosen.device}" if chosen.device != "cpu" else ""
    return f"{each}, {chosen.precision}{on}, {how}"
