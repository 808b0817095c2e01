// A user with a browser profile of their own. Each error, refused policy, request to another host or status of 400 and above that no
// flow announced is a failed check.
import { wanted } from './tools.mjs';

const WINDOW = { width: 1280, height: 800 };
// Longer than anything takes: only what never comes waits to its end.
const DEADLINE_MS = 20_000;

export class Person {
  #expected = new Set();

  // `watched: false`: for flows in which errors are the expected result.
  static async arrive(stage, name, { watched = true, ...options } = {}) {
    const person = new Person();
    const context = await stage.browser.newContext({ baseURL: stage.base, viewport: WINDOW, colorScheme: 'light', ...options });
    context.setDefaultTimeout(DEADLINE_MS);
    Object.assign(person, { stage, name, context });
    if (watched) await person.#watch();
    person.page = await context.newPage();
    return person;
  }

  async #watch() {
    const { context, stage, name } = this;
    const wrong = (page, url, what) => stage.report.failOn(page, `${name}, ${path(url)}`, what);
    // Chromium logs a refusal of the policy, too; this line has its details.
    await context.addInitScript(() => addEventListener('securitypolicyviolation', (event) => {
      console.error(`securitypolicyviolation: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    }));
    context.on('request', (request) => {
      if (new URL(request.url()).origin !== stage.base) wrong(pageOf(request), request.frame().url(), `a request to another host: ${request.url().slice(0, 100)}`);
    });
    context.on('response', (response) => {
      const [status, url] = [response.status(), response.url()];
      if (status < 400 || this.#expected.has(`${status} ${path(url)}`) || this.#expected.has(`any ${path(url)}`)) return;
      wrong(pageOf(response.request()), url, `answered with ${status}`);
    });
    context.on('console', (message) => {
      // Statuses are checked above.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      wrong(message.page(), message.page()?.url() ?? stage.base, `error on the console: ${message.text().slice(0, 200)}`);
    });
    context.on('weberror', (error) => wrong(error.page(), error.page()?.url() ?? stage.base, `error of a script: ${error.error()}`));
  }

  // Announces a status; `any`: whoever opens the page checks it.
  expect(status, at) {
    this.#expected.add(`${status} ${path(new URL(at, this.stage.base).href)}`);
  }

  async goto(at, status = 200) {
    if (status >= 400) this.expect(status, at);
    const answer = await this.page.goto(at);
    wanted(answer.status() === status, `${at} answered with ${answer.status()}, not ${status}`);
  }

  // The status of a page that is not shown, redirects not followed.
  async status(at) {
    return (await this.context.request.get(at, { maxRedirects: 0 })).status();
  }

  check(what, body) {
    return this.stage.report.check(`${this.name}: ${what}`, this.page, body);
  }

  async signInByKey(key) {
    await this.goto('/sign-in');
    await this.page.getByLabel('API key or operator key').fill(key);
    await this.press('Sign in with the key');
  }

  async signIn(tenant, email, password) {
    await this.goto('/sign-in');
    await this.page.getByLabel('Organisation').fill(tenant);
    await this.page.getByLabel('E-mail address').fill(email);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.press('Sign in');
  }

  press(button) {
    return this.page.getByRole('main').getByRole('button', { name: button, exact: true }).click();
  }

  follow(link) {
    return this.page.getByRole('main').getByRole('link', { name: link, exact: true }).click();
  }

  nav(link) {
    return this.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link, exact: true }).click();
  }

  heading(name) {
    return this.page.getByRole('heading', { level: 1, name, exact: typeof name === 'string' }).waitFor();
  }

  // What a lever did, in words.
  said(text) {
    return this.page.getByRole('status').filter({ hasText: text }).waitFor();
  }

  shows(text) {
    return this.page.getByRole('main').getByText(text).filter({ visible: true }).first().waitFor();
  }

  // The state of the task or run that is shown.
  state(word) {
    return this.page.locator('.say .mark').getByText(word, { exact: true }).waitFor();
  }

  leave() {
    return this.context.close();
  }
}

// None while a page is being opened.
function pageOf(request) {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}

function path(url) {
  try {
    return new URL(url).pathname;
  } catch {
    return url;
  }
}
