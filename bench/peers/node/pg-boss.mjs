// pg-boss on Postgres, with the shortest poll interval that it allows.
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { run } from './phases.mjs';

const QUEUE = 'bench';
const FETCH = { batchSize: 250, localConcurrency: 4, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

async function connect(url) {
  const boss = new PgBoss({ connectionString: url, max: 20 });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  return boss;
}

let boss, pool;

await run({
  name: 'pg-boss',

  async open(url) {
    boss = await connect(url);
    pool = new pg.Pool({ connectionString: url, max: 1 });
    await boss.createQueue(QUEUE);
  },

  submit: (task, due) => boss.send(QUEUE, task, due ? { startAfter: new Date(due) } : {}),
  submitMany: (tasks) => boss.insert(QUEUE, tasks.map((data) => ({ data }))),

  async left() {
    const unfinished = "select count(*)::int as jobs from pgboss.job where name = $1 and state < 'completed'";
    const { rows } = await pool.query(unfinished, [QUEUE]);
    return rows[0].jobs;
  },

  async work(url, started) {
    const worker = await connect(url);
    await worker.work(QUEUE, FETCH, async (jobs) => jobs.forEach((job) => started(job.data)));
  },
}, import.meta.url);
