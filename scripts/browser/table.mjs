// The table of pages (web/src/table.rs): which of them a path is.
import { readFileSync } from 'node:fs';

const source = readFileSync(new URL('../../web/src/table.rs', import.meta.url), 'utf8');
const templates = [...source.matchAll(/^\s*Get "([^"]+)"/gm)].map((found) => found[1]);
if (templates.length === 0) throw new Error('no page was read from web/src/table.rs');

const parts = (path) => path.split('/').slice(1);
const isName = (part) => part.startsWith('{');

function fits(template, path) {
  const [wanted, given] = [parts(template), parts(path)];
  return wanted.length === given.length && wanted.every((part, i) => isName(part) ? given[i] !== '' : part === given[i]);
}

// `/tasks/{id}/do/cancel` for `/tasks/task_…/do/cancel`: pages that show other things are told apart. None: not a page.
export function pageOf(path) {
  const named = (template) => parts(template).filter(isName).length;
  const [template] = templates.filter((one) => fits(one, path)).sort((a, b) => named(a) - named(b));
  const given = parts(path);
  return template && `/${parts(template).map((part, i) => ['{lever}', '{format}'].includes(part) ? given[i] : part).join('/')}`;
}

// Pages that a link should lead to, of which none of `seen` is.
export function missing(seen) {
  const linked = templates.filter((template) => !template.startsWith('/sign-in') && template !== '/assets/{file}');
  return linked.filter((template) => ![...seen].some((page) => page === template || fits(template, page)));
}
