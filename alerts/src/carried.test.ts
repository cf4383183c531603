import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertmanagerParts, runbooks } from './carried.ts';
import { ALERTS } from './rules.ts';

const config = readFileSync(new URL('../../stack/alertmanager/alertmanager.yml', import.meta.url), 'utf8');

it('has a runbook for each alert', () => {
  const names = runbooks().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(ALERTS.map(({ name }) => `${name}.md`)));
  expect(names).toEqual(names.toSorted());
});

it('has the inhibition of the stack with its comments, and nothing else of it', () => {
  const { inhibitRules, groupBy } = alertmanagerParts();
  const { inhibit_rules, route } = parse(config);
  expect(parse(inhibitRules.text)).toEqual({ inhibit_rules });
  expect(groupBy).toEqual(route.group_by);
  const comments = inhibitRules.text.match(/^ *#.*$/gm) ?? [];
  expect(comments.length).toBeGreaterThan(1);
  for (const comment of comments) expect(config).toContain(comment.trim());
  expect(inhibitRules.text).toMatch(/^[#i]/);
});

it('has the templates, by their own names', () => {
  expect(alertmanagerParts().templates).toEqual([
    { name: 'breakerbox.tmpl', text: expect.stringContaining('{{ define "breakerbox.title"') },
  ]);
});
