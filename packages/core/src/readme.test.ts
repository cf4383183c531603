import { readFileSync } from 'node:fs';
import { context, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { REASONS } from './reasons.ts';
import { EVENT, METRIC } from './telemetry/semconv.ts';
import { registerTraces } from './telemetry/test-support.telemetry.ts';
import { bench, trip } from './test-support.ts';

const lines = readFileSync(new URL('../README.md', import.meta.url), 'utf8').split('\n');

/** The series of the table rows that begin with a name. */
const rows = (name: string): string[][] =>
  lines
    .filter((line) => line.startsWith(`| \`${name}\` `))
    .map((line) => line.split('|').map((series) => series.trim().replaceAll('`', '')))
    .map((series) => series.slice(1, -1));

/** Two tools fail from one cause, and the third call is refused. */
const paused = (): void => {
  const { session } = bench({ tools: { a: {}, b: {} } });
  for (const tool of ['a', 'b']) trip(session, tool, 'network');
  session.acquire('c');
};

describe('the README says what the code does', () => {
  test.each(Object.values(METRIC))('metric $name', ({ name, per, attributes, prometheus }) => {
    expect(rows(name)).toEqual([[name, per === 'tool' ? 'T' : '', attributes.join(', '), prometheus]]);
  });

  test.each(Object.entries(REASONS))('reason %s decides %s', (reason, decision) => {
    expect(rows(reason).map((series) => series[1])).toContain(decision);
  });

  test('attributes of spans', () => {
    const finished = registerTraces();
    const alternatives = [{ tool: 'b', degradation: 'low' }] as const;
    const { box } = bench({ tools: { a: { alternatives, group: 'g', failureThreshold: 1 }, b: {} } });
    const session = box.session({ span: true });
    const permit = session.acquire('a', { callId: 'call-7', type: 'extension' });
    permit.settle({ outcome: 'failure', category: 'network', retryAfterMs: 1000, tokens: 1, blames: 'group' });
    session.end();
    session.acquire('a');
    paused();
    trace.disable();
    context.disable();
    const [call, run, skip, ...others] = finished().map(({ attributes }) => Object.keys(attributes));
    const listed = (name: string): (string | undefined)[] => {
      const line = lines.find((one) => one.startsWith(`| \`${name} {`)) ?? expect.fail(name);
      return [...(line.split('|').at(-2) ?? '').matchAll(/`(.+?)`/g)].map(([, attribute]) => attribute);
    };
    expect(new Set(run)).toEqual(new Set(listed('invoke_agent')));
    expect(listed('execute_tool')).toEqual(expect.arrayContaining(call ?? []));
    const ofBoth = [...listed('execute_tool'), ...listed('breakerbox.skip')];
    expect(new Set([...(call ?? []), ...(skip ?? []), ...(others.at(-1) ?? [])])).toEqual(new Set(ofBoth));
  });

  test.each(Object.values(EVENT))('event %s', (event) => {
    expect(rows(event.replace('breakerbox.', ''))).toHaveLength(1);
  });
});
