/** The objects against what the Prometheus operator and Kubernetes accept. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { runTool } from '../../../../stack/tools.ts';
import { bundleFiles } from './contents.ts';
import { PARTS, readFlags } from './options.ts';

const ruleObject = { namespace: 'monitoring', labels: { release: 'kube-prometheus-stack' } };
const files = bundleFiles({
  ...readFlags({ folder: 'Agents', only: PARTS.filter((one) => one !== 'grafana-alerting').join() }).options,
  ruleObject,
  settings: {},
  levels: ['namespace'],
});
const object = (path: string): unknown =>
  parse(files.find((file) => file.path === path)?.text ?? '', { version: '1.1' });

const metadata = z.strictObject({
  name: z.string().regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/),
  namespace: z.literal('monitoring'),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()).optional(),
});
const duration = z.string().regex(/^\d+[smhd]$/);
const matcher = z.strictObject({
  name: z.string().min(1),
  matchType: z.enum(['=', '!=', '=~', '!~']),
  value: z.string(),
});

describe('objects for Kubernetes', () => {
  it('have one ConfigMap for each dashboard, with the label of the sidecar, below the limit of an object', () => {
    const maps = files.filter(({ path }) => path.endsWith('.configmap.yml'));
    expect(maps).toHaveLength(4);
    for (const { path, text } of maps) {
      const { data, metadata: own } = z
        .strictObject({
          apiVersion: z.literal('v1'),
          kind: z.literal('ConfigMap'),
          metadata,
          data: z.record(z.string(), z.string()),
        })
        .parse(object(path));
      expect(own.labels).toEqual({ ...ruleObject.labels, grafana_dashboard: '1' });
      expect(own.annotations).toEqual({ grafana_folder: 'Agents' });
      expect(data).toEqual({
        [`${own.name}.json`]: files.find((one) => one.path === `dashboards/${own.name}.json`)?.text,
      });
      expect(text.length).toBeLessThan(1_000_000);
    }
    // Without the flag, kubectl copies each object into an annotation, which may have 256 KiB.
    expect(Math.max(...maps.map(({ text }) => text.length))).toBeGreaterThan(262_144);
    expect(files.find(({ path }) => path === 'README.md')?.text).toContain(
      'kubectl apply --server-side -f kubernetes/',
    );
  });

  it('have an AlertmanagerConfig with the labels to group by, and all inhibition rules with the levels', () => {
    const { spec } = z
      .strictObject({
        apiVersion: z.literal('monitoring.coreos.com/v1alpha1'),
        kind: z.literal('AlertmanagerConfig'),
        metadata,
        spec: z.strictObject({
          route: z.strictObject({
            ...{ receiver: z.string(), groupBy: z.array(z.string()) },
            ...{ groupWait: duration, groupInterval: duration, repeatInterval: duration },
            matchers: z.array(matcher),
          }),
          inhibitRules: z.array(
            z.strictObject({
              sourceMatch: z.array(matcher),
              targetMatch: z.array(matcher),
              equal: z.array(z.string()),
            }),
          ),
          receivers: z.array(
            z.strictObject({
              name: z.string(),
              slackConfigs: z.array(
                z.strictObject({
                  apiURL: z.strictObject({ name: z.string(), key: z.string() }),
                  ...{
                    sendResolved: z.boolean(),
                    username: z.literal('Breakerbox'),
                    color: z.string(),
                    title: z.string(),
                    text: z.string(),
                    fallback: z.string(),
                  },
                }),
              ),
            }),
          ),
        }),
      })
      .parse(object('kubernetes/breakerbox.alertmanagerconfig.yml'));
    expect(spec.receivers.map(({ name }) => name)).toContain(spec.route.receiver);
    expect(spec.route.groupBy).toContain('namespace');
    const rules = parse(files.find(({ path }) => path === 'alertmanager/inhibit_rules.yml')?.text ?? '').inhibit_rules;
    expect(spec.inhibitRules).toHaveLength(rules.length);
    for (const { equal } of spec.inhibitRules) expect(equal).toContain('namespace');
    // In YAML 1.1, `=` has a type of its own, which PyYAML rejects.
    const { text = '' } = files.find(({ path }) => path === 'kubernetes/breakerbox.alertmanagerconfig.yml') ?? {};
    expect(text.match(/matchType: .*/g)).toEqual(expect.arrayContaining(["matchType: '='"]));
    expect(text).not.toMatch(/: =$/m);
  });

  it('have the messages of the templates: escaped, with the severity, and at most ten alerts', async () => {
    const { spec } = object('kubernetes/breakerbox.alertmanagerconfig.yml') as {
      spec: { receivers: readonly [{ slackConfigs: readonly [Readonly<Record<string, string>>] }] };
    };
    const [{ title = '', text = '', fallback, color = '' }] = spec.receivers[0].slackConfigs;
    const alert = (status: string, tool: string) => ({
      status,
      labels: { alertname: 'BreakerboxCircuitOpen', gen_ai_tool_name: tool },
      annotations: {
        summary: `a: ${tool} is out of use`,
        description: '<!channel> of agent a is out of use.',
        began: 'Nov 27 18:16 UTC',
        runbook_url: 'https://runbooks.example/a.md',
        dashboard_url: 'https://grafana.example/d/a?var-agent=a&from=1',
        console_url: '',
      },
      startsAt: '2026-11-27T18:22:00Z',
      endsAt: '2026-11-27T18:32:00Z',
    });
    // Alertmanager sorts by labels, and not by status.
    const alerts = [alert('resolved', 'search'), alert('firing', '<!channel> & co'), alert('firing', 'fetch')];
    const folder = await mkdtemp(join(tmpdir(), 'breakerbox-kubernetes-'));
    try {
      const [data, template] = [join(folder, 'data.json'), join(folder, 'none.tmpl')];
      await writeFile(template, '');
      const rendered = async (one: string, of = alerts): Promise<string> => {
        const commonLabels = { severity: 'critical', job: 'j' };
        const group = { status: 'firing', alerts: of, commonLabels, externalURL: 'https://am.example' };
        await writeFile(data, JSON.stringify(group));
        const args = [`--template.glob=${template}`, `--template.text=${one}`, `--template.data=${data}`];
        const { code, output } = await runTool('amtool', ['template', 'render', ...args]);
        expect(code, output).toBe(0);
        return output.trim();
      };
      const link = '<https://grafana.example/d/a?var-agent=a&amp;from=1|Dashboard>';
      const firing = `• Since Nov 27 18:16 UTC: &lt;!channel&gt; of agent a is out of use.\n  _BreakerboxCircuitOpen_ · ${link}`;
      expect(await rendered(text)).toBe(
        [
          '2 firing, 1 resolved, job j · <https://runbooks.example/a.md|Runbook>',
          firing,
          firing,
          '*No longer:*',
          `• search: began Nov 27 18:16 UTC, resolved Nov 27 18:32 UTC · ${link}`,
        ].join('\n'),
      );
      expect(await rendered(title)).toBe('Critical: a: &lt;!channel&gt; &amp; co is out of use, and 1 more');
      expect(fallback).toBe(title);
      expect(await rendered(title, [alert('resolved', 'search')])).toBe('Resolved, no longer: a: search is out of use');
      expect(await rendered(color)).toBe('#D55E00');
      const many = await rendered(
        text,
        Array.from({ length: 200 }, (_, index) => alert('firing', `t${index}`)),
      );
      expect(many.match(/Since/g)).toHaveLength(10);
      expect(many).toContain('10 of 200 are shown; <https://am.example|all of them>');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('have a PodMonitor for the pods of every namespace, because its own is often that of the monitoring', () => {
    const relabeling = z.strictObject({
      sourceLabels: z.array(z.string().regex(/^__meta_kubernetes_\w+$/)),
      separator: z.string(),
      targetLabel: z.string(),
    });
    const endpoint = { port: z.string(), path: z.string(), interval: duration, relabelings: z.array(relabeling) };
    const { spec } = z
      .strictObject({
        apiVersion: z.literal('monitoring.coreos.com/v1'),
        kind: z.literal('PodMonitor'),
        metadata,
        spec: z.strictObject({
          namespaceSelector: z.strictObject({ any: z.literal(true) }),
          selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
          podMetricsEndpoints: z.array(z.strictObject(endpoint)).length(1),
        }),
      })
      .parse(object('kubernetes/breakerbox.podmonitor.yml'));
    // The job would be the name of the object otherwise, the same for agents of all namespaces.
    expect(spec.podMetricsEndpoints[0]?.relabelings).toMatchObject([
      { sourceLabels: [expect.stringContaining('namespace'), expect.any(String)], targetLabel: 'job' },
    ]);
  });

  it('come with a mixin that imports files of the bundle, and not by default', () => {
    const mixin = files.find(({ path }) => path === 'mixin.libsonnet')?.text ?? '';
    const imported = [...mixin.matchAll(/import(?:str)? '([^']+)'/g)].map(([, path]) => path);
    expect(imported).toHaveLength(6);
    for (const path of imported) expect(files.map((file) => file.path)).toContain(path);
    expect(readFlags({ folder: 'Agents' }).options.parts).not.toContain('kubernetes');
  });
});
