import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type StackFiles, writeStackFiles } from './stack-files.ts';

const addresses = {
  metrics: '127.0.0.1:9464',
  alertmanager: '127.0.0.1:9093',
  webhookUrl: 'http://127.0.0.1:1234/alerts',
  messageUrl: 'http://127.0.0.1:1234/messages',
  consoleUrl: 'http://127.0.0.1:1235',
};
let folder: string;
let files: StackFiles;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-files-'));
  files = await writeStackFiles(folder, addresses);
});
afterAll(() => rm(folder, { recursive: true }));

const read = async (path: string) => parse(await readFile(path, 'utf8'));

test('Prometheus scrapes the demo, and nothing else', async () => {
  const { global, rule_files, alerting, scrape_configs } = await read(files.prometheus);
  expect(global).toMatchObject({ scrape_interval: '1s', evaluation_interval: '1s' });
  expect(global.external_labels).toMatchObject({ console_url: addresses.consoleUrl });
  expect(rule_files).toEqual([join(folder, 'rules', '*.yml')]);
  expect(alerting.alertmanagers).toEqual([{ static_configs: [{ targets: ['127.0.0.1:9093'] }] }]);
  const targets = scrape_configs.flatMap((job: { static_configs: { targets: string[] }[] }) =>
    job.static_configs.flatMap((one) => one.targets),
  );
  expect(targets).toEqual(['127.0.0.1:9464']);
});

test('keeps everything but addresses and times', async () => {
  const { alerting } = await read(files.prometheus);
  expect(alerting.alert_relabel_configs).toEqual([{ action: 'labeldrop', regex: 'grafana_url|console_url' }]);
  const { route, inhibit_rules, receivers } = await read(files.alertmanager);
  expect(route.group_by).toEqual(['alertname', 'gen_ai_agent_name', 'job']);
  expect(inhibit_rules).toHaveLength(7);
  expect(receivers).toEqual([
    {
      name: 'default',
      slack_configs: [expect.objectContaining({ api_url: addresses.messageUrl, send_resolved: true })],
      webhook_configs: [{ url: addresses.webhookUrl, send_resolved: true }],
    },
  ]);
});

test('uses the repository’s message templates, and none without a URL for messages', async () => {
  const { templates } = await read(files.alertmanager);
  expect(templates).toEqual([expect.stringMatching(/^\/.*\/stack\/alertmanager\/templates\/\*\.tmpl$/)]);
  const other = await mkdtemp(join(tmpdir(), 'breakerbox-files-'));
  const { alertmanager } = await writeStackFiles(other, { ...addresses, messageUrl: undefined });
  expect((await read(alertmanager)).receivers[0].slack_configs).toEqual([]);
  await rm(other, { recursive: true });
});

test('a minute of the rules takes a second', async () => {
  const alerts = await read(join(folder, 'rules', 'breakerbox.alerts.yml'));
  const rules: { alert: string; for?: string; keep_firing_for?: string }[] = alerts.groups[0].rules;
  expect(rules.find(({ alert }) => alert === 'BreakerboxCircuitOpen')?.for).toBe('5s');
  expect(rules.find(({ alert }) => alert === 'BreakerboxSystemicFailure')?.keep_firing_for).toBe('10s');
});

test('no rule has a range of minutes', async () => {
  for (const name of await readdir(join(folder, 'rules'))) {
    const { groups } = await read(join(folder, 'rules', name));
    const exprs: string[] = groups.flatMap((group: { rules: { expr: string }[] }) =>
      group.rules.map(({ expr }) => expr),
    );
    expect(exprs.join('\n')).not.toMatch(/\[\d+[mhd]\]/);
  }
});
