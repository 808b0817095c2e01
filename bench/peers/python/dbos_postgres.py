"""DBOS on Postgres: `dbos_postgres.py graphs RUNS URL` prints one line of JSON with the figures.

This process starts runs through a queue; two worker processes execute them. The first and the last task of a graph are steps of
its workflow, those between are workflows of their own in a queue, which either worker may execute. The rule: figures are printed
only if each task ran exactly once and each run succeeded.
"""

import atexit
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from dbos import DBOS, DBOSClient
from starts import GRAPH_NODES, Starts, graph

SUBMIT_IN_FLIGHT = 32
WORKERS = 2
# Of each worker, as the other phases give to a peer with one process.
CONCURRENCY = 50
# DBOS polls each second by default.
POLL_S = 0.1

url = sys.argv[-1].replace("postgres://", "postgresql://", 1)
folder = os.environ.get("PEER_FOLDER") or tempfile.mkdtemp(prefix="berth-peer-")
starts = Starts(folder)


@DBOS.step()
def step(n):
    starts.add(n)


@DBOS.workflow()
def node(n):
    starts.add(n)


@DBOS.workflow()
def run(number):
    first, middle, last = graph(number)
    step(first)
    handles = [DBOS.enqueue_workflow("nodes", node, n) for n in middle]
    for handle in handles:
        handle.get_result(polling_interval_sec=POLL_S)
    step(last)


def ready_file(number):
    return os.path.join(folder, f"ready-{number}")


def work(number):
    """A worker, until it is killed."""
    DBOS(
        config={
            "name": "peer",
            "system_database_url": url,
            "executor_id": f"worker-{number}",
            "application_version": "1",
            "log_level": "ERROR",
        }
    )
    DBOS.launch()
    DBOS.register_queue("runs", polling_interval_sec=POLL_S)
    DBOS.register_queue("nodes", polling_interval_sec=POLL_S, worker_concurrency=CONCURRENCY)
    open(ready_file(number), "w").close()
    signal.pause()


class Workers:
    """One after the other: the first one prepares the database."""

    def __enter__(self):
        self.processes = []
        prctl, on_death_of_parent = ctypes.CDLL(None).prctl, 1
        for number in range(WORKERS):
            process = subprocess.Popen(
                [sys.executable, __file__, "work", str(number), url],
                env=os.environ | {"PEER_FOLDER": folder, "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=sys.stderr,
                preexec_fn=lambda: prctl(on_death_of_parent, signal.SIGTERM),
            )
            self.processes.append(process)
            until = time.monotonic() + 60
            while not os.path.exists(ready_file(number)):
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit("a worker did not start")
                time.sleep(0.05)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def graphs(runs):
    with Workers():
        client = DBOSClient(system_database_url=url, system_database_pool_size=SUBMIT_IN_FLIGHT)
        options = {"queue_name": "runs", "workflow_name": "run", "app_version": "1"}
        began = time.time()
        with ThreadPoolExecutor(SUBMIT_IN_FLIGHT) as pool:
            handles = list(pool.map(lambda number: client.enqueue(options, number), range(runs)))
        ended = starts.wait_for_graphs(runs)
        for handle in handles:
            handle.get_result()
        client.destroy()
    # None has run again since.
    starts.wait_for_graphs(runs)
    return {"graph_nodes_per_s": runs * GRAPH_NODES / (ended - began)}


def main():
    phase, amount = sys.argv[1], int(sys.argv[2])
    if phase == "work":
        return work(amount)
    atexit.register(shutil.rmtree, folder)
    figures = {"graphs": graphs}[phase](amount)
    print(json.dumps({"version": version("dbos"), "figures": figures}))


if __name__ == "__main__":
    main()
