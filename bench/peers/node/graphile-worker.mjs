// graphile-worker on Postgres. The variant `batched` fetches and completes many jobs with one statement.
import { Logger, makeWorkerUtils, run as startWorker } from 'graphile-worker';
import pg from 'pg';
import { run } from './phases.mjs';

const CONNECTIONS = 20;
const BATCHED = {
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};
const silent = new Logger(() => () => {});

let pool, utils;

await run({
  name: 'graphile-worker',

  async open(url) {
    pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    // graphile-worker wants handlers of both kinds.
    pool.on('error', console.error);
    pool.on('connect', (client) => client.on('error', console.error));
    utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
    await utils.migrate();
  },

  submit: (task, due) => utils.addJob('bench', task, due ? { runAt: new Date(due) } : {}),
  submitMany: (tasks) => utils.addJobs(tasks.map((payload) => ({ identifier: 'bench', payload }))),

  async left() {
    const { rows } = await pool.query('select count(*)::int as jobs from graphile_worker.jobs');
    return rows[0].jobs;
  },

  work: (url, started) => startWorker({
    connectionString: url,
    logger: silent,
    noHandleSignals: true,
    taskList: { bench: async (task) => started(task) },
    preset: {
      worker: {
        concurrentJobs: CONNECTIONS,
        maxPoolSize: CONNECTIONS + 4,
        ...(process.argv.includes('batched') ? BATCHED : {}),
      },
    },
  }),
}, import.meta.url);
