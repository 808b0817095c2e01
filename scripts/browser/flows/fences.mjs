// What pages of other sites may not do, whoever is signed in here; and that the checks themselves find what they are for.
import { createServer } from 'node:http';
import { Person } from '../person.mjs';
import { axe, until, wanted } from '../tools.mjs';
import { barriers, markup, overflow } from '../walk.mjs';

// A site of somebody else: what it answers with is made by `pages`.
async function site(pages) {
  const server = createServer((request, answer) => {
    const page = pages.get(new URL(request.url, 'http://x').pathname);
    answer.writeHead(page ? 200 : 404, { 'content-type': 'text/html', ...page?.headers });
    answer.end(page?.html ?? 'not found');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { server, port: server.address().port };
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

// A page that sends a form as soon as it is opened.
function sends(action, fields, type = 'application/x-www-form-urlencoded') {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${escaped(value)}">`).join('');
  return { html: `<!doctype html><title>Other</title><form method="post" enctype="${type}" action="${action}">${inputs}</form><script>document.forms[0].submit()</script>` };
}

export async function fences(stage) {
  const { base, data, report } = stage;
  const { api, key } = data.fenced;
  const running = await api.script('sleep 600', { name: 'fenced', execution_cap: '20m' });
  const ended = await api.script('exit 0', { name: 'ended' });
  await api.call('PUT', '/v1/schedules/fenced', { timing: { specs: [{ every: { every: '6h' } }] }, task: { run: { noop: {} } } });
  const spare = await api.call('POST', '/v1/keys', { name: 'spare', scopes: ['read'] });
  await Promise.all([api.state(running, 'running'), api.state(ended, 'succeeded')]);

  // The attacker has a session of their own, and so a token that is good there.
  const mallory = await Person.arrive(stage, 'attacker');
  await mallory.signInByKey(data.scriptless.key);
  await mallory.heading('Overview');
  const csrf = await mallory.page.locator('input[name=csrf]').first().getAttribute('value');
  await mallory.leave();

  const attempts = {
    submit: sends(`${base}/tasks/new`, { csrf, once: 'x', kind: 'command', command: 'echo stolen', name: 'stolen' }),
    plain: sends(`${base}/tasks/new`, { csrf, kind: 'command', command: 'echo stolen', name: 'stolen' }, 'text/plain'),
    cancel: sends(`${base}/tasks/${running}/do/cancel`, { csrf, once: 'x' }),
    retry: sends(`${base}/tasks/${ended}/do/retry`, { csrf, once: 'x' }),
    bulk: sends(`${base}/tasks/bulk`, { csrf, once: 'x', lever: 'cancel', sure: 'yes', task: running }),
    pause: sends(`${base}/schedules/fenced/do/pause`, { csrf, once: 'x' }),
    delete: sends(`${base}/schedules/fenced/do/delete`, { csrf, once: 'x' }),
    revoke: sends(`${base}/account/keys/${spare.id}/revoke`, { csrf }),
    theme: sends(`${base}/theme`, { csrf, theme: 'dark', back: '/' }),
    'sign-out': sends(`${base}/sign-out`, { csrf }),
    'sign-in': sends(`${base}/sign-in`, { csrf, key: data.scriptless.key, next: '/' }),
  };
  const pages = new Map(Object.entries(attempts).map(([name, page]) => [`/${name}`, page]));
  pages.set('/fetch', { html: '<!doctype html><title>Other</title>' });
  pages.set('/frame', { html: `<!doctype html><title>Other</title><iframe src="${base}/tasks"></iframe>` });
  const { server, port } = await site(pages);

  const state = async () => JSON.stringify([
    (await api.tasks()).map((task) => [task.id, task.state]).sort(),
    (await api.get('/v1/schedules')).data.map((schedule) => [schedule.name, schedule.state]),
    (await api.get('/v1/keys')).data.map((one) => one.id).sort(),
  ]);
  const before = await state();

  // The same host on another port is the same site to a browser: it sends the cookie. From another host it does not.
  const all = Object.keys(attempts);
  for (const [kind, from, signedIn, sent] of [
    ['with the cookie', `http://127.0.0.1:${port}`, true, all],
    ['from another site', `http://localhost:${port}`, true, ['submit', 'cancel', 'delete', 'sign-out', 'sign-in']],
    ['not signed in', `http://127.0.0.1:${port}`, false, ['submit', 'sign-in']],
  ]) {
    const victim = await Person.arrive(stage, `another origin, ${kind}`, { watched: false });
    const { page, context } = victim;
    if (signedIn) {
      await victim.signInByKey(key);
      await victim.heading('Overview');
    }
    const cookies = async () => JSON.stringify((await context.cookies(base)).map(({ name }) => name).sort());
    const kept = await cookies();
    for (const name of sent) {
      await victim.check(`${name} is refused`, async () => {
        const answered = page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.url().startsWith(base));
        await page.goto(`${from}/${name}`, { waitUntil: 'commit' });
        const status = (await answered).status();
        wanted(status >= 400, `it answers with ${status}`);
        await page.waitForURL(`${base}/**`);
        wanted(await cookies() === kept, `it changed the cookies: ${await cookies()}`);
      });
    }
    await victim.check('a script of theirs can neither send nor read', async () => {
      await page.goto(`${from}/fetch`);
      const read = await page.evaluate(async ([at, token, task]) => {
        const body = new URLSearchParams({ csrf: token, once: 'y' });
        await fetch(`${at}/tasks/${task}/do/cancel`, { method: 'POST', mode: 'no-cors', credentials: 'include', body }).catch(() => {});
        return fetch(`${at}/tasks`, { credentials: 'include' }).then((answer) => answer.text(), () => '');
      }, [base, csrf, running]);
      wanted(read === '', 'it read a page');
    });
    if (signedIn) {
      await victim.check('no page is shown in a frame', async () => {
        await page.goto(`${from}/frame`);
        const frame = await until('the frame has loaded', () => page.frames()[1]);
        await until('the frame is refused', () => frame.url().startsWith('chrome-error:') || frame.evaluate(() => document.body.textContent === ''));
      });
      await victim.check('is still signed in', async () => {
        await page.goto(`${base}/tasks`);
        await victim.heading('Tasks');
        await page.getByRole('main').getByRole('link', { name: 'fenced' }).waitFor();
      });
    }
    await victim.leave();
  }
  await report.check('another origin: nothing was changed', undefined, async () => {
    const after = await state();
    wanted(after === before, `before: ${before} after: ${after}`);
  });
  server.close();
}

const PLANTED = `<!doctype html><html lang="en"><title>Planted</title><h1>Planted</h1><b class="stored-markup" onclick="1">bold</b>
<div style="width:600px;height:9px;background:red"></div><input name="nameless"><img src="http://localhost:9/x.png" alt=""><p id="pale">pale text</p>
<link rel="stylesheet" href="/pale.css">`;

// A check that cannot fail says nothing: each of them must find what is planted in a page.
export async function detectors(stage) {
  const reported = [];
  const pages = new Map([
    ['/', { html: PLANTED, headers: { 'content-security-policy': "style-src 'self'; img-src *" } }],
    ['/pale.css', { html: '#pale { color: #ccc }', headers: { 'content-type': 'text/css' } }],
  ]);
  const { server, port } = await site(pages);
  const base = `http://127.0.0.1:${port}`;
  const report = { failOn: (page, what, why) => reported.push(why) };
  const dora = await Person.arrive({ ...stage, base, report }, 'detector');
  await stage.report.check('the checks find what is planted', dora.page, async () => {
    await dora.goto('/');
    await dora.page.setViewportSize({ width: 320, height: 700 });
    wanted((await dora.page.evaluate(markup)).length > 0, 'not the markup');
    await dora.page.addStyleTag({ url: '/pale.css' });
    await dora.page.evaluate(() => { document.querySelector('div').style.width = '600px'; document.querySelector('div').style.height = '9px'; });
    wanted((await dora.page.evaluate(overflow)).length > 0, 'not the overflow');
    await dora.page.evaluate(axe);
    const found = (await dora.page.evaluate(barriers)).join();
    wanted(found.includes('label') && found.includes('color-contrast'), `not the barriers: ${found}`);
    wanted((await dora.page.evaluate(barriers, true)).join().includes('color-contrast'), 'not the colours');
    for (const what of ['another host', 'securitypolicyviolation']) wanted(reported.some((why) => why.includes(what)), `not: ${what}`);
    await dora.page.goto('/missing');
    wanted(reported.some((why) => why.includes('404')), 'not the status');
  });
  await dora.leave();
  server.close();
}
