"""Celery on RabbitMQ: `celery_rabbitmq.py PHASE AMOUNT URL` prints one line of JSON with the figures.

This process submits; Celery's own command starts a worker with two processes. Graphs are chords, counted in Redis, whose URL is in
PEER_RESULTS. The rule: figures are printed only if each task ran exactly once and no delayed one ran
early. Batch size, requests in flight and rates are those of Berth's own phases (bench/src/phase).
"""

import atexit
import ctypes
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from importlib.metadata import version

from celery import Celery, chain, group
from celery.signals import worker_ready
from kombu import Queue
from starts import GRAPH_NODES, MOST_TASKS, Starts, graph

BATCH = 1000
BATCH_CALLERS = 4
SUBMIT_IN_FLIGHT = 32
END_TO_END_IN_FLIGHT = 64
START_RATE = 200
DELAY_RATE = 500
DELAY_S = 0.6
WARM_UP_S = 2
QUEUE = "bench"

# The worker imports this file, too, and gets both from its environment.
url = os.environ.get("PEER_URL") or sys.argv[-1]
folder = os.environ.get("PEER_FOLDER") or tempfile.mkdtemp(prefix="berth-peer-")
ready_file = os.path.join(folder, "ready")

app = Celery("peer", broker=url, backend=os.environ.get("PEER_RESULTS"))
# As durable as Celery can be: persistent messages with confirms, acknowledged after the work.
app.conf.update(
    broker_pool_limit=END_TO_END_IN_FLIGHT,
    broker_transport_options={"confirm_publish": True},
    broker_connection_retry_on_startup=True,
    task_acks_late=True,
    task_default_delivery_mode="persistent",
    task_default_queue=QUEUE,
    task_ignore_result=True,
    task_queues=[Queue(QUEUE, durable=True)],
    worker_prefetch_multiplier=100,
)


starts = Starts(folder)


@app.task(name="bench")
def bench(n, labels):
    starts.add(n)


@app.task(name="node", ignore_result=False)
def node(n, labels):
    """One of those that a chord counts: it needs their results."""
    starts.add(n)


@worker_ready.connect
def is_ready(**_):
    open(ready_file, "w").close()


def arguments(number):
    return {"n": number, "labels": {"team": "bench"}}


def submit(number, due=None):
    eta = {"eta": datetime.fromtimestamp(due, timezone.utc)} if due else {}
    bench.apply_async(kwargs=arguments(number), **eta)


def start_graph(run):
    """A group between two tasks of a chain is a chord."""
    first, middle, last = graph(run)
    chain(
        bench.si(**arguments(first)),
        group(node.si(**arguments(number)) for number in middle),
        bench.si(**arguments(last)),
    ).apply_async()


def submit_many(first):
    """Celery has no call for a batch: one after the other on one connection."""
    with app.producer_pool.acquire(block=True) as producer:
        for number in range(first, first + BATCH):
            bench.apply_async(kwargs=arguments(number), producer=producer)


def in_flight(width, numbers, call):
    """Calls with each of `numbers`, `width` at a time. Returns how many there were."""

    def caller(_):
        done = 0
        # A generator shared by threads would need a lock; the `next` of these iterators is atomic.
        for number in numbers:
            call(number)
            done += 1
        return done

    with ThreadPoolExecutor(width) as pool:
        return sum(pool.map(caller, range(width)))


class Until:
    """0, 1, 2 and so on, for so many seconds."""

    def __init__(self, seconds):
        self.numbers, self.end = iter(range(MOST_TASKS)), time.monotonic() + seconds

    def __iter__(self):
        return self

    def __next__(self):
        if time.monotonic() > self.end:
            raise StopIteration
        return next(self.numbers)


def at_rate(rate, seconds, call):
    """Calls at a fixed rate, whatever the answers do. Returns the intended times."""
    began = time.time() + 0.05
    intended = [began + number / rate for number in range(rate * (WARM_UP_S + seconds))]
    with ThreadPoolExecutor(SUBMIT_IN_FLIGHT) as pool:
        calls = []
        for number, at in enumerate(intended):
            time.sleep(max(at - time.time(), 0))
            calls.append(pool.submit(call, number, at))
    for called in calls:
        called.result()
    return intended


class Worker:
    """Celery's own command."""

    def __enter__(self):
        command = [sys.executable, "-m", "celery", "--quiet", "--app", "celery_rabbitmq", "worker"]
        options = ["--concurrency", "2", "--queues", QUEUE, "--loglevel", "ERROR"]
        options += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        this_folder = os.path.dirname(os.path.abspath(__file__))
        environment = {"PEER_URL": url, "PEER_FOLDER": folder, "PYTHONPATH": this_folder}
        prctl, on_death_of_parent = ctypes.CDLL(None).prctl, 1
        self.process = subprocess.Popen(
            command + options,
            env=os.environ | environment | {"C_FORCE_ROOT": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=sys.stderr,
            start_new_session=True,
            preexec_fn=lambda: prctl(on_death_of_parent, signal.SIGTERM),
        )
        until = time.monotonic() + 30
        while not os.path.exists(ready_file):
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit("the worker did not start")
            time.sleep(0.05)

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def stored():
    with app.connection_for_read() as connection:
        return connection.default_channel.queue_declare(QUEUE, passive=True).message_count


def drain(count):
    began = time.time()
    in_flight(BATCH_CALLERS, iter(range(0, count, BATCH)), submit_many)
    submitted = time.time()
    with Worker():
        ran = starts.wait_for(count)
    return {"batch_submit_per_s": count / (submitted - began), "drain_per_s": count / (max(ran) - min(ran))}


def single_submit(seconds):
    began = time.time()
    count = in_flight(SUBMIT_IN_FLIGHT, Until(seconds), submit)
    figures = {"single_submit_per_s": count / (time.time() - began)}
    if stored() != count:
        raise SystemExit(f"{stored()} tasks are stored, {count} were submitted")
    return figures


def end_to_end(seconds):
    with Worker():
        began = time.time()
        count = in_flight(END_TO_END_IN_FLIGHT, Until(seconds), submit)
        return {"end_to_end_per_s": count / (max(starts.wait_for(count)) - began)}


def start(seconds):
    with Worker():
        intended = at_rate(START_RATE, seconds, lambda number, at: submit(number))
        ran = starts.wait_for(len(intended))
    return waits("submit_to_start", START_RATE, [begun - at for begun, at in zip(ran, intended)])


def delay(seconds):
    with Worker():
        intended = at_rate(DELAY_RATE, seconds, lambda number, at: submit(number, at + DELAY_S))
        ran = starts.wait_for(len(intended))
    late = [begun - at - DELAY_S for begun, at in zip(ran, intended)]
    if min(late) < -0.001:
        raise SystemExit(f"a task started {-min(late)} s early")
    return waits("lateness", DELAY_RATE, late)


def graphs(runs):
    with Worker():
        began = time.time()
        in_flight(SUBMIT_IN_FLIGHT, iter(range(runs)), start_graph)
        ended = starts.wait_for_graphs(runs)
    # None has run again since.
    starts.wait_for_graphs(runs)
    return {"graph_nodes_per_s": runs * GRAPH_NODES / (ended - began)}


def waits(name, rate, seconds):
    """Percentiles, without the warm-up."""
    ms = sorted(value * 1000 for value in seconds[rate * WARM_UP_S :])
    return {f"{name}_p{share}_ms": ms[max(math.ceil(share / 100 * len(ms)), 1) - 1] for share in (50, 99)}


def main():
    atexit.register(shutil.rmtree, folder)
    phases = {"drain": drain, "submit": single_submit, "end-to-end": end_to_end, "start": start, "delay": delay, "graphs": graphs}
    with app.connection_for_write() as connection:
        connection.default_channel.queue_delete(QUEUE)
        app.amqp.queues[QUEUE].bind(connection.default_channel).declare()
    figures = phases[sys.argv[1]](int(sys.argv[2]))
    print(json.dumps({"version": version("celery"), "figures": figures}))


if __name__ == "__main__":
    main()
