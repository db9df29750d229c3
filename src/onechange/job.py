"""The program of a process that trains runs for a study: orders on standard input, reports on standard output.

Both are JSON lines; see `onechange.orders`. SIGTERM asks it to stop, and so does an empty line; a step that it makes is
finished and saved (`onechange.stopping`). The end of standard input ends the process at once, whatever it is doing: its
study is gone or needs it no more.
"""

import _thread
import os
import queue
import signal
import sys
import threading
import time
import traceback
from types import FrameType
from typing import BinaryIO

import msgspec

from onechange import mistake, outside, stopping
from onechange.job_process import STOP
from onechange.orders import Order, Refused, Remarked, Report, Stepped, Stopped, carry_out
from onechange.texts import Texts
from onechange.training import Moment

SECONDS_BETWEEN_REPORTS = 0.05


class Job:
    """Carries out orders one after another and reports to ``out``."""

    def __init__(self, orders: BinaryIO, out: BinaryIO) -> None:
        self._orders = orders
        self._out = out
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._texts = Texts()
        self._told = 0.0

    def listen(self) -> None:
        """Take in orders until there is no study any more; then end the process."""
        for line in self._orders:
            if line.strip() == STOP:
                _thread.interrupt_main(signal.SIGTERM)  # as if it had been sent, on every system
            else:
                self._waiting.put(line)
        os._exit(0)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Answer a signal while nothing is trained: nothing can be lost."""
        os._exit(128 + number)

    def work(self) -> None:
        """Carry out orders for ever."""
        while True:
            order = msgspec.json.decode(self._waiting.get(), type=Order)
            try:
                outside.execute(order.codes)  # its tokenizer may be among them
                report = carry_out(order, self._texts.of(order.recipe), self._watch, self._say)
            except stopping.Stopped:
                report = Stopped()
            except (ValueError, LookupError, OSError) as error:
                if os.environ.get("ONECHANGE_TRACEBACK"):
                    raise
                report = Refused(mistake.sentence(error))
            self._tell(report)

    def _say(self, note: str) -> None:
        self._tell(Remarked(note))

    def _watch(self, moment: Moment) -> None:
        now = time.monotonic()
        last = moment.step == moment.steps
        if (
            last
            or moment.validation_nats_per_character is not None
            or now - self._told > SECONDS_BETWEEN_REPORTS
        ):
            self._told = now
            self._tell(Stepped(moment))

    def _tell(self, report: Report) -> None:
        self._out.write(msgspec.json.encode(report) + b"\n")
        self._out.flush()


def main() -> None:
    """Work until standard input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among the reports
    job = Job(sys.stdin.buffer, out)
    signal.signal(signal.SIGTERM, job.stop)
    threading.Thread(target=job.listen, daemon=True).start()
    try:
        job.work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # the usual way out would wait for the thread that reads


if __name__ == "__main__":
    main()
