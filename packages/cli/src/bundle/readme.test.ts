import type { RuleSettings } from '@breakerbox/alerts';
import { describe, expect, it } from 'vitest';
import { bundleFiles } from './contents.ts';
import { type BundleFlags, PARTS, readFlags } from './options.ts';

const made = (flags: BundleFlags, settings: Partial<RuleSettings> = {}) => {
  const files = bundleFiles({ ...readFlags(flags).options, ruleObject: {}, settings });
  const readme = files.find(({ path }) => path === 'README.md')?.text ?? '';
  return { readme, paths: files.map(({ path }) => path) };
};

/** Paths of the bundle that a text mentions. */
const namedIn = (readme: string): readonly string[] =>
  [
    ...readme.matchAll(/(?<![/\w])((?:dashboards|prometheus|grafana|alertmanager|kubernetes|runbooks)\/[\w./*-]*)/g),
  ].map(([, path = '']) => path);

const isThere = (path: string, paths: readonly string[]): boolean => {
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}`);
  return paths.some((one) => pattern.test(one));
};

describe('the README of a bundle', () => {
  it('names the chosen options, and only paths that exist', () => {
    const flags = {
      selector: 'job=~"agents-.+", cluster="eu"',
      dataSource: 'prom-1:Prometheus EU',
      logs: 'loki-1:Loki EU',
      folder: "The agents' health",
      grafanaUrl: 'https://grafana.example.com/sub',
      runbookUrl: 'https://wiki.example.com/runbooks',
    };
    const { readme, paths } = made(flags, { openFor: '20m' });
    const { selector, folder, grafanaUrl, runbookUrl } = flags;
    expect(readme).toContain("--logs 'loki-1:Loki EU'");
    for (const text of [selector, 'Prometheus EU', 'prom-1', folder, grafanaUrl, runbookUrl]) {
      expect(readme).toContain(text);
    }
    expect(readme).toMatch(/\| `openFor` \| 20m \| 5m \|/);
    const named = namedIn(readme);
    expect(named.length).toBeGreaterThan(8);
    for (const path of named) expect(isThere(path, paths), path).toBe(true);
  });

  it.each(PARTS)('with only the part %s mentions no file of another part', (part) => {
    const { readme, paths } = made({ folder: 'F', dataSource: 'p', only: part });
    expect(namedIn(readme).length).toBeGreaterThan(0);
    for (const path of namedIn(readme)) expect(isThere(path, paths), path).toBe(true);
    if (part === 'rules') return;
    expect(readme).not.toContain('inhibit_rules');
    expect(/link to dashboards, which this bundle does not have/.test(readme)).toBe(part === 'grafana-alerting');
  });
});
