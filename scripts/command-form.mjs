// `node scripts/command-form.mjs npx` is a step of the first release: pages then say `npx breakerbox ctl list`, which npm can find. Until
// then they say `npm run breakerbox -- ctl list`, which works in a clone. command-form.test.mjs holds the pages to FORM.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The form of today: the script changes this line too. */
export const FORM = 'clone';

const WORDS = { npx: 'npx breakerbox ', clone: 'npm run breakerbox -- ' };
const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Pages and programs for people who read the repository. Runbooks, alerts and messages are read where neither form may work: they say
 * `breakerbox ctl list`, and alerts/runbooks/README.md says how to start it.
 */
export const pages = () =>
  globSync(['README.md', 'docs/*.md', '{packages/*,alerts,dashboards,examples}/README.md', 'examples/*.ts'], {
    cwd: root,
  }).sort();

/** In a block of commands, the name alone works only after an installation. */
const BARE = /(^|\| )breakerbox (?=(?:bundle|capabilities|check|classify|console|ctl|mcp|replay) )/g;

/** The text in a form. A line with a comment that says so keeps both. */
export const inForm = (text, form) => {
  const other = form === 'npx' ? 'clone' : 'npx';
  let isCommands = false;
  const lineIn = (line) => {
    if (line.includes('<!-- both forms -->')) return line;
    if (line.trimStart().startsWith('```')) isCommands = /^\s*```(?:sh|bash)\b/.test(line);
    const full = isCommands ? line.replace(BARE, `$1${WORDS[form]}`) : line;
    return full.replaceAll(WORDS[other], WORDS[form]);
  };
  return text.split('\n').map(lineIn).join('\n');
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , form = FORM] = process.argv;
  if (!(form in WORDS)) throw new Error(`Say which form: ${Object.keys(WORDS).join(' or ')}.`);
  for (const page of [...pages(), 'scripts/command-form.mjs']) {
    const path = join(root, page);
    const text = readFileSync(path, 'utf8');
    const changed = page.endsWith('.mjs') ? text.replace(/(const FORM = ')\w+/, `$1${form}`) : inForm(text, form);
    if (changed !== text) writeFileSync(path, changed);
  }
}
