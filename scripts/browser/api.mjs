// The HTTP API, for what a test needs before a browser opens, and to see what a browser changed.
import { until } from './tools.mjs';

export class Api {
  constructor(base, key) {
    Object.assign(this, { base, key });
  }

  async send(method, path, body) {
    const headers = { authorization: `Bearer ${this.key}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text && answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text };
  }

  async call(method, path, body) {
    const answer = await this.send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return answer.body;
  }

  get(path) {
    return this.call('GET', path);
  }

  // A task that bash runs.
  async script(command, more = {}) {
    return (await this.call('POST', '/v1/tasks', { run: { command: { argv: ['bash', '-c', command] } }, ...more })).id;
  }

  state(id, ...states) {
    return until(`task ${id} is ${states.join(' or ')}`, async () => states.includes((await this.get(`/v1/tasks/${id}`)).state), 30_000);
  }

  async tasks(query = '') {
    return (await this.get(`/v1/tasks?limit=100${query}`)).data;
  }
}
