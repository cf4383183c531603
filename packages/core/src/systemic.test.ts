import { describe, expect, test } from 'vitest';
import { createBudget } from './budget.ts';
import { createLedger, recordOpening } from './ledger.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { type Correlation, DEFAULT_SYSTEMIC, detectSystemic, type Opening, systemicEvent } from './systemic.ts';

const opening = (tool: string, category: ErrorCategory, ms = 0, step = 0): Opening => ({
  tool,
  category,
  at: { ms, step, stepMs: 0 },
  unixMs: 0,
});

const dependencies: Readonly<Record<string, string>> = { search: 'proxy', weather: 'proxy', orders: 'database' };

/** What the capability map says, in small. */
const sharedDependency = (tools: readonly string[]): string | undefined => {
  const [first, ...others] = new Set(tools.map((tool) => dependencies[tool]));
  return others.length === 0 ? first : undefined;
};

const policy: Correlation = { ...DEFAULT_SYSTEMIC, sharedDependency };

describe('S4: the suspected layer', () => {
  test.each([
    [['network', 'timeout'], 'network'],
    [['filesystem', 'resource'], 'filesystem'],
    [['permission', 'permission'], 'permissions'],
    [['server', 'rate_limit'], 'upstream'],
    [['unknown', 'unknown'], 'unknown'],
    [['network', 'filesystem'], 'unknown'],
    [['network', 'unknown'], 'unknown'],
  ] as const)('S4: %j is %s', (categories, layer) => {
    const event = systemicEvent(categories.map((category, index) => opening(`tool ${index}`, category)));
    expect(event).toMatchObject({ layer, dependency: undefined });
    expect(event.category).toBe(categories[0] === categories[1] ? categories[0] : undefined);
  });

  test('S4: without openings nothing is suspected', () => {
    expect(systemicEvent([])).toEqual({ category: undefined, layer: 'unknown', dependency: undefined, openings: [] });
  });
});

describe('S4: a shared dependency', () => {
  test('S4: what the tools stand on together is named, and suspected before what their category says', () => {
    const latest = opening('weather', 'network', 10);
    const event = detectSystemic([opening('search', 'network'), latest], latest, policy);
    expect(event).toMatchObject({ category: 'network', layer: 'dependency', dependency: 'proxy' });
  });

  test('S4: tools that share none are judged by their category', () => {
    const latest = opening('orders', 'network', 10);
    const event = detectSystemic([opening('search', 'network'), latest], latest, policy);
    expect(event).toMatchObject({ category: 'network', layer: 'network', dependency: undefined });
  });

  test('S1, S4: different categories below three are independent, whatever the tools share', () => {
    const latest = opening('weather', 'server', 10);
    expect(detectSystemic([opening('search', 'network'), latest], latest, policy)).toBeUndefined();
  });

  test('S4: only what the tools of the event share counts, not what else is open', () => {
    const latest = opening('weather', 'network', 10);
    const open = [opening('orders', 'server'), opening('search', 'network'), latest];
    expect(detectSystemic(open, latest, policy)).toMatchObject({ dependency: 'proxy' });
    const three = detectSystemic(open, latest, { ...policy, sameCategory: 3 });
    expect(three).toMatchObject({ layer: 'unknown', dependency: undefined });
  });

  test('S4: a circuit that joins the event may end the suspicion', () => {
    const ledger = ['search', 'weather'].reduce(
      (before, tool) => recordOpening(before, opening(tool, 'network'), policy),
      createLedger(createBudget(5)),
    );
    expect(ledger.event?.dependency).toBe('proxy');
    const joined = recordOpening(ledger, opening('orders', 'network'), policy);
    expect(joined.event).toMatchObject({ layer: 'network', dependency: undefined });
  });
});
