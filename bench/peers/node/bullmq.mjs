// BullMQ on Redis. The bench has set how Redis makes writes durable.
import { Queue, Worker } from 'bullmq';
import { run } from './phases.mjs';

const QUEUE = 'bench';
const CONCURRENCY = 50;

function connection(text) {
  const url = new URL(text);
  const [host, port, db] = [url.hostname, Number(url.port), Number(url.pathname.slice(1))];
  return { host, port, db, username: url.username, password: url.password, maxRetriesPerRequest: null };
}

let queue;

await run({
  name: 'bullmq',

  async open(url) {
    const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
    queue = new Queue(QUEUE, { connection: connection(url), defaultJobOptions });
    await queue.waitUntilReady();
  },

  submit: (task, due) => queue.add('bench', task, due ? { delay: Math.max(0, due - Date.now()) } : {}),
  submitMany: (tasks) => queue.addBulk(tasks.map((data) => ({ name: 'bench', data }))),

  async left() {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'paused');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  },

  async work(url, started) {
    const options = { connection: connection(url), concurrency: CONCURRENCY };
    await new Worker(QUEUE, async (job) => started(job.data), options).waitUntilReady();
  },
}, import.meta.url);
