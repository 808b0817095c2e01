// Counts checks, and prints one line for each that failed.
import { relative } from 'node:path';
import { sentence } from './tools.mjs';

export class Report {
  #began = Date.now();
  #reported = new Set();
  #later = [];
  #shots;
  #passed = 0;
  #failed = 0;
  #taken = 0;

  constructor(shots) {
    this.#shots = shots;
  }

  // Continues after a failure. `page`: what the screenshot is taken of.
  async check(what, page, body) {
    const began = performance.now();
    try {
      await body();
      this.#passed += 1;
      if (process.env.BROWSER_TIMES === 'all') console.log(`${Math.round(performance.now() - began)} ms  ${what}`);
      return true;
    } catch (error) {
      this.fail(what, sentence(error), await this.#failedShot(page));
      return false;
    }
  }

  pass() {
    this.#passed += 1;
  }

  // The same failure at the same place is reported once.
  fail(what, why, shot) {
    const line = `${what}: ${why}`;
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#failed += 1;
    console.log(`FAILED  ${line}${shot ? ` (${relative('.', shot)})` : ''}`);
  }

  // The same from an event handler, which does not wait for the screenshot.
  failOn(page, what, why) {
    this.#later.push(this.#failedShot(page).then((shot) => this.fail(what, why, shot)));
  }

  async #failedShot(page) {
    if (!page || page.isClosed()) return undefined;
    this.#taken += 1;
    const path = `${this.#shots}/failed-${String(this.#taken).padStart(2, '0')}.png`;
    const taken = await page.screenshot({ path, fullPage: true, timeout: 5000 }).then(() => true, () => false);
    return taken ? path : undefined;
  }

  // Before the browser closes.
  settled() {
    return Promise.all(this.#later);
  }

  end(more) {
    const seconds = Math.round((Date.now() - this.#began) / 1000);
    console.log(`browser-test: ${this.#passed} checks passed, ${this.#failed} failed, ${more}, ${seconds} s`);
    return this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}
