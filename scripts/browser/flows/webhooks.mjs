// A webhook from its making to its end: its secret is shown once, a test says what the receiver answers, deliveries are sent again.
import { PASSWORD } from '../data.mjs';
import { Person } from '../person.mjs';
import { until, wanted } from '../tools.mjs';

export async function webhooks(stage) {
  const { data } = stage;
  const wes = await Person.arrive(stage, 'owner with webhooks');
  const { page } = wes;
  const secret = () => page.locator('pre#secret').textContent();
  await wes.check('makes a webhook, and sees its secret once', async () => {
    await wes.signIn(data.tenant, data.users.owner, PASSWORD);
    await wes.heading('Overview');
    await wes.nav('Webhooks');
    await wes.follow('New webhook');
    await page.getByLabel('Name', { exact: true }).fill('by-hand');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/hook');
    await page.getByLabel('Types of events').fill('berth.quota.*');
    await wes.press('Store it');
    await wes.heading('The new webhook');
    const shown = await secret();
    wanted(shown.startsWith('whsec_'), `it shows ${shown.slice(0, 20)}`);
    wanted(!page.url().includes('whsec_'), 'the URL has it');
    await wes.follow('The webhook');
    await wes.heading('by-hand');
    wanted(!(await page.content()).includes(shown), 'its page has it');
  });
  await wes.check('sees what is wrong at its field, and loses nothing', async () => {
    wes.expect(422, '/webhooks/by-hand/edit');
    await wes.follow('Edit');
    await page.getByLabel('Types of events').fill('nonsense');
    await page.getByLabel('Headers').fill('X-Source: berth');
    await wes.press('Store it');
    await page.getByRole('alert').waitFor();
    wanted(await page.getByLabel('Types of events').getAttribute('aria-invalid') === 'true', 'the field is not marked');
    await page.getByLabel('Types of events').fill('berth.spend_cap.*');
    await wes.press('Store it');
    await wes.said('Stored.');
    const { events, headers } = await data.api.get('/v1/webhooks/by-hand');
    wanted(events[0] === 'berth.spend_cap.*' && headers['X-Source'] === 'berth', 'it is stored otherwise');
  });
  await wes.check('sends a test, and sees without loading the page again why it was not received', async () => {
    await wes.follow('Send a test');
    await wes.press('Send a test');
    await wes.said('A test was sent.');
    await page.evaluate(() => { window.sameDocument = true; });
    // The address of this machine is private.
    await page.locator('ol.line li').first().waitFor();
    wanted(await page.evaluate(() => window.sameDocument), 'the page was loaded again');
    await wes.shows('berth.webhook.test');
  });
  await wes.check('finds it in the log, and sends it again', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks', exact: true }).click();
    await wes.follow('by-hand');
    await page.getByLabel('State of the delivery').selectOption('delivered');
    await wes.press('Filter');
    await wes.shows('No delivery fits these filters');
    await wes.follow('Clear');
    await wes.follow('berth.webhook.test');
    await wes.follow('Send it again');
    await wes.press('Send it again');
    await wes.said('It is sent again.');
    await page.getByRole('main').getByRole('link', { name: 'by-hand', exact: true }).click();
    await wes.follow('Send again');
    await wes.press('Send again');
    await wes.said(/No delivery of that range|sent again/);
  });
  await wes.check('rotates the secret', async () => {
    await wes.goto('/webhooks/by-hand');
    await wes.follow('Rotate the secret');
    await page.getByLabel('The old secret signs as well for').selectOption('1h');
    await wes.press('Rotate the secret');
    await wes.heading('The new secret');
    wanted((await secret()).startsWith('whsec_'), 'it is not shown');
    wanted((await data.api.get('/v1/webhooks/by-hand')).old_secret_until !== null, 'the old one is not kept');
  });
  await wes.check('deletes it', async () => {
    await wes.goto('/webhooks/by-hand');
    await wes.follow('Delete');
    await wes.press('Delete');
    await wes.said('Deleted.');
    await until('it is gone', async () => (await data.api.send('GET', '/v1/webhooks/by-hand')).status === 404);
  });
  await wes.leave();
}
