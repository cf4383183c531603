import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FORM, inForm, pages } from './command-form.mjs';

test.each(pages())('%s names the command in the form that works today', (page) => {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
  expect(text, `node scripts/command-form.mjs ${FORM}`).toBe(inForm(text, FORM));
});

test('a release switches the form, and back', () => {
  const both = 'npx breakerbox mcp <!-- both forms -->';
  const page = `Run npm run breakerbox -- ctl list.\n${both}`;
  expect(inForm(page, 'npx')).toBe(`Run npx breakerbox ctl list.\n${both}`);
  expect(inForm(inForm(page, 'npx'), 'clone')).toBe(page);
});

test('a block of commands never has the name alone, which works only after an installation', () => {
  const page =
    '`breakerbox check` reads files:\n```sh\nbreakerbox check a.yaml\necho x | breakerbox classify -\n```\nbreakerbox check a';
  const inClone = page
    .replace('\nbreakerbox check', '\nnpm run breakerbox -- check')
    .replace('| breaker', '| npm run breaker');
  expect(inForm(page, 'clone')).toBe(inClone.replace('breakerbox classify', 'breakerbox -- classify'));
});

test('runbooks, alerts and messages name the command, and no way to start it', () => {
  const root = new URL('..', import.meta.url).pathname;
  const shipped = [
    'alerts/{rules,grafana,operator}/*.yml',
    'alerts/runbooks/Breaker*.md',
    'dashboards/generated/*.json',
  ];
  const files = globSync([...shipped, 'stack/**/*.{yml,tmpl}', 'packages/*/{src,console}/**/*.{ts,html}'], {
    cwd: root,
  });
  expect(files.length).toBeGreaterThan(500);
  const started = files.filter((path) => /npx\s+breakerbox|breakerbox\s+-- /.test(readFileSync(root + path, 'utf8')));
  expect(started).toEqual([]);
});
