import { describe, expect, it } from 'vitest';
import { type BundleFlags, PARTS, readFlags } from './options.ts';

const read = (flags: Partial<BundleFlags> = {}) => readFlags({ folder: 'Breakerbox', ...flags });
const faults = (flags: Partial<BundleFlags>): readonly string[] =>
  read(flags).issues.map(({ path, message }) => `${path} ${message}`);

describe('the flags of a bundle', () => {
  it('may all be left out: then all jobs, and no alerts managed by Grafana', () => {
    expect(read()).toEqual({
      options: { folder: 'Breakerbox', parts: ['dashboards', 'rules', 'runbooks'] },
      issues: [],
    });
  });

  it('are parsed', () => {
    const { options, issues } = read({
      selector: "{job='a'}",
      dataSource: 'prom-1:Prometheus: main',
      logs: 'loki-1',
      folder: ' AI agents ',
      grafanaUrl: 'https://grafana.example.com/sub/',
      runbookUrl: 'http://wiki/runbooks',
      only: 'runbooks, dashboards',
    });
    expect(issues).toEqual([]);
    expect(options).toEqual({
      selector: 'job="a"',
      dataSource: { uid: 'prom-1', name: 'Prometheus: main' },
      logs: { uid: 'loki-1' },
      folder: 'AI agents',
      grafanaUrl: 'https://grafana.example.com/sub',
      runbookUrl: 'http://wiki/runbooks',
      parts: ['dashboards', 'runbooks'],
    });
  });

  it('with a data source make every part but that of Kubernetes, which repeats the dashboards', () => {
    const parts = PARTS.filter((part) => part !== 'kubernetes');
    expect(read({ dataSource: 'prom-1' }).options).toMatchObject({ dataSource: { uid: 'prom-1' }, parts });
  });

  it.each<[Partial<BundleFlags>, RegExp]>([
    [{ dataSource: '' }, /^--data-source "" is not a valid data source uid/],
    [{ dataSource: 'my prometheus' }, /"my prometheus" is not a valid .*as in prometheus-eu:Prometheus/],
    [{ dataSource: 'uid:' }, /no valid name after the colon/],
    [{ logs: 'my loki' }, /^--logs "my loki" is not a valid data source uid/],
    [{ folder: ' ' }, /^--folder is empty/],
    [{ folder: 'a\u2028b' }, /control characters/],
    [{ folder: ' general' }, /^--folder is General, which Grafana reserves/],
    [{ dataSource: 'uid:a\u2029b' }, /control characters/],
    [{ folder: 'a/b' }, /"a\/b" has a slash/],
    [{ folder: '$HOME' }, /a \$/],
    [{ grafanaUrl: 'grafana.example.com' }, /^--grafana-url "grafana.example.com" is not a URL.*https:/],
    [{ grafanaUrl: 'ftp://x' }, /not a URL/],
    [{ grafanaUrl: 'https://me:secret@x' }, /user or a password/],
    [{ runbookUrl: 'https://x/y?z=1' }, /^--runbook-url .* has a \?/],
    [{ runbookUrl: 'https://x/y#z' }, /has a \?/],
    [{ only: 'dashbords' }, /^--only there is no part "dashbords"\. The parts are dashboards, /],
    [{ only: '' }, /no part ""/],
    [{ only: 'grafana-alerting' }, /^--data-source is missing/],
    [{ selector: 'job=a' }, /^--selector a value must be in quotes/],
  ])('%j is an error', (flags, reason) => {
    expect(faults(flags)).toEqual([expect.stringMatching(reason)]);
  });

  it('are all reported at once, without secrets', () => {
    const found = faults({ selector: 'x', dataSource: '?', folder: '', grafanaUrl: 'https://a:hunter2@b', only: 'y' });
    expect(found).toHaveLength(5);
    expect(found.join()).not.toContain('hunter2');
  });
});
