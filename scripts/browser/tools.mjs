// What scripts/lib/browser.sh has installed outside the tree, and waiting without guessing.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

const require = createRequire(`${process.env.BROWSER_TOOLS}/`);
export const { chromium } = require('playwright-core');
export const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// Until `condition` returns something; an error of it counts as not yet.
export async function until(what, condition, deadlineMs = 20_000) {
  const end = Date.now() + deadlineMs;
  let last = '';
  for (;;) {
    try {
      const found = await condition();
      if (found) return found;
      last = '';
    } catch (error) {
      last = ` (${sentence(error)})`;
    }
    if (Date.now() > end) throw new Error(`not within ${deadlineMs / 1000} s: ${what}${last}`);
    await pause(50);
  }
}

export function wanted(condition, what) {
  if (!condition) throw new Error(what);
}

// An error in one line. The first lines of Playwright's say what was waited for.
export function sentence(error) {
  const lines = String(error?.message ?? error).replace(/\u001b\[[0-9;]*m/g, '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line && line !== 'Call log:').slice(0, 3).join(' ').slice(0, 300);
}
