import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseExposition } from './exposition.ts';
import { packAll } from './newcomer/pack.ts';
import { catalog } from './newcomer/workspace.ts';
import { nodeBinary } from './packaging/nodes.ts';
import { makeBlank } from './packaging/project.ts';
import { readJson } from './packaging/published.ts';
import { runJson } from './packaging/run.ts';

/*
 * The packed packages beside the OpenTelemetry that an application has: the oldest API that is a peer with the SDK 2.x, the newest with the
 * SDK 3.x, and no SDK at all. And beside another copy of themselves.
 */

const OURS = ['@breakerbox/core', '@breakerbox/instrumentation'];
const SDK_2 = '2.12.0';

let above: string;
beforeAll(async () => {
  above = await mkdtemp(join(tmpdir(), 'breakerbox-otel-'));
  const tarballs = await packAll();
  const project = ({ line, ours, versions }: Line): Promise<string> => {
    const others = Object.entries(versions).map(([name, version]) => `@opentelemetry/${name}@${version}`);
    return makeBlank({ folder: folderOf(line), type: 'module', installer: 'npm', ours, others }, tarballs);
  };
  await Promise.all(LINES.map(project));
}, 180_000);
afterAll(() => rm(above, { recursive: true, force: true }));

const folderOf = (line: string): string => join(above, line.replaceAll(' ', '-'));

const SEEN = ['read the-news', 'ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED', 'refused: open'];

/** What the story counts: names and values of the attributes. */
const COUNTED = {
  'breakerbox.circuit.opened.time newcomer search network': expect.any(Number),
  'breakerbox.decisions newcomer read_page call closed': 1,
  'breakerbox.decisions newcomer search call closed': 3,
  'breakerbox.decisions newcomer search skip open': 1,
  'breakerbox.outcomes newcomer read_page success': 1,
  'breakerbox.errors newcomer search failure network': 3,
  'breakerbox.outcomes newcomer search failure': 3,
  'breakerbox.routes newcomer search defer': 1,
  'breakerbox.sessions.started newcomer': 1,
  'breakerbox.transitions newcomer search closed open': 1,
  'gen_ai.execute_tool.duration newcomer read_page': 1,
  'gen_ai.execute_tool.duration newcomer search _OTHER': 3,
};

interface Line {
  readonly line: string;
  /** The least Node that it is claimed for. */
  readonly node: string;
  readonly ours: readonly string[];
  /** Where the line has its tracer provider. */
  readonly spans: string;
  /** Of packages in OpenTelemetry's scope. */
  readonly versions: Readonly<Record<string, string>>;
}

const newest = (...names: readonly string[]): Line['versions'] =>
  Object.fromEntries(names.map((name) => [name, catalog[`@opentelemetry/${name}`] ?? expect.fail(`no ${name}`)]));

const OLD: Line = {
  line: 'API 1.9 with SDK 2.x',
  node: '20.19.0',
  ours: OURS,
  spans: '@opentelemetry/sdk-trace-base',
  versions: { api: '1.9.0', 'sdk-metrics': SDK_2, 'sdk-trace-base': SDK_2, 'context-async-hooks': SDK_2 },
};
const NEW: Line = {
  line: 'API 1.10 with SDK 3.x',
  node: '22.15.0',
  ours: [...OURS, '@breakerbox/telemetry'],
  spans: '@opentelemetry/sdk-trace',
  versions: newest('api', 'sdk-metrics', 'sdk-trace', 'context-async-hooks'),
};
const LINES = [OLD, NEW];

interface Ran {
  readonly seen: unknown;
  readonly counted: Readonly<Record<string, number>>;
  /** Names with their status. */
  readonly spans: readonly string[];
}

describe.each(LINES)('$line', ({ line, node, spans, versions }) => {
  test('is what is installed, once', async () => {
    const modules = join(folderOf(line), 'node_modules');
    expect(readJson<{ version: string }>(modules, '@opentelemetry/api/package.json').version).toBe(versions.api);
    for (const name of OURS) expect(existsSync(join(modules, name, 'node_modules'))).toBe(false);
  });

  test('registered after the box was made: counters, durations and spans are right', async () => {
    const ran = await runJson<Ran>(await nodeBinary(node), ['otel.mjs', spans], folderOf(line));
    expect(ran.seen).toEqual(SEEN);
    expect(ran.counted).toEqual(COUNTED);
    const failed = 'execute_tool search 2'; // 2 is the status of an error.
    expect(ran.spans).toEqual(['execute_tool read_page 0', failed, failed, failed, 'breakerbox.skip search 2']);
  });

  test('with no SDK registered: it decides all the same', async () => {
    const ran = await runJson(await nodeBinary(node), ['imports.mjs'], folderOf(line));
    expect(ran).toEqual({ loaded: [], seen: SEEN });
  });
});

test('two copies of one release in one process report as one, and know each other’s rejections', async () => {
  const folder = folderOf(NEW.line);
  const scope = 'node_modules/@breakerbox';
  for (const name of ['core', 'instrumentation']) {
    await cp(join(folder, scope, name), join(folder, 'plugin', scope, name), { recursive: true });
  }
  const ran = await runJson<{
    distinct: boolean;
    mine: unknown;
    other: unknown;
    mixed: unknown;
    refusals: unknown;
    metrics: string;
  }>(process.execPath, ['two-copies.mjs'], folder, { BREAKERBOX_WARNINGS: 'off' });
  expect(ran).toMatchObject({ distinct: true, mine: SEEN, other: SEEN, mixed: SEEN });
  const { series } = parseExposition(ran.metrics);
  const count = (family: string, ...parts: readonly string[]): number =>
    Object.entries(series)
      .filter(([name]) => name.startsWith(`${family}{`) && parts.every((part) => name.includes(part)))
      .reduce((sum, [, value]) => sum + value, 0);
  const decisions = (tool: string, decision: string): number =>
    count('breakerbox_decisions_total', `gen_ai_tool_name="${tool}"`, `breakerbox_decision="${decision}"`);
  expect([decisions('read_page', 'call'), decisions('search', 'call'), decisions('search', 'skip')]).toEqual([3, 9, 3]);
  expect(count('gen_ai_execute_tool_duration_seconds_count', 'gen_ai_tool_name="search"')).toBe(9);
  // The outer tool is not the one that is unavailable: five rejections of the inner one cost it nothing.
  const refused = { name: 'ToolUnavailableError', code: 'BREAKERBOX_TOOL_UNAVAILABLE', tool: 'maps' };
  expect(ran.refusals).toEqual(Array(5).fill(refused));
  expect([decisions('plan', 'call'), decisions('plan', 'skip')]).toEqual([5, 0]);
});
