// Everything that is run, the longest first.
import { away, live, work } from './flows/customer.mjs';
import { detectors, fences } from './flows/fences.mjs';
import { firstHour } from './flows/first_hour.mjs';
import { signInPages, walkAll } from './flows/pages.mjs';
import { billing, operator, viewer } from './flows/roles.mjs';
import { scriptless } from './flows/scriptless.mjs';
import { webhooks } from './flows/webhooks.mjs';
import { weight } from './flows/weight.mjs';

export const flows = [
  ['pages', walkAll],
  ['customer', work],
  ['first hour', firstHour],
  ['without script', scriptless],
  ['another origin', fences],
  ['webhooks', webhooks],
  ['viewer', viewer],
  ['billing user', billing],
  ['operator', operator],
  ['owner at home', live],
  ['sign-in page', signInPages],
  ['weight', weight],
  ['no answer', away],
  ['detectors', detectors],
];
