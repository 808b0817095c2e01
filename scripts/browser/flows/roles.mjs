// What each role sees, and what it does not.
import { PASSWORD } from '../data.mjs';
import { Person } from '../person.mjs';
import { wanted } from '../tools.mjs';
import { Walk } from '../walk.mjs';
import { asOperator } from './pages.mjs';

// Addresses that somebody may not open, and those of another tenant, which are not there.
async function closed(person, refused, absent = []) {
  for (const [status, paths] of [[403, refused], [404, absent]]) {
    for (const path of paths) {
      await person.check(`${path.split('?')[0]} answers with ${status}`, async () => {
        const got = await person.status(path);
        wanted(got === status, `it answers with ${got}`);
      });
    }
  }
}

const names = (person) => person.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();

export async function viewer(stage) {
  const { data } = stage;
  const { tasks, elsewhere } = data;
  const vic = await Person.arrive(stage, 'viewer');
  await vic.check('signs in, and is led to no lever', async () => {
    await vic.signIn(data.tenant, data.users.viewer, PASSWORD);
    await vic.heading('Overview');
    const starts = [['', '/'], ['', '/tasks'], ['', `/tasks/${tasks.running}`], ['', `/tasks/${tasks.broken}`], ['', `/tasks/${tasks.delayed}`], ['', '/schedules/nightly'], ['', '/schedules/stopped'], ['', `/workflows/runs/${data.runs[0]}`]];
    const pages = await new Walk(vic, starts, { views: false, levers: false }).run(2);
    const wrong = [...pages].filter((page) => page.includes('/do/') || page.endsWith('/new') || page.endsWith('/revoke'));
    wanted(wrong.length === 0, `a link leads to ${wrong.join(', ')}`);
    wanted(pages.has('/costs') && pages.has('/tasks/{id}'), 'pages are missing');
  });
  await vic.check('has no box to tick', async () => {
    await vic.goto('/tasks');
    wanted(await vic.page.getByRole('main').getByRole('checkbox').count() === 0, 'there is one');
    await vic.shows('coloured');
  });
  await closed(
    vic,
    ['/tasks/new', '/schedules/new', `/tasks/${tasks.running}/do/cancel`, `/tasks/${tasks.broken}/do/retry`, '/schedules/nightly/do/pause', `/workflows/runs/${data.runs[0]}/do/cancel`, '/account/keys', '/account/users', '/account/audit', '/webhooks', '/webhooks/marked', '/webhooks/marked/do/rotate', '/operators'],
    [`/tasks/${elsewhere.task}`, `/tasks/${elsewhere.task}?fragment=life`, `/tasks/${elsewhere.task}?fragment=output`, `/workflows/runs/${elsewhere.run}`, `/schedules/${elsewhere.name.split(' ')[0]}`, `/workflows/definitions/${elsewhere.name.split(' ')[0]}`],
  );
  await vic.check("a form is refused to them, even with a page's own token", async () => {
    vic.expect(403, `/tasks/${tasks.running}/do/cancel`);
    await vic.goto('/');
    // As a page of an owner would, in this browser.
    const { status } = await vic.page.evaluate(async (path) => {
      const csrf = document.querySelector('input[name=csrf]').value;
      return { status: (await fetch(path, { method: 'POST', body: new URLSearchParams({ csrf }) })).status };
    }, `/tasks/${tasks.running}/do/cancel`);
    wanted(status === 403, `it answers with ${status}`);
    wanted((await data.api.get(`/v1/tasks/${tasks.running}`)).state === 'running', 'the task does not run any more');
  });
  await vic.leave();
}

export async function billing(stage) {
  const { data } = stage;
  const bob = await Person.arrive(stage, 'billing user');
  await bob.check('signs in, and sees money and no task', async () => {
    await bob.signIn(data.tenant, data.users.billing, PASSWORD);
    await bob.heading('Overview');
    const links = await names(bob);
    wanted(links.includes('Costs') && !links.some((link) => ['Tasks', 'Schedules', 'Workflows'].includes(link)), `the navigation has ${links.join(', ')}`);
    const pages = await new Walk(bob, [['', '/'], ['', '/costs']], { views: false }).run();
    const wrong = [...pages].filter((page) => /^\/(tasks|schedules|workflows|operators)/.test(page));
    wanted(wrong.length === 0, `a link leads to ${wrong.join(', ')}`);
    wanted(pages.has('/costs/invoices/{number}'), 'no link leads to an invoice');
  });
  await bob.check('reads an invoice', async () => {
    await bob.nav('Costs');
    await bob.page.getByRole('main').getByRole('link', { name: /EUR/ }).first().click();
    await bob.shows('Total');
  });
  await closed(bob, ['/tasks', '/tasks/new', `/tasks/${data.tasks.broken}`, '/schedules', '/workflows', '/webhooks', '/account/users', '/operators']);
  await bob.leave();
}

export async function operator(stage) {
  const { data } = stage;
  const olga = await asOperator(stage);
  await olga.check('sees the executor and how full it is', async () => {
    await olga.page.getByRole('rowheader', { name: /pool default/ }).waitFor();
    wanted(await olga.page.getByRole('row').nth(1).locator('svg.gauge').count() >= 3, 'it does not say how full it is');
  });
  for (const [tab, text] of [['Pools', 'default'], ['Tenants', data.elsewhere.name], ['Costs and margins', data.tenant], ['Plans', 'default']]) {
    await olga.check(`sees ${tab.toLowerCase()}`, async () => {
      await olga.follow(tab);
      await olga.heading(/./);
      await olga.shows(text);
    });
  }
  await closed(olga, ['/tasks', '/schedules', '/costs', '/account', `/tasks/${data.tasks.broken}`]);
  await olga.leave();
}
