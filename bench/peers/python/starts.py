"""When each task started, in a file that the processes of a driver map into memory."""

import mmap
import os
import time

MOST_TASKS = 2_000_000
LIMIT_S = 120
# One, a hundred, and one.
GRAPH_NODES = 102


class Starts:
    """When each task started, in seconds since 1970; zero: not yet, negative: twice."""

    def __init__(self, folder):
        with open(os.path.join(folder, "starts"), "a+b") as file:
            file.truncate(MOST_TASKS * 8)
            self.seconds = memoryview(mmap.mmap(file.fileno(), MOST_TASKS * 8)).cast("d")

    def add(self, number):
        self.seconds[number] = -1.0 if self.seconds[number] else time.time()

    def wait_for(self, count):
        """Waits until that many tasks have started. Returns the starts."""
        until = time.monotonic() + LIMIT_S
        for number in range(count):
            while not self.seconds[number]:
                if time.monotonic() > until:
                    raise SystemExit(f"task {number} of {count} did not run in {LIMIT_S} s")
                time.sleep(0.005)
        starts = list(self.seconds[:count])
        if min(starts) < 0:
            raise SystemExit("a task ran twice")
        return starts

    def wait_for_graphs(self, runs):
        """The same of so many graphs. Returns the last start."""
        starts = self.wait_for(runs * GRAPH_NODES)
        for first in range(0, len(starts), GRAPH_NODES):
            middle = starts[first + 1 : first + GRAPH_NODES - 1]
            if min(middle) < starts[first] or max(middle) > starts[first + GRAPH_NODES - 1]:
                raise SystemExit(f"the graph of task {first} did not run in order")
        return max(starts)


def graph(run):
    """Numbers of its tasks: the first, those after it, and the last one, which is after these."""
    first = run * GRAPH_NODES
    last = first + GRAPH_NODES - 1
    return first, range(first + 1, last), last
