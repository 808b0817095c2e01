// Counts checks, and prints a line for each that failed.
import { relative } from 'node:path';
import { sentence } from './tools.mjs';

export class Report {
  #began = Date.now();
  #told = new Set();
  #shots;
  #passed = 0;
  #failed = 0;

  constructor(shots) {
    this.#shots = shots;
  }

  // Runs on after a failure. `page`: what to take the screenshot of.
  async check(what, page, body) {
    try {
      await body();
      this.#passed += 1;
      return true;
    } catch (error) {
      this.fail(what, sentence(error), await this.#failedShot(page));
      return false;
    }
  }

  pass() {
    this.#passed += 1;
  }

  // The same failure on the same place is told once.
  fail(what, why, shot) {
    const line = `${what}: ${why}`;
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#failed += 1;
    console.log(`FAILED  ${line}${shot ? ` (${relative('.', shot)})` : ''}`);
  }

  async #failedShot(page) {
    if (!page || page.isClosed()) return undefined;
    const path = `${this.#shots}/failed-${String(this.#failed + 1).padStart(2, '0')}.png`;
    const taken = await page.screenshot({ path, fullPage: true, timeout: 5000 }).then(() => true, () => false);
    return taken ? path : undefined;
  }

  end(more) {
    const seconds = Math.round((Date.now() - this.#began) / 1000);
    console.log(`browser-test: ${this.#passed} checks passed, ${this.#failed} failed, ${more}, ${seconds} s`);
    return this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}
