// Every page, as those see it who may see all of it.
import { MARKUP, PASSWORD } from '../data.mjs';
import { Person } from '../person.mjs';
import { missing } from '../table.mjs';
import { wanted } from '../tools.mjs';
import { Walk } from '../walk.mjs';

export async function walkAll(stage) {
  const { data, report } = stage;
  const { tasks, runs } = data;
  const owner = await Person.arrive(stage, 'owner');
  await owner.signIn(data.tenant, data.users.owner, PASSWORD);
  await owner.heading('Overview');
  const walk = new Walk(owner, [
    ['overview', '/'],
    ['task-running', `/tasks/${tasks.running}`],
    ['task-coloured', `/tasks/${tasks.coloured}`],
    ['task-found', `/tasks/${tasks.coloured}?find=line+1`],
    ['task-broken', `/tasks/${tasks.broken}`],
    ['task-delayed', `/tasks/${tasks.delayed}`],
    ['task-after', `/tasks/${tasks.after}`],
    ['task-call', `/tasks/${tasks.url}`],
    ['task-waits', `/tasks/${data.asks[0]}`],
    ['run-cancelled', `/workflows/runs/${data.runs[2]}`],
    ['task-marked', `/tasks/${tasks.marked}`],
    ['tasks', '/tasks'],
    ['tasks-none', '/tasks?q=nothing-has-this-name'],
    ['task-like', `/tasks/new?from=${tasks.marked}`],
    ['schedule', '/schedules/nightly'],
    ['schedule-stopped', '/schedules/stopped'],
    ['run', `/workflows/runs/${runs[0]}`],
    ['costs', '/costs'],
    ['webhook-marked', '/webhooks/marked'],
    ['webhook-resume', '/webhooks/marked/do/resume'],
    ['delivery', `/webhooks/marked/deliveries/${data.delivery}`],
    ['costs-label', '/costs?by=label&label=team'],
    ['nowhere', '/nowhere', 404],
    ['no-task', `/tasks/${data.elsewhere.task}`, 404],
    ['not-allowed', '/operators', 403],
  ]);
  await walk.run(3);
  await owner.check('stored markup is shown as it was typed', async () => {
    await owner.goto(`/tasks/${tasks.marked}`);
    await owner.heading(MARKUP);
    await owner.page.locator('.log').getByText(MARKUP).waitFor();
    const search = `team=${MARKUP}`;
    await owner.goto(`/tasks?${new URLSearchParams({ q: search })}`);
    await owner.page.getByRole('link', { name: MARKUP, exact: true }).waitFor();
    wanted(await owner.page.getByLabel('Search').inputValue() === search, 'not in the field of the search');
  });
  await owner.leave();

  const operator = await asOperator(stage);
  const theirs = await new Walk(operator, [['installation', '/'], ['tenant-billed', `/operators/tenants/${data.tenantId}`], ['operator-refused', '/tasks', 403]]).run();
  await operator.leave();
  const unseen = missing(new Set([...walk.pages, ...theirs]));
  await report.check('each page of web/src/table.rs is linked', undefined, () => wanted(unseen.length === 0, `no link leads to ${unseen.join(', ')}`));
}

export async function asOperator(stage) {
  const operator = await Person.arrive(stage, 'operator');
  operator.operates = true;
  await operator.signInByKey(stage.data.operatorKey);
  await operator.heading('Installation');
  return operator;
}

export async function signInPages(stage) {
  const stranger = await Person.arrive(stage, 'stranger');
  await new Walk(stranger, [['sign-in', '/sign-in'], ['sign-in-over', '/sign-in?done=session-over&next=%2Ftasks'], ['stranger-nowhere', '/nowhere', 404]]).run();
  await stranger.leave();
}
