// BullMQ on Redis. The bench has set how Redis makes writes durable.
import { FlowProducer, Queue, Worker } from 'bullmq';
import { run } from './phases.mjs';

const QUEUE = 'bench';
const CONCURRENCY = 50;
const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };

function connection(text) {
  const url = new URL(text);
  const [host, port, db] = [url.hostname, Number(url.port), Number(url.pathname.slice(1))];
  return { host, port, db, username: url.username, password: url.password, maxRetriesPerRequest: null };
}

let queue;

await run({
  name: 'bullmq',

  async open(url) {
    queue = new Queue(QUEUE, { connection: connection(url), defaultJobOptions });
    await queue.waitUntilReady();
  },

  submit: (task, due) => queue.add('bench', task, due ? { delay: Math.max(0, due - Date.now()) } : {}),
  submitMany: (tasks) => queue.addBulk(tasks.map((data) => ({ name: 'bench', data }))),

  // A flow is a tree: no job has two parents. So the first job adds the flow of the others.
  startGraphs: (graphs) => queue.addBulk(graphs.map(({ first, ...rest }) => ({ name: 'bench', data: { ...first, rest } }))),

  async left() {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'paused', 'waiting-children');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  },

  async work(url, started) {
    const flows = new FlowProducer({ connection: connection(url) });
    const job = (data) => ({ name: 'bench', queueName: QUEUE, data });
    const queuesOptions = { [QUEUE]: { defaultJobOptions } };
    const process = async ({ data: { rest, ...task } }) => {
      started(task);
      if (rest) await flows.add({ ...job(rest.last), children: rest.middle.map(job) }, { queuesOptions });
    };
    const options = { connection: connection(url), concurrency: CONCURRENCY };
    await Promise.all([flows.waitUntilReady(), new Worker(QUEUE, process, options).waitUntilReady()]);
  },
}, import.meta.url);
