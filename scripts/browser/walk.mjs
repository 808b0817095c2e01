// Follows links from page to page, and checks each page at both widths and in both themes.
//
// A page that is new is found by itself as soon as a link leads to it; one of web/src/table.rs that no link leads to is a failure.
import { ELSEWHERE } from './data.mjs';
import { pageOf } from './table.mjs';
import { axe, until, wanted } from './tools.mjs';

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 700 };

// Runs in the page: elements that stored texts became.
export const markup = () => {
  const all = [...document.querySelectorAll('.stored-markup, main script')];
  for (const one of document.querySelectorAll('*')) {
    if (one.getAttributeNames().some((name) => name.startsWith('on'))) all.push(one);
  }
  return all.map((one) => one.outerHTML.slice(0, 80)).concat(document.title === 'it ran' ? ['the title was set'] : []);
};

// Runs in the page: what is wider than the window, or cut off by something that cannot be scrolled.
export const overflow = () => {
  const width = document.documentElement.clientWidth;
  const all = [];
  if (document.documentElement.scrollWidth > width) all.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const one of document.querySelectorAll('body *')) {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || box.right <= width + 1 || one.closest('.unseen, .skip')) continue;
    let scrolls = false;
    for (let outer = one; outer && !scrolls; outer = outer.parentElement) scrolls = ['auto', 'scroll'].includes(getComputedStyle(outer).overflowX);
    if (!scrolls) all.push(`${one.tagName.toLowerCase()} ends at ${Math.round(box.right)} px: ${one.textContent.trim().slice(0, 40)}`);
  }
  return all;
};

// Runs in the page that has axe: what keeps people from using it. Of a second theme only the colours are others.
export const barriers = async (coloursAlone) => {
  const rules = coloursAlone ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {};
  const { violations } = await axe.run(document, { resultTypes: ['violations'], iframes: false, ...rules });
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map((node) => node.html.slice(0, 110)).join(' | ')}`);
};

export class Walk {
  pages = new Set();
  #queue = [];
  #asked = new Set();

  // `views`: whether each page is checked at all widths and in all themes, or only its content. `levers`: whether it may have any.
  constructor(person, starts, { views = true, levers = true } = {}) {
    Object.assign(this, { person, views, levers });
    for (const [name, path, status = 200] of starts) {
      this.#queue.push({ name, path, status });
      const page = pageOf(new URL(path, person.stage.base).pathname);
      if (page) this.pages.add(page);
    }
  }

  // `tabs`: how many pages are open in parallel.
  async run(tabs = 1) {
    const { person } = this;
    const busy = new Set();
    const work = async (page) => {
      for (;;) {
        const next = this.#queue.shift();
        if (next) {
          const visit = this.#visit(page, next);
          busy.add(visit);
          await visit;
          busy.delete(visit);
        } else if (busy.size > 0) {
          await Promise.race(busy);
        } else {
          return;
        }
      }
    };
    const more = await Promise.all(Array.from({ length: tabs - 1 }, () => person.context.newPage()));
    await Promise.all([person.page, ...more].map(work));
    return this.pages;
  }

  async #visit(page, { name, path, status, from }) {
    const { person, views } = this;
    const { report } = person.stage;
    const what = `${person.name}, ${path}`;
    person.expect('any', path);
    const isThere = await report.check(what, page, async () => {
      await sized(page, WIDE);
      const answer = await page.goto(path);
      wanted(answer.status() === status, `answered with ${answer.status()}${from ? `; a link of ${from} leads there` : ''}`);
    });
    if (!isThere) return;
    await report.check(what, page, async () => {
      await this.#content(page, what, path);
      if (views) await this.#views(page, what, name, path);
    });
  }

  async #content(page, what, path) {
    const { report } = this.person.stage;
    const { found, headings, levers, text } = await page.evaluate(() => ({
      found: [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href')),
      headings: document.querySelectorAll('h1').length,
      levers: [...document.querySelectorAll('main form')].filter((form) => form.method === 'post' && form.querySelector('button, input[type=submit]')).map((form) => form.getAttribute('action')),
      text: document.documentElement.outerHTML,
    }));
    const one = async (name, body) => report.check(`${what}: ${name}`, page, body);
    await one('one main heading', () => wanted(headings === 1, `there are ${headings}`));
    await one('stored markup is text', async () => none(await page.evaluate(markup)));
    await one("nothing of another tenant's", () => wanted(this.person.operates || !text.includes(ELSEWHERE), `it has ${ELSEWHERE}`));
    if (!this.levers) await one('no lever', () => none(levers.filter((action) => !action.startsWith('/account/'))));
    for (const href of found) await this.#ask(href, path);
  }

  async #ask(href, from) {
    const url = new URL(href, this.person.stage.base + from);
    const { report } = this.person.stage;
    if (url.origin !== this.person.stage.base || href.startsWith('#')) return;
    const page = pageOf(url.pathname);
    if (page && !page.includes('/file/')) {
      if (!this.pages.has(page)) {
        this.pages.add(page);
        this.#queue.push({ name: page.replace(/[^a-z]+/g, '-').replace(/^-|-$/g, '') || 'home', path: url.pathname + url.search, status: 200, from });
      }
    } else if (!this.#asked.has(url.pathname)) {
      // A file, or the reference of the API.
      if (page) this.pages.add(page);
      this.#asked.add(url.pathname);
      await report.check(`${this.person.name}: the link from ${from} to ${url.pathname}`, undefined, async () => {
        const status = await this.person.status(url.pathname);
        wanted(status < 400, `it answers with ${status}`);
      });
    }
  }

  async #views(page, what, name, path) {
    const { person } = this;
    const { report, shots } = person.stage;
    await page.evaluate(axe);
    // The window becomes narrow once: Chromium may put an image together of what it drew before and after that.
    for (const [size, theme] of [[WIDE, 'light'], [WIDE, 'dark'], [NARROW, 'dark'], [NARROW, 'light']]) {
      if (size === NARROW && theme === 'dark') await sized(page, size);
      await page.emulateMedia({ colorScheme: theme });
      const shot = `${shots}/${name}-${size.width}-${theme}.png`;
      await take(page, size, shot);
      person.stage.taken += 1;
      const one = (problems) => (problems.length === 0 ? report.pass() : report.fail(`${what}, ${size.width} px, ${theme}`, problems.slice(0, 3).join('; '), shot));
      if (size === WIDE) one(await page.evaluate(barriers, theme === 'dark'));
      // Widths are those of the other theme.
      else if (theme === 'dark') one(await page.evaluate(overflow));
    }
  }
}

// The window has its new size when this ends.
async function sized(page, size) {
  await page.setViewportSize(size);
  await until(`the window is ${size.width} px wide`, () => page.evaluate((width) => document.documentElement.clientWidth === width, size.width));
}

// Of the whole page, in a window of its height. Two frames later Chromium has drawn it in that size, or nearly always: on a machine that
// has much else to do an image may still show a part of the page twice.
async function take(page, size, path) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  if (height > size.height) await page.setViewportSize({ width: size.width, height: Math.min(height, 12_000) });
  await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); }));
  await page.screenshot({ path });
}

function none(list) {
  wanted(list.length === 0, list.slice(0, 3).join('; '));
}
