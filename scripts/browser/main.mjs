// Runs all of it in one browser; the exit code says whether every check held. Started by scripts/browser-test.
import { make } from './data.mjs';
import { flows } from './flows.mjs';
import { Report } from './report.mjs';
import { chromium, sentence } from './tools.mjs';

const { BERTH_SERVER: base, BERTH_API_KEY: key, BERTH_OPERATOR_KEY: operatorKey, BROWSER_PROGRAM: executablePath, BROWSER_SHOTS: shots } = process.env;

// The browser itself asks nobody for anything.
const args = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
// Its sandbox does not work for root.
if (process.getuid() === 0) args.push('--no-sandbox');

const report = new Report(shots);
const [browser, data] = await Promise.all([chromium.launch({ executablePath, args }), make(base, key, operatorKey)]);
const stage = { browser, base, shots, report, data, taken: 0 };
if (process.env.BROWSER_TIMES) console.log(`ready after ${performance.now() / 1000} s`);

const waiting = flows.filter(([name]) => name.includes(process.env.BROWSER_ONLY ?? ''));
async function lane() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, flow] = next;
    const began = performance.now();
    await flow(stage).catch((error) => report.fail(name, sentence(error)));
    if (process.env.BROWSER_TIMES) console.log(`${name}: ${Math.round(performance.now() - began)} ms`);
  }
}
// Three at once: they wait more than they work.
await Promise.all([lane(), lane(), lane()]);
await report.settled();
await browser.close();
process.exitCode = report.end(`${stage.taken} screenshots`);
