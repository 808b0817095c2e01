// What the pages show: made with the real API, before a browser opens.
import { Api } from './api.mjs';
import { until } from './tools.mjs';

// Harmless, and visible if it ever becomes a part of a page.
export const MARKUP = '<b class="stored-markup" onclick="document.title=\'it ran\'">bold</b>';
// The same where no space is allowed.
const TIGHT = '<b/class=stored-markup/onclick=document.title=1>';
export const PASSWORD = 'a long enough password';
// In each name of the tenant that is nobody's here.
export const ELSEWHERE = 'elsewhere-4711';

const noop = { run: { noop: {} } };
const bash = (command) => ({ run: { command: { argv: ['bash', '-c', command] } } });
const COLOURS = `for i in $(seq 40); do printf '\\e[3%dmline %d\\e[0m \\e[1;4mbold\\e[0m\\n' $((i % 8)) $i; done; echo 'to standard error' >&2`;
const RUNNING = `for i in $(seq 3000); do printf '\\e[32mtick\\e[0m %d %s\\n' $i '<b class="stored-markup">tick</b>'; sleep 0.3; done`;

const WORKFLOW = {
  description: `Builds and publishes ${MARKUP}`,
  labels: { team: MARKUP },
  nodes: {
    build: { task: bash('echo "{\\"parts\\": [1, 2]}" > $BERTH_RESULT') },
    test: { after: ['build'], for_each: { $from: 'build', pointer: '/parts' }, task: bash('echo tested') },
    lint: { after: ['build'], task: bash('echo clean') },
    ask: { after: ['test', 'lint'], wait: { approval: true, expires: '1h' } },
    publish: { after: ['ask'], task: bash('echo published') },
  },
};

async function tenant(operator, name) {
  const { id } = await operator.call('POST', '/v1/admin/tenants', { name });
  const scopes = ['read', 'submit', 'approve', 'admin'];
  const { key } = await operator.call('POST', `/v1/admin/tenants/${id}/keys`, { name: 'first', scopes });
  return { id, name, key, api: new Api(operator.base, key) };
}

// A tenant whose data no page of another one may show.
async function elsewhere(operator) {
  const other = await tenant(operator, `${ELSEWHERE} ${MARKUP}`);
  const api = other.api;
  other.task = await api.script('sleep 900', { name: ELSEWHERE, labels: { team: ELSEWHERE }, execution_cap: '20m' });
  await api.call('PUT', `/v1/schedules/${ELSEWHERE}`, { timing: { specs: [{ every: { every: '1h' } }] }, task: noop });
  await api.call('PUT', `/v1/workflows/${ELSEWHERE}`, { nodes: { only: { task: noop } } });
  other.run = (await api.call('POST', '/v1/workflow-runs', { workflow: ELSEWHERE })).id;
  await api.call('PUT', `/v1/webhooks/${ELSEWHERE}`, { url: `https://${ELSEWHERE}.example.com` });
  await api.call('POST', '/v1/users', { email: `${ELSEWHERE}@example.com`, role: 'viewer', password: PASSWORD });
  return other;
}

async function users(api, operator, tenantId) {
  const owner = 'owner@example.com';
  const invited = await operator.call('POST', `/v1/admin/tenants/${tenantId}/users`, { email: owner, role: 'owner' });
  await api.call('POST', '/v1/sessions/accept', { token: invited.invite_token, password: PASSWORD });
  const made = { owner };
  for (const role of ['viewer', 'billing']) {
    made[role] = `${role}@example.com`;
    await api.call('POST', '/v1/users', { email: made[role], role, password: PASSWORD });
  }
  await api.call('POST', '/v1/users', { email: `${TIGHT}@example.com`, role: 'viewer', password: PASSWORD });
  return made;
}

async function tasks(api) {
  // More than a page of the list has; first, so that what is to be seen is newer.
  await api.call('POST', '/v1/tasks/batch', { tasks: Array.from({ length: 60 }, (_, i) => ({ ...noop, name: `small-${i}`, labels: { team: 'small' } })) });
  const made = {};
  made.delayed = await api.script('echo later', { name: 'delayed', delay: '1h' });
  made.url = (await api.call('POST', '/v1/tasks', { name: 'a-call', run: { http: { url: `${api.base}/healthz` } } })).id;
  made.broken = await api.script('echo "cannot go on" >&2; exit 3', { name: 'broken', labels: { team: 'ml' } });
  made.coloured = await api.script(COLOURS, { name: 'coloured', labels: { team: 'ml', env: 'test' }, tier: 'regular' });
  made.marked = await api.script(`echo '${MARKUP.replaceAll("'", "'\\''")}'; echo '{"said": "<b class=stored-markup>"}' > $BERTH_RESULT`, { name: MARKUP, labels: { team: MARKUP } });
  made.running = await api.script(RUNNING, { name: 'running', execution_cap: '20m' });
  made.after = (await api.call('POST', '/v1/tasks', { ...noop, name: 'after', depends_on: [{ task: made.running }] })).id;
  return made;
}

async function schedules(api) {
  await api.call('PUT', '/v1/schedules/nightly', {
    timing: { specs: [{ cron: '30 2 * * *' }], zone: 'Europe/Berlin' },
    task: { ...bash('echo nightly'), name: `nightly ${MARKUP}`, labels: { team: MARKUP } },
  });
  await api.call('PUT', '/v1/schedules/stopped', { timing: { specs: [{ every: { every: '6h' } }] }, task: noop });
  await api.call('PUT', '/v1/schedules/flow', { timing: { specs: [{ every: { every: '24h' } }] }, workflow: { name: 'release' } });
  await api.call('POST', '/v1/schedules/nightly/trigger');
  await api.call('POST', '/v1/schedules/stopped/pause', { reason: MARKUP });
}

// With a delivery that is not received: the address of this machine is private.
async function webhooks(api) {
  const hook = { url: `${api.base}/${TIGHT}`, task_name: MARKUP, labels: { team: MARKUP }, headers: { 'X-Text': MARKUP }, payload: { text: MARKUP } };
  await api.call('PUT', '/v1/webhooks/marked', hook);
  const { id } = await api.call('POST', '/v1/webhooks/marked/test');
  return id;
}

// The task of a run that waits for approval, once nothing else is before it.
function asked(api, id) {
  return until(`run ${id} waits for approval`, async () => {
    const { nodes } = await api.get(`/v1/workflow-runs/${id}/graph`);
    const at = (name) => nodes.find((node) => node.name === name);
    return at('test').state === 'succeeded' && at('lint').state === 'succeeded' && at('ask').task;
  }, 30_000);
}

async function run(api) {
  const { id } = await api.call('POST', '/v1/workflow-runs', { workflow: 'release' });
  return id;
}

// `berth up` has the tenant `demo` and these two keys.
export async function make(base, key, operatorKey) {
  const [api, operator] = [new Api(base, key), new Api(base, operatorKey)];
  const rates = { cpu_core: 40_000_000, memory_gib: 5_000_000 };
  await operator.call('PUT', '/v1/admin/price-books/eur', { currency: 'EUR', prices: [{ effective_from: '2020-01-01T00:00:00Z', rates, each: { task: 500, fire: 900 } }] });
  const plan = await operator.get('/v1/admin/plans/default');
  for (const field of ['name', 'version', 'created_at', 'updated_at']) delete plan[field];
  await operator.call('PUT', '/v1/admin/plans/default', { ...plan, billing: { price_book: 'eur' } });
  const who = await api.get('/v1/whoami');

  const data = { api, operator, key, operatorKey, tenant: who.tenant_name, tenantId: who.tenant };
  await Promise.all([
    (async () => { data.users = await users(api, operator, who.tenant); })(),
    (async () => { data.tasks = await tasks(api); })(),
    (async () => { data.elsewhere = await elsewhere(operator); })(),
    (async () => { data.fenced = await tenant(operator, 'fenced'); })(),
    (async () => { data.scriptless = await tenant(operator, 'scriptless'); })(),
    (async () => {
      await api.call('PUT', '/v1/workflows/release', WORKFLOW);
      data.runs = [await run(api), await run(api), await run(api)];
      await api.call('POST', `/v1/workflow-runs/${data.runs[2]}/cancel`);
      await schedules(api);
    })(),
    (async () => { data.delivery = await webhooks(api); })(),
    (async () => {
      await api.call('PUT', '/v1/spend-caps/all', { amount: 250_000_000, currency: 'EUR', period: 'month' });
      await api.call('PUT', '/v1/spend-caps/ml', { amount: 5_000_000, currency: 'EUR', period: 'day', label: { key: 'team', value: MARKUP } });
      data.spare = await api.call('POST', '/v1/keys', { name: `spare ${MARKUP}`, scopes: ['read'] });
    })(),
  ]);
  const { tasks: made } = data;
  await Promise.all([
    ...[made.url, made.coloured, made.marked].map((id) => api.state(id, 'succeeded')),
    api.state(made.broken, 'failed'),
    api.state(made.running, 'running'),
    (async () => { data.asks = await Promise.all(data.runs.slice(0, 2).map((id) => asked(api, id))); })(),
    // Attempts are counted within seconds of their end.
    until('an invoice is drafted', async () => (await api.get('/v1/invoices')).data.length > 0, 30_000),
  ]);
  return data;
}
