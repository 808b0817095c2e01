// A customer at work: with a key all that tasks, schedules and runs can do; as a user signing in and out, money and the account.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MARKUP, PASSWORD } from '../data.mjs';
import { Person } from '../person.mjs';
import { until, wanted } from '../tools.mjs';
import { markup } from '../walk.mjs';

// Submits a script by the form.
export async function submit(person, name, script, more = {}) {
  await person.goto('/tasks/new');
  await person.page.getByLabel('Script, run by bash').fill(script);
  await person.page.getByLabel('Name', { exact: true }).fill(name);
  for (const [label, value] of Object.entries(more)) await person.page.getByLabel(label).fill(value);
  await person.press('Submit the task');
  await person.said('The task was submitted.');
}

// The id of the task, schedule or run that is shown.
export const shown = (person) => new URL(person.page.url()).pathname.split('/').pop();

export async function work(stage) {
  const { data } = stage;
  const ann = await Person.arrive(stage, 'customer');
  const { page } = ann;

  await ann.check('a wrong key is refused in words', async () => {
    ann.expect(401, '/sign-in');
    await ann.signInByKey('berth_live_aaaaaaaaaaaa_wrong');
    await page.getByRole('alert').waitFor();
  });
  await ann.check('signs in with a key, and sees where they wanted to go', async () => {
    await page.goto('/tasks?state=failed');
    await page.getByLabel('API key or operator key').fill(data.key);
    await ann.press('Sign in with the key');
    await ann.heading('Tasks');
    wanted(page.url().endsWith('/tasks?state=failed'), `is at ${page.url()}`);
  });
  await tasks(ann, data);
  await several(ann, data);
  await schedules(ann);
  await runs(ann, data);
  await ann.leave();
}

async function tasks(ann, data) {
  const { page } = ann;
  await ann.check('submits a task by the form, and watches it end without loading the page again', async () => {
    await submit(ann, 'by-hand', "for i in 1 2 3 4; do printf '\\e[31mred\\e[0m <b class=stored-markup> line-%d\\n' $i; sleep 0.4; done");
    await page.evaluate(() => { window.sameDocument = true; });
    await ann.state('succeeded');
    const log = page.locator('.log');
    await log.getByText('line-4').waitFor();
    wanted(await page.evaluate(() => window.sameDocument), 'the page was loaded again');
    wanted(await log.locator('.f1').first().textContent() === 'red', 'red output is not red');
    wanted((await page.evaluate(markup)).length === 0, 'output became markup when it was renewed');
  });
  await ann.check('finds lines of the output', async () => {
    await page.getByLabel('Find lines in the output').fill('line-3');
    await ann.press('Find');
    await ann.shows(/lines? with “line-3”/);
    const text = await page.locator('.log').textContent();
    wanted(text.includes('line-3') && !text.includes('line-4'), `it shows: ${text.slice(0, 80)}`);
  });
  await ann.check('sees what is wrong with a task at its field, and loses nothing', async () => {
    await ann.goto('/tasks/new');
    ann.expect(422, '/tasks/new');
    await page.getByLabel('Script, run by bash').fill('echo kept');
    await page.getByLabel('Run at most').fill('soon');
    await ann.press('Submit the task');
    await page.getByRole('alert').waitFor();
    wanted(await page.getByLabel('Run at most').getAttribute('aria-invalid') === 'true', 'the field is not marked');
    wanted(await page.getByLabel('Script, run by bash').inputValue() === 'echo kept', 'the script is gone');
  });
  await ann.check('a task fails, says why, and is run again', async () => {
    await submit(ann, 'fails', 'echo "no such file" >&2; exit 3');
    await ann.state('failed');
    await ann.shows(/exit code 3|exited with 3|code 3/i);
    await page.locator('.log .err, .log').getByText('no such file').first().waitFor();
    const first = shown(ann);
    await ann.follow('Run again');
    await ann.press('Run again');
    await ann.said('The task was submitted again.');
    wanted(shown(ann) !== first, 'it is the same task');
    await page.getByRole('main').getByRole('link', { name: first }).waitFor();
  });
  await ann.check('runs it with changes', async () => {
    await ann.follow('Run with changes');
    wanted((await page.getByLabel('Script, run by bash').inputValue()).includes('exit 3'), 'the script is not filled in');
    await page.getByLabel('Script, run by bash').fill('echo mended');
    await ann.press('Submit the task');
    await ann.state('succeeded');
    await page.locator('.log').getByText('mended').waitFor();
  });
  await ann.check('cancels a task that runs', async () => {
    await submit(ann, 'to-cancel', 'echo started; sleep 600', { 'Run at most': '20m' });
    await page.locator('.log').getByText('started').waitFor();
    await ann.follow('Cancel');
    await ann.press('Cancel');
    await ann.state('cancelled');
  });
  await ann.check('gets what the form does as commands, which do the same', async () => {
    await ann.goto('/tasks/new');
    await page.getByLabel('Script, run by bash').fill("echo 'it''s \"quoted\"' $HOME");
    await page.getByLabel('Name', { exact: true }).fill('as-command');
    await page.getByLabel('Labels').fill('team=ml');
    await ann.press('Show as a command and as code');
    for (const [shell, text] of Object.entries({ berth: /^berth submit/, curl: /^curl/ })) {
      const command = await page.locator('#same pre').filter({ hasText: text }).textContent();
      const env = { ...process.env, BERTH_SERVER: data.api.base, BERTH_API_KEY: data.key };
      await promisify(execFile)('bash', ['-c', command], { env, timeout: 10_000 });
      const [{ id }] = await data.api.tasks('&name=as-command');
      const made = await data.api.get(`/v1/tasks/${id}`);
      wanted(made.run.command.argv.at(-1) === "echo 'it''s \"quoted\"' $HOME" && made.labels.team === 'ml', `${shell} submits another task: ${JSON.stringify(made.run)}`);
      await data.api.state(id, 'succeeded');
    }
    wanted((await data.api.tasks('&name=as-command')).length === 2, 'not two were made');
  });
  await ann.check('copies the command', async () => {
    await ann.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('#same').getByRole('button', { name: 'Copy' }).first().click();
    await page.locator('#same').getByRole('button', { name: 'Copied' }).waitFor();
    wanted((await page.evaluate(() => navigator.clipboard.readText())).startsWith('berth submit'), 'it is not in the clipboard');
  });
  await ann.check('runs a task now that is due later', async () => {
    const id = await data.api.script('echo now', { name: 'later', delay: '2h' });
    await ann.goto(`/tasks/${id}`);
    await ann.follow('Run now');
    await ann.press('Run now');
    await ann.state('succeeded');
  });
}

async function several(ann, { api }) {
  const { page } = ann;
  const ids = await Promise.all([1, 2, 3].map(() => api.script('echo', { name: 'several', delay: '3h' })));
  await ann.check('searches tasks by name, ticks all and cancels them', async () => {
    await ann.nav('Tasks');
    await page.getByLabel('Search').fill('several');
    await ann.press('Apply');
    await page.getByRole('row', { name: 'several' }).nth(2).waitFor();
    await page.getByLabel('Tick all of this page').check();
    await ann.press('Cancel');
    await ann.heading('Cancel these tasks?');
    wanted((await api.get(`/v1/tasks/${ids[0]}`)).state === 'scheduled', 'it was cancelled before it was confirmed');
    await ann.press('Cancel them (3)');
    await ann.heading('Done');
    wanted(await page.getByRole('main').getByText('done', { exact: true }).count() === 3, 'not three are done');
    await Promise.all(ids.map((id) => api.state(id, 'cancelled')));
  });
  await ann.check('ticks stay when the list is renewed', async () => {
    await ann.goto('/tasks');
    const box = page.getByRole('checkbox', { name: /^Tick (?!all)/ }).nth(1);
    const value = await box.getAttribute('value');
    await box.check();
    const renewed = page.waitForResponse((answer) => answer.url().includes('fragment=list'));
    await api.script('echo', { name: 'makes the list new' });
    await renewed;
    await ann.shows('makes the list new');
    wanted(await page.locator(`input[value="${value}"]`).isChecked(), 'the tick is gone');
  });
  await ann.check('pages through the list', async () => {
    await ann.goto('/tasks');
    const first = await page.getByRole('row').nth(1).textContent();
    await ann.follow('Older');
    await page.getByRole('link', { name: 'Newest' }).waitFor();
    wanted(await page.getByRole('row').nth(1).textContent() !== first, 'the second page is as the first');
  });
}

async function schedules(ann) {
  const { page } = ann;
  await ann.check('sees due times and the price of a schedule before it is stored', async () => {
    await ann.goto('/schedules/new');
    // A preview of what is half typed is refused, too.
    ann.expect(422, '/schedules/new');
    await page.getByLabel('Name', { exact: true }).fill('weekdays');
    await page.getByLabel('Cron expression').fill('30 2 * * 1-5');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('Script, run by bash').fill('echo from the schedule');
    await ann.press('Preview');
    await ann.shows(/EUR/);
    wanted(await page.locator('ul.rows time').count() >= 3, 'no due times');
    await ann.press('Store it');
    await ann.said('Stored.');
    await ann.heading('weekdays');
  });
  await ann.check('triggers it, and finds the task that it made', async () => {
    await ann.follow('Run now');
    await ann.press('Run now');
    await ann.said('A fire was triggered.');
    await until('the list of its tasks has one', async () => {
      await ann.goto('/tasks?schedule=weekdays');
      return await page.getByRole('main').getByRole('row').count() > 1;
    });
    await page.getByRole('main').getByRole('row').nth(1).getByRole('link').first().click();
    await ann.state('succeeded');
    await page.locator('.log').getByText('from the schedule').waitFor();
    await ann.follow('weekdays');
  });
  await ann.check('pauses it for a reason, resumes it, deletes it', async () => {
    await ann.follow('Pause');
    await page.getByLabel('Reason').fill(MARKUP);
    await ann.press('Pause');
    await ann.said('Paused.');
    await ann.shows(MARKUP);
    await ann.follow('Resume');
    await ann.press('Resume');
    await ann.said('Resumed.');
    await ann.follow('Delete');
    await ann.press('Delete');
    await ann.said('Deleted.');
    wanted(!(await page.getByRole('main').textContent()).includes('weekdays'), 'it is still listed');
  });
}

async function runs(ann, data) {
  const { page } = ann;
  const run = data.runs[1];
  await ann.check('sees the graph of a run, and a task from it', async () => {
    await ann.nav('Workflows');
    await ann.goto(`/workflows/runs/${run}`);
    const graph = page.getByRole('group', { name: 'Graph' });
    for (const node of ['build', 'lint', 'ask', 'publish']) await graph.locator('text').getByText(node).first().waitFor();
    await graph.getByRole('link', { name: /build/ }).click();
    await ann.state('succeeded');
    await page.getByRole('link', { name: run }).click();
  });
  await ann.check('approves what waits, and sees the run end', async () => {
    await page.getByRole('main').getByRole('row').filter({ hasText: 'ask' }).getByRole('link', { name: 'ask', exact: true }).click();
    await ann.follow('Approve');
    await ann.press('Approve');
    await ann.said('The task was approved.');
    await ann.goto(`/workflows/runs/${run}`);
    await ann.state('succeeded');
  });
  await ann.check('has no lever that only refuses: a run that succeeded is not run again as a whole', async () => {
    wanted(await page.getByRole('main').getByRole('link', { name: 'Run again', exact: true }).count() === 0, 'there is `Run again`');
  });
  await ann.check('cancels a run, and runs what did not end again', async () => {
    const { id } = await data.api.call('POST', '/v1/workflow-runs', { workflow: 'release' });
    await ann.goto(`/workflows/runs/${id}`);
    await ann.follow('Cancel');
    await ann.press('Cancel the run');
    await ann.said('The run was cancelled.');
    await ann.state('cancelled');
    await ann.follow('Run again');
    await ann.press('Run it again');
    await ann.said('A new run was started.');
    wanted(shown(ann) !== id, 'it is the same run');
  });
}

// What a page does without its server. Most of it is waiting: it asks ever more seldom.
export async function away(stage) {
  const { api, key } = stage.data.scriptless;
  const ann = await Person.arrive(stage, 'customer on a train');
  await ann.signInByKey(key);
  await ann.heading('Overview');
  await ann.check('is told when the server does not answer, and when it does again', async () => {
    const id = await api.script('sleep 120', { name: 'watched', execution_cap: '5m' });
    await ann.goto(`/tasks/${id}`);
    await ann.state('running');
    await ann.context.setOffline(true);
    await ann.shows('This is not up to date');
    await ann.context.setOffline(false);
    await ann.page.getByText('This is not up to date').waitFor({ state: 'hidden' });
    await api.call('POST', `/v1/tasks/${id}/cancel`);
    await ann.state('cancelled');
  });
  await ann.leave();
}

// What a user has besides.
export async function live(stage) {
  const { data } = stage;
  const ann = await Person.arrive(stage, 'owner at home');
  const { page } = ann;
  await ann.check('a wrong password is refused in words, and what was typed stays', async () => {
    ann.expect(401, '/sign-in');
    await ann.signIn(data.tenant, data.users.owner, 'not the right one');
    await page.getByRole('alert').waitFor();
    wanted(await page.getByLabel('E-mail address').inputValue() === data.users.owner, 'the address is gone');
    wanted(await page.getByLabel('Password', { exact: true }).inputValue() === '', 'the password was sent back');
  });
  await ann.check('signs in with address and password', async () => {
    await ann.signIn(data.tenant, data.users.owner, PASSWORD);
    await ann.heading('Overview');
    await page.getByRole('banner').getByText(data.users.owner).waitFor();
  });
  await ann.check('the first key goes to the link that skips the navigation', async () => {
    await ann.goto('/');
    await page.keyboard.press('Tab');
    wanted(await page.evaluate(() => document.activeElement.textContent) === 'Skip to content', 'it does not');
    await page.keyboard.press('Enter');
    wanted(await page.evaluate(() => document.activeElement.id) === 'main', 'the link leads elsewhere');
  });
  await ann.check('sees what was used, by label, and the invoice of the month', async () => {
    await ann.nav('Costs');
    await ann.shows(/[1-9][0-9.]* EUR/);
    await page.getByLabel('By', { exact: true }).selectOption('label');
    await page.getByLabel('Key of the label').fill('team');
    await ann.press('Apply');
    await page.getByRole('rowheader', { name: 'ml' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: /EUR/ }).first().click();
    await page.getByRole('heading', { level: 1, name: /^Invoice/ }).waitFor();
    const number = shown(ann);
    for (const [format, begin] of [['pdf', '%PDF-'], ['csv', '']]) {
      const file = await ann.context.request.get(`/costs/invoices/${number}/file/${format}`);
      wanted(file.status() === 200 && (await file.body()).subarray(0, 5).toString().startsWith(begin), `no ${format}`);
    }
  });
  await ann.check('revokes a key, which then opens nothing', async () => {
    await ann.nav('Account');
    await ann.follow('API keys');
    const { id, key } = data.spare;
    await page.getByRole('row').filter({ hasText: id }).getByRole('link', { name: 'Revoke' }).click();
    await ann.press('Revoke the key');
    await ann.said('The key was revoked.');
    await until('the key is refused', async () => (await fetch(`${stage.base}/v1/whoami`, { headers: { authorization: `Bearer ${key}` } })).status === 401);
  });
  await ann.check('sees users and the audit log', async () => {
    await ann.follow('Users');
    await ann.shows(data.users.viewer);
    await ann.follow('Audit log');
    await ann.shows('key.revoke');
  });
  await ann.check('chooses a theme, which stays', async () => {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.getByRole('button', { name: 'Dark' }).click();
    await ann.goto('/account');
    const dark = await colour();
    wanted(dark !== light, 'it is not dark');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Light' }).click();
    wanted(await colour() === light, 'it is not light');
    await page.getByRole('button', { name: 'Auto' }).click();
    wanted(await colour() === dark, 'it is not as the system has it');
  });
  await ann.check('signs out, which other tabs notice; the way back is closed', async () => {
    const other = await ann.context.newPage();
    await other.goto('/tasks');
    ann.expect(401, '/tasks');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await ann.said('You are signed out.');
    await page.goBack();
    await page.getByLabel('Organisation').waitFor();
    await other.bringToFront();
    await other.getByLabel('Organisation').waitFor();
  });
  await ann.leave();
}
