// The phases of a Node peer: `node PEER.mjs [VARIANT] PHASE AMOUNT URL` prints one line of JSON with the figures.
//
// This process submits, a child process works. The rule: figures are printed only if each task ran exactly once and no
// delayed one ran early. Batch size, requests in flight and rates are those of Berth's own phases (bench/src/phase).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BATCH = 1000;
const BATCH_CALLERS = 4;
const SUBMIT_IN_FLIGHT = 32;
const END_TO_END_IN_FLIGHT = 64;
const START_RATE = 200;
const DELAY_RATE = 500;
const DELAY_MS = 600;
const GRAPH_WIDTH = 100;
const GRAPH_NODES = GRAPH_WIDTH + 2;
const WARM_UP_S = 2;
const LIMIT_MS = 120_000;

const now = () => performance.timeOrigin + performance.now();
const task = (n) => ({ n, labels: { team: 'bench' } });

/**
 * Runs what the command line asks for. A peer has:
 * - `name`: of its package;
 * - `open(url)`: connects and prepares the database;
 * - `submit(task, due)`: submits one task; `due`, in ms since 1970, where it is delayed;
 * - `submitMany(tasks)`: submits them with one call;
 * - `startGraphs(graphs)`, where it has graphs: starts them; of each the task `first` runs, then the list `middle`, then `last`;
 * - `left()`: counts the tasks that have not finished;
 * - `work(url, started)`: starts a worker that calls `started(task)` at the start of each task.
 */
export async function run(peer, moduleUrl) {
  const [phase, amount, url] = process.argv.slice(-3);
  if (phase === 'work') return work(peer, url);
  await peer.open(url);
  const startWorker = () => Worker.start(fileURLToPath(moduleUrl), url);
  const figures = await PHASES[phase](peer, Number(amount), startWorker);
  const pinned = JSON.parse(readFileSync(new URL('package.json', import.meta.url)));
  console.log(JSON.stringify({ version: pinned.dependencies[peer.name], figures }));
  process.exit(0);
}

const PHASES = {
  async drain(peer, count, startWorker) {
    const began = now();
    await inFlight(BATCH_CALLERS, (n) => n * BATCH < count, (n) => peer.submitMany(range(n * BATCH, BATCH).map(task)));
    const submitted = now();
    const ran = await finished(peer, await startWorker(), count);
    return {
      batch_submit_per_s: perSecond(count, submitted - began),
      drain_per_s: perSecond(count, ran.ended - Math.min(...ran.starts)),
    };
  },

  async submit(peer, seconds) {
    const began = now();
    const count = await inFlight(SUBMIT_IN_FLIGHT, () => now() < began + seconds * 1000, (n) => peer.submit(task(n)));
    const figures = { single_submit_per_s: perSecond(count, now() - began) };
    const stored = await peer.left();
    if (stored !== count) throw new Error(`${stored} tasks are stored, ${count} were submitted`);
    return figures;
  },

  async 'end-to-end'(peer, seconds, startWorker) {
    const worker = await startWorker();
    const began = now();
    const more = () => now() < began + seconds * 1000;
    const count = await inFlight(END_TO_END_IN_FLIGHT, more, (n) => peer.submit(task(n)));
    const ran = await finished(peer, worker, count);
    return { end_to_end_per_s: perSecond(count, ran.ended - began) };
  },

  async start(peer, seconds, startWorker) {
    const worker = await startWorker();
    const sent = await atRate(START_RATE, seconds, true, (n) => peer.submit(task(n)));
    const { starts } = await finished(peer, worker, sent.length);
    const waits = counted(START_RATE, sent.map((intended, n) => starts[n] - intended));
    return { submit_to_start_p50_ms: percentile(waits, 0.5), submit_to_start_p99_ms: percentile(waits, 0.99) };
  },

  async delay(peer, seconds, startWorker) {
    const worker = await startWorker();
    // Whole milliseconds: the finest that all peers store.
    const due = (intended) => Math.ceil(intended + DELAY_MS);
    const sent = await atRate(DELAY_RATE, seconds, false, (n, intended) => peer.submit(task(n), due(intended)));
    const { starts } = await finished(peer, worker, sent.length);
    const late = counted(DELAY_RATE, sent.map((intended, n) => starts[n] - due(intended)));
    // The clocks of two processes differ by less than this.
    if (Math.min(...late) < -1) throw new Error(`a task started ${-Math.min(...late)} ms early`);
    return { lateness_p50_ms: percentile(late, 0.5), lateness_p99_ms: percentile(late, 0.99) };
  },

  async graphs(peer, runs, startWorker) {
    const worker = await startWorker();
    const graphs = range(0, runs).map(graph);
    const began = now();
    await peer.startGraphs(graphs);
    const { starts, ended } = await finished(peer, worker, runs * GRAPH_NODES);
    graphs.forEach((one) => inOrder(starts, one));
    return { graph_nodes_per_s: perSecond(runs * GRAPH_NODES, ended - began) };
  },
};

/** The tasks of one graph. */
function graph(n) {
  const [first, ...others] = range(n * GRAPH_NODES, GRAPH_NODES).map(task);
  return { first, middle: others.slice(0, GRAPH_WIDTH), last: others[GRAPH_WIDTH] };
}

/** Fails unless each task of the graph started after those that it waits for. */
function inOrder(starts, { first, middle, last }) {
  const between = middle.map(({ n }) => starts[n]);
  if (Math.min(...between) < starts[first.n] || Math.max(...between) > starts[last.n]) {
    throw new Error(`the graph of task ${first.n} did not run in order`);
  }
}

/** Calls `call(0)`, `call(1)` and so on while `more(n)`, so many at a time. Returns how many there were. */
async function inFlight(width, more, call) {
  let next = 0;
  await Promise.all(range(0, width).map(async () => {
    while (more(next)) await call(next++);
  }));
  return next;
}

/** Calls at a fixed rate, whatever the answers do. Returns the intended times. */
async function atRate(rate, seconds, precise, call) {
  const began = now() + 50;
  const intended = range(0, rate * (WARM_UP_S + seconds)).map((n) => began + (n * 1000) / rate);
  const calls = [];
  for (const [n, at] of intended.entries()) {
    if (at - now() > 1) await sleep(at - now() - 1);
    // Timers have whole milliseconds.
    while (precise && now() < at) await turn();
    calls.push(call(n, at));
  }
  await Promise.all(calls);
  return intended;
}

/** Waits until `count` tasks have finished. Returns when each started and when the last had finished. */
async function finished(peer, worker, count) {
  const until = now() + LIMIT_MS;
  while ((await worker.ask('count')) < count || (await peer.left()) > 0) {
    if (now() > until) throw new Error(`${await worker.ask('count')} of ${count} tasks ran in ${LIMIT_MS} ms`);
    await sleep(10);
  }
  const ended = now();
  const ran = await worker.ask('starts');
  const starts = [];
  for (const [n, at] of ran) starts[n] = at;
  if (ran.length !== count || Object.keys(starts).length !== count) {
    throw new Error(`${ran.length} starts of ${Object.keys(starts).length} tasks, ${count} were submitted`);
  }
  return { starts, ended };
}

/** The process that works. */
class Worker {
  static async start(script, url) {
    const options = process.argv.slice(2, -3);
    const worker = new Worker();
    worker.child = fork(script, [...options, 'work', '0', url], { stdio: ['ignore', 2, 2, 'ipc'] });
    worker.child.on('exit', (code) => {
      console.error(`the worker ended with ${code}`);
      process.exit(1);
    });
    await once(worker.child, 'message');
    return worker;
  }

  async ask(question) {
    this.child.send(question);
    const [answer] = await once(this.child, 'message');
    return answer;
  }
}

async function work(peer, url) {
  const starts = [];
  process.on('disconnect', () => process.exit(0));
  process.on('message', (question) => process.send(question === 'count' ? starts.length : starts));
  await peer.work(url, ({ n }) => starts.push([n, now()]));
  process.send('ready');
}

/** Without those of the warm-up. */
const counted = (rate, values) => values.slice(rate * WARM_UP_S);
const range = (first, count) => Array.from({ length: count }, (_, n) => first + n);
const perSecond = (count, ms) => (count / ms) * 1000;

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1];
}
