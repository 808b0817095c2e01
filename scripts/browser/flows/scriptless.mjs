// The same work in a browser that runs no scripts.
import { Person } from '../person.mjs';
import { until, wanted } from '../tools.mjs';
import { shown, submit } from './customer.mjs';

export async function scriptless(stage) {
  const { api, key } = stage.data.scriptless;
  const leo = await Person.arrive(stage, 'without script', { javaScriptEnabled: false });
  const { page } = leo;
  // Without a script a page is loaded again by hand.
  const ends = (state) => until(`the page says ${state}`, async () => {
    await page.reload();
    return await page.locator('.say .mark').textContent() === state;
  });
  await leo.check('signs in', async () => {
    await leo.signInByKey(key);
    await leo.heading('Overview');
    wanted(await page.locator('html.js').count() === 0, 'a script ran');
  });
  await leo.check('opens the menu of a narrow screen by the keyboard, and goes on from there', async () => {
    const wide = page.viewportSize();
    await page.setViewportSize({ width: 320, height: 700 });
    const { height } = await page.locator('header.top').boundingBox();
    wanted(height < 80, `the header is ${height} px high`);
    wanted(!await page.getByRole('link', { name: 'Schedules', exact: true }).isVisible(), 'the menu is open');
    await page.getByRole('button', { name: 'Menu', exact: true }).focus();
    await page.keyboard.press('Enter');
    await leo.nav('Schedules');
    await leo.heading('Schedules');
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    wanted(await page.getByRole('button', { name: 'Sign out', exact: true }).isVisible(), 'nobody can sign out');
    await page.keyboard.press('Escape');
    wanted(!await page.getByRole('button', { name: 'Sign out', exact: true }).isVisible(), 'the menu stays');
    await page.setViewportSize(wide);
  });
  await leo.check('submits a task, and sees it end and its output', async () => {
    await submit(leo, 'plain', 'echo without script');
    await ends('succeeded');
    await page.locator('.log').getByText('without script').waitFor();
  });
  await leo.check('a task fails, and is run again', async () => {
    await submit(leo, 'fails', 'exit 3');
    await ends('failed');
    const first = shown(leo);
    await leo.follow('Run again');
    await leo.press('Run again');
    await leo.said('The task was submitted again.');
    wanted(shown(leo) !== first, 'it is the same task');
  });
  await leo.check('cancels a task', async () => {
    await submit(leo, 'later', 'echo', { 'Start in': '2h' });
    await leo.follow('Cancel');
    await leo.press('Cancel');
    await leo.said('The task was cancelled.');
    await leo.state('cancelled');
  });
  await leo.check('cancels several by their boxes', async () => {
    const ids = await Promise.all([1, 2].map(() => api.script('echo', { name: 'pair', delay: '2h' })));
    await leo.goto('/tasks?q=pair');
    for (const id of ids) await page.locator(`input[value="${id}"]`).check();
    wanted(!await page.getByLabel('Tick all of this page').isVisible(), 'a box that needs the script is shown');
    await leo.press('Cancel');
    await leo.press('Cancel them (2)');
    await Promise.all(ids.map((id) => api.state(id, 'cancelled')));
  });
  await leo.check('makes a schedule, triggers and pauses it', async () => {
    await leo.goto('/schedules/new');
    await page.getByLabel('Name', { exact: true }).fill('plain');
    await page.getByLabel('or every').fill('6h');
    await page.getByLabel('Script, run by bash').fill('echo');
    await leo.press('Store it');
    await leo.said('Stored.');
    await leo.follow('Run now');
    await leo.press('Run now');
    await leo.said('A fire was triggered.');
    await leo.follow('Pause');
    await leo.press('Pause');
    await leo.said('Paused.');
    wanted((await api.get('/v1/schedules/plain')).state === 'paused', 'it is not paused');
  });
  await leo.check('times are UTC', async () => {
    await leo.goto('/schedules/plain');
    wanted(/ UTC$/.test(await page.locator('time[data-local]').first().textContent()), 'they are not');
  });
  await leo.leave();
}
