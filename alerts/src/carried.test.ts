import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertmanagerParts, RECEIVERS, runbooks } from './carried.ts';
import { ALERTS } from './rules.ts';

const config = readFileSync(new URL('../../stack/alertmanager/alertmanager.yml', import.meta.url), 'utf8');

it('lists a runbook for each alert', () => {
  const names = runbooks().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(ALERTS.map(({ name }) => `${name}.md`)));
  expect(names).toEqual(names.toSorted());
});

it('inhibit_rules.yml contains the inhibition rules of the stack with their comments, and nothing else', () => {
  const { inhibitRules, groupBy } = alertmanagerParts();
  const { inhibit_rules, route } = parse(config);
  expect(parse(inhibitRules.text)).toEqual({ inhibit_rules });
  expect(groupBy).toEqual(route.group_by);
  const comments = inhibitRules.text.match(/^ *#.*$/gm) ?? [];
  expect(comments.length).toBeGreaterThan(1);
  for (const comment of comments) expect(config).toContain(comment.trim());
  expect(inhibitRules.text).toMatch(/^[#i]/);
});

it('lists the templates by file name', () => {
  expect(alertmanagerParts().templates).toEqual([
    { name: 'breakerbox.tmpl', text: expect.stringContaining('{{ define "breakerbox.title"') },
  ]);
});

it('receivers.yml contains the receivers of the stack, without its pager', () => {
  const { text } = alertmanagerParts().receivers;
  const [{ slack_configs }] = parse(config).receivers;
  const { api_url, ...slack } = slack_configs[0];
  expect(api_url).toContain('pager');
  expect(text).not.toContain('pager:');
  expect(parse(text).receivers).toEqual([
    { name: RECEIVERS.slack, slack_configs: [{ api_url_file: '/etc/alertmanager/slack-webhook', ...slack }] },
    {
      name: RECEIVERS.mail,
      email_configs: [
        expect.objectContaining({ html: '{{ template "breakerbox.html" . }}', smarthost: 'smtp.example.org:587' }),
      ],
    },
  ]);
});
