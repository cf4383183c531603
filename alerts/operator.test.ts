/** The PrometheusRule object against the definition (CRD) of the Prometheus operator, and against the rules files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { runTool } from '../stack/tools.ts';
import { type OperatorOptions, operatorRules } from './src/operator.ts';
import { ruleFiles } from './src/prometheus.ts';

const duration = z.string().regex(/^(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?$/);
const texts = z.record(z.string(), z.string());
const rule = z.strictObject({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string().min(1),
  for: duration.optional(),
  keep_firing_for: duration.optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
});
const group = z.strictObject({ name: z.string().min(1), interval: duration.optional(), rules: z.array(rule).min(1) });
const object = z.strictObject({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('PrometheusRule'),
  metadata: z.strictObject({
    name: z.literal('breakerbox'),
    namespace: z.string().optional(),
    labels: texts.optional(),
  }),
  spec: z.strictObject({ groups: z.array(group) }),
});

/** As Kubernetes reads it: YAML 1.1. */
const read = (options?: OperatorOptions) => object.parse(parse(operatorRules(options).text, { version: '1.1' }));
const groupsOfFiles = (options?: OperatorOptions): unknown[] =>
  ruleFiles(options).flatMap(({ text }) => parse(text).groups as unknown[]);

describe('the PrometheusRule', () => {
  it.each<OperatorOptions>([
    {},
    { selector: 'job=~"agents-.+"', settings: { openFor: '20m' }, grafanaUrl: 'https://grafana.example.com' },
  ])('has the groups of the rules files, with %j', (options) => {
    const { groups } = read(options).spec;
    expect(groups).toEqual(groupsOfFiles(options));
    // The operator merges groups by name.
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  });

  it('has groups that promtool accepts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'breakerbox-operator-'));
    try {
      await writeFile(join(folder, 'rules.yml'), JSON.stringify(read().spec));
      const { code, output } = await runTool(
        'promtool',
        ['check', 'rules', '--lint=all', '--lint-fatal', 'rules.yml'],
        folder,
      );
      expect(code, output).toBe(0);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each<OperatorOptions>([
    {},
    { selector: 'job=~"agents-.+", environment="production"', levels: ['cluster', 'namespace'] },
  ])('fits into the annotation in which kubectl keeps an applied object, with %j', (options) => {
    // Of 256 KiB for all annotations. The rest is for longer selectors.
    expect(JSON.stringify(read(options)).length).toBeLessThan(262_144 * 0.75);
  });

  it('has the namespace and labels of the options, as strings', () => {
    expect(read().metadata).toEqual({ name: 'breakerbox' });
    const own = { namespace: 'no', labels: { release: 'monitoring', 'example.com/on': 'yes', team: '007', empty: '' } };
    expect(read(own).metadata).toEqual({ name: 'breakerbox', ...own });
  });

  it.each<[OperatorOptions, RegExp]>([
    [{ namespace: 'Monitoring' }, /namespace: is "Monitoring", which Kubernetes rejects\. Write .* lower-case/],
    [{ namespace: '' }, /namespace: is ""/],
    [{ labels: { 'a b': 'c' } }, /labels\.a b: is not a label name of Kubernetes/],
    [{ labels: { 'a/b/c': 'd' } }, /labels\.a\/b\/c: is not a label name/],
    [{ labels: { 'Example.com/a': 'd' } }, /is not a label name/],
    [{ labels: { release: 'a b' } }, /labels\.release: is "a b", which Kubernetes rejects/],
    [{ labels: { release: 'x'.repeat(64) } }, /labels\.release: is "x+"/],
  ])('%j is an error', (options, reason) => {
    expect(() => operatorRules(options)).toThrow(reason);
  });
});
