/** Agents of all kinds with secrets in everything they use. The test searches every way out of the process for them. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { startOtlpReceiver } from '../../packages/telemetry/src/test-support/otlp-receiver.ts';
import type { SAID, Said } from './agents-child.ts';
import { OWN_FAULT, secretOf, secretsIn } from './plants.ts';

const CHILD = fileURLToPath(new URL('agents-child.ts', import.meta.url));
const PREFIX: typeof SAID = 'said: ';
const OUTSIDE = ['command line', 'environment', 'header of OTLP'] as const;

/** Each way out of the child must carry its normal content. Otherwise the search would search nothing. */
const HOLDS: Readonly<Record<string, string>> = {
  reports: 'search',
  snapshots: '"tool":"search"',
  views: '"search"',
  notes: "'search'",
  plans: 'prices',
  messages: "Tool 'search' is unavailable",
  events: 'circuit.transition',
  'what a console shows': 'Session',
  '/metrics': 'breakerbox_outcomes_total{',
  'prom-client': 'breakerbox_outcomes_total{',
  'OTLP traces': 'execute_tool search',
  'OTLP logs': 'breakerbox.circuit.transition',
  'OTLP metrics': 'breakerbox.outcomes',
  stdout: "name: 'breakerbox.outcomes'",
  stderr: "a listener of 'circuit.transition' failed",
};

/** By telemetry. */
const MODEL_WAYS = ['/metrics', 'prom-client', 'OTLP logs', 'OTLP metrics'] as const;

let said: Said;
let outputs: Readonly<Record<string, string>>;
let port: number;

beforeAll(async () => {
  await using receiver = await startOtlpReceiver({ echo: true });
  port = Number(new URL(receiver.url).port);
  const env = {
    PATH: process.env.PATH,
    SEARCH_API_KEY: secretOf('environment').trim(),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_EXPORTER: 'otlp,console',
    OTEL_LOGS_EXPORTER: 'otlp,console',
    OTEL_METRICS_EXPORTER: 'prometheus,otlp,console',
    OTEL_LOG_LEVEL: 'all',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${encodeURIComponent(secretOf('header of OTLP').slice(0, 24))}`,
  };
  // It may not write files or start processes or threads.
  const flags = ['--permission', '--allow-fs-read=*', '--conditions=breakerbox-source'];
  const args = [...flags, CHILD, '--api-key', secretOf('command line')];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    env,
    maxBuffer: 2 ** 28,
    timeout: 55_000,
  });
  const lines = stdout.split('\n');
  const result = lines.findIndex((line) => line.startsWith(PREFIX));
  said = JSON.parse(lines[result]?.slice(PREFIX.length) ?? '') as Said;
  const sent = (path: string): string =>
    receiver.requests.flatMap((request) => (request.path === path ? [request.body] : [])).join('\n');
  outputs = {
    ...said.outputs,
    'OTLP traces': sent('/v1/traces'),
    'OTLP logs': sent('/v1/logs'),
    'OTLP metrics': sent('/v1/metrics'),
    stdout: lines.toSpliced(result, 1).join('\n'),
    stderr,
  };
});

describe('Q2: no secret leaves the process', () => {
  test.each(Object.entries(HOLDS))('Q2: by %s', (way, holds) => {
    const output = outputs[way] ?? '';
    expect(output.includes(holds), `the output of ${way} has ${holds}`).toBe(true);
    const found = secretsIn(output, [...said.places, ...OUTSIDE, OWN_FAULT]);
    expect(found).toEqual(way === 'stderr' ? [OWN_FAULT] : []);
  });

  test('Q2, L8: calls of models are in what was searched, and their users got the answers', () => {
    const ways = Object.entries(outputs).filter(([, output]) => output.includes('model:xai/down'));
    expect(ways.map(([way]) => way)).toEqual(expect.arrayContaining(['events', 'reports', 'views', ...MODEL_WAYS]));
    expect(outputs['/metrics']).toMatch(/breakerbox_model_cost_total\{.*anthropic\/ai-up/);
    expect(outputs['OTLP traces']).toContain('breakerbox.model.tried');
    expect(outputs.messages).toContain('ModelsUnavailableError');
    expect(secretsIn(said.answers.join('\n'), said.places)).toEqual(
      expect.arrayContaining(['models: prompt', 'models: answer']),
    );
  });

  test('Q2: every way out is searched', () => {
    expect(Object.keys(outputs).toSorted()).toEqual(Object.keys(HOLDS).toSorted());
    expect([said.ports, said.rights]).toEqual([[port], []]);
  });

  test('Q2: the secrets existed: each model has read those of its tools, as it would without Breakerbox', () => {
    for (const [kind, texts] of Object.entries(said.heard)) {
      const read = secretsIn(texts.join('\n'), said.places);
      expect(read, kind).toContain(`${kind}: result`);
      expect(texts.length, kind).toBe(6);
      expect(texts.join('\n'), kind).toContain('is unavailable');
    }
  });
});
