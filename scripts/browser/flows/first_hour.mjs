// The first hour of somebody who has just started Berth and knows nothing of it.
import { Person } from '../person.mjs';
import { wanted } from '../tools.mjs';
import { shown } from './customer.mjs';

export async function firstHour(stage) {
  const noa = await Person.arrive(stage, 'new user');
  const { page } = noa;
  await noa.check('opens the link that berth up printed', async () => {
    await page.goto(process.env.BROWSER_SIGN_IN_URL);
    await noa.heading('Overview');
  });
  await noa.check('is told what to do first, and does it', async () => {
    await noa.follow('Submit a task');
    await page.getByLabel('Script, run by bash').fill('for i in 1 2 3; do echo "step $i"; sleep 0.3; done');
    await noa.press('Submit the task');
    await noa.said('The task was submitted.');
  });
  await noa.check('watches it run and end', async () => {
    await page.locator('.log').getByText('step 3').waitFor();
    await noa.state('succeeded');
  });
  await noa.check('sees a task fail on the overview, and why', async () => {
    await noa.nav('Overview');
    await noa.follow('Submit a task');
    await page.getByLabel('Script, run by bash').fill('cat /no/such/file');
    await page.getByLabel('Name', { exact: true }).fill('first-failure');
    await noa.press('Submit the task');
    await noa.state('failed');
    await page.locator('.log').getByText('No such file').waitFor();
    await noa.nav('Overview');
    await noa.shows('first-failure');
  });
  await noa.check('runs it again from there', async () => {
    await page.getByRole('main').getByRole('listitem').filter({ hasText: 'first-failure' }).getByRole('link').first().click();
    const first = shown(noa);
    await noa.follow('Run again');
    await noa.press('Run again');
    await noa.state('failed');
    wanted(shown(noa) !== first, 'it is the same task');
  });
  await noa.check('has it run every night', async () => {
    await noa.nav('Schedules');
    await page.getByRole('main').getByRole('link', { name: /new schedule/i }).first().click();
    noa.expect(422, '/schedules/new');
    await page.getByLabel('Name', { exact: true }).fill('every-night');
    await page.getByLabel('Cron expression').fill('0 3 * * *');
    await page.getByLabel('Script, run by bash').fill('echo good night');
    await noa.press('Preview');
    wanted(await page.locator('ul.rows time').count() >= 3, 'the preview has no due times');
    await noa.press('Store it');
    await noa.heading('every-night');
    await noa.shows(/next/);
  });
  await noa.leave();
}
