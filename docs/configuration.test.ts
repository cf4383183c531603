import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BreakerboxConfigError, type ConfigIssue, createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { startTelemetry } from '@breakerbox/telemetry';
import { describe, expect, test } from 'vitest';
import { DEFAULT_SYSTEMIC } from '../packages/core/src/budget/systemic.ts';
import { createWindowBudget } from '../packages/core/src/budget/window.ts';
import { gatePolicy, PROFILES, resolveGroupPolicy, resolvePolicy } from '../packages/core/src/circuit/policy.ts';
import { resolveRate } from '../packages/core/src/circuit/trip-policies/rate.ts';
import { DEFAULT_REPEATS } from '../packages/core/src/loop-guard/loop-guard.ts';
import { withCost } from './reference/cost.ts';
import { ENTRIES } from './reference/entries.ts';
import { configurationPage } from './reference/page.ts';
import { readEntries } from './reference/read.ts';
import { NO_OPTIONS, PARTS_OF_OTHERS, SECTIONS } from './reference/sections.ts';

const page = readFileSync(new URL('configuration.md', import.meta.url), 'utf8');

/** What users import: `internal` is ours, and `register` exports nothing. */
const entries = [...ENTRIES.keys()].filter((name) => !/\/(?:internal|register)$/.test(name));

/** The rows of a section: option, type, default, what. */
const rowsOf = (title: string): readonly (readonly string[])[] => {
  const [, section = ''] = page.split(`\n## ${title}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(
    ([, name = '', rest = '']) => [name, ...rest.split(' | ')],
  );
};
const optionsOf = (title: string): readonly string[] =>
  rowsOf(title).flatMap(([name = '']) => (name.includes('.') ? [] : [name]));

/** What a package has against options, which names all that it knows. */
const issuesOf = (give: () => unknown): readonly ConfigIssue[] => {
  try {
    give();
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues;
    throw error;
  }
  return [];
};
const known = (give: () => unknown): readonly string[] => {
  const [, names = ''] = /(?:Allowed here:|The options are) ([\w, ]+)\./.exec(issuesOf(give)[0]?.message ?? '') ?? [];
  return names.split(', ').sort();
};

test('production.md says of the cost what bench/results.json does: if not, run "node scripts/pnpm/pnpm.mjs run generate" and commit the result', () => {
  const text = readFileSync(new URL('production.md', import.meta.url), 'utf8');
  expect(text).toBe(withCost(text));
});

describe('configuration.md', () => {
  test('is what the types give: if not, run "node scripts/pnpm/pnpm.mjs run generate" and commit the result', () => {
    expect(page).toBe(configurationPage());
  });

  test('has every type of options that a package exports, by its name or because a function or method takes it', () => {
    const options = [...readEntries(entries)].flatMap(([entry, types]) =>
      [...types.values()].flatMap(({ name, isTaken }) =>
        isTaken || /(?:Options|Config|Policy)$/.test(name) ? [{ entry, name }] : [],
      ),
    );
    const isShown = ({ entry, name }: { entry: string; name: string }) =>
      SECTIONS.some((one) => one.from === entry && one.type === name);
    const known = [...PARTS_OF_OTHERS, ...NO_OPTIONS];
    expect(options.length).toBeGreaterThan(35);
    expect(options.filter((one) => !isShown(one) && !known.includes(one.name))).toEqual([]);
    expect(known.filter((name) => !options.some((one) => one.name === name))).toEqual([]);
  });

  test('shows no type that it explains nowhere', () => {
    const LANGUAGE = 'AbortSignal Error NoInfer Partial Pick PromiseLike Readonly Record'.split(' ');
    const PARAMETERS = 'Name Output Result Input Counts Request Answer Model'.split(' ');
    const UNIONS = [
      'ErrorCategory',
      'Judgement',
      'Availability',
      'ToolKind',
      'Listen',
      'Breakerbox',
      'Session',
      'Permit',
      'FileSettings',
      'BoxFleet',
      'FleetClient',
      'OperatedFleet',
      'Attributes', // of OpenTelemetry
      'ChatModel', // of LangChain
      'Call', // what a framework gives its model
    ];
    const sections = [...SECTIONS.map(({ type }) => type), 'GuardedFunction']; // what guard gives
    const shown = SECTIONS.flatMap(({ title }) =>
      rowsOf(title).flatMap(([, type = '']) => type.match(/\b[A-Z]\w+/g) ?? []),
    );
    const unexplained = shown.filter((name) => ![...LANGUAGE, ...PARAMETERS, ...UNIONS, ...sections].includes(name));
    expect([...new Set(unexplained)]).toEqual([]);
  });

  test.each([
    ['createBreakerbox', () => createBreakerbox({ agent: 'docs', nonsense: 1 } as never)],
    ['A tool', () => createBreakerbox({ agent: 'docs', tools: { search: { nonsense: 1 } } } as never)],
    ['box.session', () => createBreakerbox({ agent: 'docs' }).session({ nonsense: 1 } as never)],
    ['startTelemetry', () => startTelemetry({ nonsense: 1 } as never)],
    [
      'guard',
      () => guard(createBreakerbox({ agent: 'docs' }).session(), 'search', async () => 1, { nonsense: 1 } as never),
    ],
  ])('%s: has the options that are taken, and no others', (title, give) => {
    expect([...optionsOf(title)].sort()).toEqual(known(give));
  });

  /** Code of the packages that may read options: no tests, no comments, no types of options and no checks of them. */
  const code = globSync('packages/*/src/**/*.ts', { cwd: fileURLToPath(new URL('..', import.meta.url)) })
    .filter((path) => !/\.test\.ts$|\/test-support|\/src\/(?:proof|rules)\/|validation\.ts$/.test(path))
    .map((path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\/|^ *\/\/.*|^ *readonly \w+\??:.*/gm, '');
  test.each(SECTIONS.map(({ title }) => [title, optionsOf(title)] as const))(
    '%s: code reads each option',
    (_, names) => {
      const unread = names.filter((name) => {
        const isRead = String.raw`\.${name}\b|'${name}'|[{,] ${name}(?:,| [}=]|: \w+[ ,=])|^ *${name}(?:,$| =)`;
        return !new RegExp(isRead, 'm').test(code);
      });
      expect(unread, 'declared and documented, but read nowhere in packages/*/src').toEqual([]);
    },
  );

  const policy = resolvePolicy({ wastedTokens: { tokens: 1 } });
  const rate = resolveRate({ rate: 0.5 });
  const { failureThreshold, cooldownMs, distinctTools: groupThreshold } = resolveGroupPolicy({});
  const { windowSteps, windowMs, windowCalls } = createWindowBudget({ limit: 1, tokenLimit: undefined });
  const failures = createBreakerbox({ agent: 'docs' }).session().view().budget.remaining;
  const { probes, maxCooldownMs, probeLeaseMs, maxRetryAfterMs } = policy;
  const [probeAfterSteps] = policy.probeAfterSteps;
  const applies = (title: string, defaults: Readonly<Record<string, number | undefined>>) =>
    Object.entries(defaults).map(([name, value]) => [title, name, value] as const);
  test.each([
    ...applies('A tool', {
      ...PROFILES.default,
      probes,
      probeAfterSteps,
      maxCooldownMs,
      probeLeaseMs,
      maxRetryAfterMs,
    }),
    ['Failure rate', 'minimumCalls', rate.minimumCalls],
    ['Failure rate', 'windowCalls', 'calls' in rate.window ? rate.window.calls : undefined],
    ['Wasted tokens', 'windowMs', policy.wastedTokens?.windowMs],
    ...applies('A group', { failureThreshold, groupThreshold, cooldownMs }),
    ...applies('The failure budget', { failures, windowSteps, windowMs, windowCalls }),
    ['The end of a systemic failure', 'maxProbeAfterMs', gatePolicy({ probeAfterMs: 1 }).maxCooldownMs],
    ['createBreakerbox', 'loopGuard.repeats', DEFAULT_REPEATS],
    ...Object.entries(DEFAULT_SYSTEMIC).map(
      ([name, value]) => ['createBreakerbox', `systemic.${name}`, value] as const,
    ),
  ] as const)('%s, %s: the default is the one that applies', (title, name, applies) => {
    const [, , standard = ''] = rowsOf(title).find(([option]) => option === name) ?? [];
    expect(Number.parseInt(standard.replaceAll(',', ''), 10)).toBe(applies);
  });
});
