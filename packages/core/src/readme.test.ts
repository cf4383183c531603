import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REASONS } from './reasons.ts';
import { EVENT, METRIC } from './telemetry/semconv.ts';

const lines = readFileSync(new URL('../README.md', import.meta.url), 'utf8').split('\n');

/** The cells of the table rows that begin with a name. */
const rows = (name: string): string[][] =>
  lines
    .filter((line) => line.startsWith(`| \`${name}\` `))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map((cells) => cells.slice(1, -1));

describe('the README says what the code does', () => {
  test.each(Object.values(METRIC))('metric $name', ({ name, scope, attributes, prometheus }) => {
    expect(rows(name)).toEqual([[name, scope === 'tool' ? 'T' : '', attributes.join(', '), prometheus]]);
  });

  test.each(Object.entries(REASONS))('reason %s decides %s', (reason, decision) => {
    expect(rows(reason).map((cells) => cells[1])).toContain(decision);
  });

  test.each(Object.values(EVENT))('event %s', (event) => {
    expect(rows(event.replace('breakerbox.', ''))).toHaveLength(1);
  });
});
