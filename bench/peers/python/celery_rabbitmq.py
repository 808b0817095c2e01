"""Celery on RabbitMQ: `celery_rabbitmq.py PHASE AMOUNT URL` prints one line of JSON with the figures.

This process submits; Celery's own command starts a worker with two processes. They write the start of each task into a
file that all map into memory. The rule: figures are printed only if each task ran exactly once and no delayed one ran
early. Batch size, requests in flight and rates are those of Berth's own phases (bench/src/phase).
"""

import atexit
import ctypes
import json
import math
import mmap
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

from celery import Celery
from celery.signals import worker_ready
from kombu import Queue

BATCH = 1000
BATCH_CALLERS = 4
SUBMIT_IN_FLIGHT = 32
END_TO_END_IN_FLIGHT = 64
START_RATE = 200
DELAY_RATE = 500
DELAY_S = 0.6
WARM_UP_S = 2
LIMIT_S = 120
MOST_TASKS = 2_000_000
QUEUE = "bench"

# The worker imports this file, too, and gets both from its environment.
url = os.environ.get("PEER_URL") or sys.argv[-1]
folder = os.environ.get("PEER_FOLDER") or tempfile.mkdtemp(prefix="berth-peer-")
ready_file = os.path.join(folder, "ready")

app = Celery("peer", broker=url)
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


class Starts:
    """When each task started, in seconds since 1970; zero: not yet, negative: twice."""

    def __init__(self):
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


starts = Starts()


@app.task(name="bench")
def bench(n, labels):
    starts.add(n)


@worker_ready.connect
def is_ready(**_):
    open(ready_file, "w").close()


def arguments(number):
    return {"n": number, "labels": {"team": "bench"}}


def submit(number, due=None):
    eta = {"eta": datetime.fromtimestamp(due, timezone.utc)} if due else {}
    bench.apply_async(kwargs=arguments(number), **eta)


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


def waits(name, rate, seconds):
    """Percentiles, without the warm-up."""
    ms = sorted(value * 1000 for value in seconds[rate * WARM_UP_S :])
    return {f"{name}_p{share}_ms": ms[max(math.ceil(share / 100 * len(ms)), 1) - 1] for share in (50, 99)}


def main():
    atexit.register(shutil.rmtree, folder)
    phases = {"drain": drain, "submit": single_submit, "end-to-end": end_to_end, "start": start, "delay": delay}
    with app.connection_for_write() as connection:
        connection.default_channel.queue_delete(QUEUE)
        app.amqp.queues[QUEUE].bind(connection.default_channel).declare()
    figures = phases[sys.argv[1]](int(sys.argv[2]))
    print(json.dumps({"version": version("celery"), "figures": figures}))


if __name__ == "__main__":
    main()
