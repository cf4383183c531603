import { createLedger, type Ledger } from '../budget/ledger.ts';
import { type Charge, createStrictBudget, type StrictBudget } from '../budget/strict.ts';
import { type Opening, systemicEvent } from '../budget/systemic.ts';
import { createWindowBudget, type WindowBudget, type WindowCharge, withCharges } from '../budget/window.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { ScopePlan } from '../routing/route.ts';
import type { ToolTally } from '../session-tools.ts';
import type { CircuitView } from '../view.ts';
import type { ReportFacts } from './report.ts';

/** 2026-11-20 21:14:03 UTC. */
export const UNIX_NOW = Date.UTC(2026, 10, 20, 21, 14, 3);

/** The moment of the report: 10 minutes into the session, on step 14. */
export const NOW: Moment = { ms: 600_000, step: 14, stepMs: 595_000 };

/** A moment of the same session. */
export const earlier = (agoMs: number, step: number): Moment => ({ ms: NOW.ms - agoMs, step, stepMs: 0 });

export const facts = (more: Partial<ReportFacts> = {}): ReportFacts => ({
  id: 'run-7f3a',
  agent: 'research-agent',
  unixMs: UNIX_NOW,
  at: NOW,
  circuits: [],
  tallies: new Map(),
  ledger: ledger([]),
  event: undefined,
  eventProbe: undefined,
  systemicDecision: 'pause',
  plan: undefined,
  done: [],
  ...more,
});

export const closed = (tool: string, failures = 0): CircuitView => ({
  tool,
  group: undefined,
  state: 'closed',
  generation: 0,
  failures,
  category: undefined,
  trip: undefined,
  openForMs: undefined,
  nextProbe: undefined,
  openKeys: 0,
  failedKeys: 0,
});

export const open = (tool: string, category: ErrorCategory, openForMs: number, steps: number): CircuitView => ({
  ...closed(tool),
  state: 'open',
  generation: 1,
  category,
  trip: 'consecutive',
  openForMs,
  nextProbe: { steps, ms: 60_000 - openForMs, notBeforeMs: 0 },
});

export const tally = (more: Partial<ToolTally> = {}): ToolTally => ({
  decisions: {},
  succeeded: 0,
  failed: 0,
  ignored: 0,
  ignoredBy: [],
  tokensWasted: 0,
  routes: {},
  alternatives: {},
  freshness: {},
  ...more,
});

/** Calls of a healthy tool. */
export const worked = (times: number, more: Partial<ToolTally> = {}): ToolTally =>
  tally({ decisions: { closed: times }, succeeded: times, ...more });

/** Calls of a tool that works, then fails three times and opens. */
export const broke = (succeeded: number, more: Partial<ToolTally> = {}): ToolTally =>
  tally({ succeeded, failed: 3, ...more, decisions: { closed: succeeded + 3, ...more.decisions } });

export const charge = (tool: string, category: ErrorCategory, agoMs: number, step: number): WindowCharge => ({
  tool,
  category,
  at: earlier(agoMs, step),
  provisional: false,
});

/** The same by the rule `strict`, with what the call cost. */
export const strictCharge = (
  tool: string,
  category: ErrorCategory,
  agoMs: number,
  step: number,
  tokens = 0,
): Charge => ({ tool, category, at: earlier(agoMs, step), tokens });

/** A ledger with these charges in its window. */
export const ledger = (
  charges: readonly WindowCharge[],
  more: Partial<Ledger> = {},
  budget: Partial<WindowBudget> = {},
): Ledger => ({
  ...createLedger(withCharges({ ...createWindowBudget({ limit: 5 }), consumed: charges.length, charges, ...budget })),
  ...more,
});

/** A ledger by the rule `strict`. */
export const strictLedger = (
  charges: readonly Charge[],
  more: Partial<Ledger> = {},
  budget: Partial<StrictBudget> = {},
): Ledger => ({
  ...createLedger({ ...createStrictBudget(5), consumed: charges.length, charges, ...budget }),
  ...more,
});

/** A tool of a group. */
export const inGroup = (group: string, circuit: CircuitView): CircuitView => ({ ...circuit, group });

export const opening = (tool: string, category: ErrorCategory, agoMs: number, step: number): Opening => ({
  tool,
  category,
  at: earlier(agoMs, step),
  unixMs: UNIX_NOW - agoMs,
});

/** Three failures opened the circuit, and became one charge (B3). */
const outage = charge('web_search', 'timeout', 105_000, 11);

const timeouts = [9, 10, 11].map((step) => strictCharge('web_search', 'timeout', (14 - step) * 35_000, step, 1_200));

/** One tool is unavailable, and others are used instead. */
export const oneOpen = facts({
  circuits: [open('web_search', 'timeout', 38_000, 1), closed('fetch_page'), closed('news_search')],
  tallies: new Map([
    [
      'web_search',
      broke(9, {
        decisions: { open: 6, probe_in_flight: 1 },
        tokensWasted: 3_600,
        routes: { alternative: 5, stale: 1, manual: 1 },
        alternatives: { fetch_page: 1, news_search: 4 },
      }),
    ],
    ['fetch_page', worked(14, { freshness: { cached: 3 } })],
    ['news_search', worked(4)],
  ]),
  ledger: ledger([outage]),
});

const crmCharges = [charge('crm_lookup', 'server', 20_000, 13), charge('crm_lookup', 'permission', 4_000, 14)];

const strictCrmCharges = crmCharges.map(({ provisional: _, ...one }) => ({ ...one, tokens: 0 }));

const reducedScope: ScopePlan = {
  decision: 'reduce',
  achievable: [
    { task: 'collect sources', degraded: [] },
    {
      task: 'summarise the news of the week',
      degraded: [
        {
          tool: 'web_search',
          route: {
            kind: 'alternative',
            tool: 'news_search',
            method: undefined,
            degradation: 'low',
            note: 'recent items only',
            adapt: undefined,
          },
        },
      ],
    },
    { task: 'draft the letter', degraded: [] },
  ],
  deferred: [
    {
      task: 'look up the customer and bring the account of the last quarter up to date',
      blockers: [
        {
          tool: 'crm_lookup',
          reason: 'open',
          route: { kind: 'manual', fallback: 'ask the account manager' },
          unblock: "a probe of 'crm_lookup' succeeds (due in 2 steps or 56 s)",
        },
      ],
    },
  ],
};

/** Some tasks can be done, one with another tool, one not at all. */
export const scopeReduced = facts({
  circuits: [open('web_search', 'timeout', 38_000, 1), closed('news_search'), open('crm_lookup', 'server', 4_000, 2)],
  tallies: new Map([
    ['web_search', broke(9, { decisions: { open: 2 }, routes: { alternative: 2 }, alternatives: { news_search: 2 } })],
    ['news_search', worked(2)],
    ['crm_lookup', tally({ decisions: { closed: 1, open: 1 }, failed: 1, routes: { manual: 1 } })],
  ]),
  ledger: ledger([outage, { ...charge('crm_lookup', 'server', 4_000, 14), provisional: true }]),
  plan: reducedScope,
  done: ['collect sources'],
});

/** Nothing is left of the budget: an outage, two failures of a tool that is not open, and two of names that the model made up. */
export const pausedOnBudget = facts({
  circuits: [open('web_search', 'timeout', 105_000, -1), closed('crm_lookup', 2), closed('fetch_page')],
  tallies: new Map([
    ['web_search', broke(9, { decisions: { open: 4 }, routes: { alternative: 4 }, alternatives: { fetch_page: 4 } })],
    ['crm_lookup', tally({ decisions: { closed: 2, budget_exhausted: 2 }, failed: 2, routes: { manual: 2 } })],
    ['fetch_page', worked(18, { decisions: { closed: 18, budget_exhausted: 1 }, routes: { defer: 1 } })],
  ]),
  ledger: ledger(
    [charge('fetch', 'unknown', 200_000, 8), outage, ...crmCharges, charge('search', 'unknown', 2_000, 14)],
    {
      exhausted: true,
    },
  ),
  plan: {
    decision: 'pause',
    achievable: [],
    deferred: [
      {
        task: 'look up the customer and bring the account of the last quarter up to date',
        blockers: [
          {
            tool: 'crm_lookup',
            reason: 'budget_exhausted',
            route: { kind: 'manual', fallback: 'ask the account manager' },
            unblock: 'a person resumes the session: session.resume()',
          },
        ],
      },
      {
        task: 'draft the letter',
        blockers: [
          {
            tool: 'fetch_page',
            reason: 'budget_exhausted',
            route: { kind: 'defer' },
            unblock: 'a person resumes the session: session.resume()',
          },
        ],
      },
    ],
  },
  done: ['collect sources'],
});

/** The same by the rule `strict`, in the second cycle. */
export const pausedStrictly = facts({
  ...pausedOnBudget,
  ledger: strictLedger([...timeouts, ...strictCrmCharges], { exhausted: true }, { cycle: 2 }),
});

/** Three tools failed together, and all of them depend on one thing. */
export const pausedSystemic = facts({
  circuits: [
    { ...open('crm_lookup', 'network', 92_000, 1), trip: 'failure_rate' },
    open('order_status', 'network', 47_000, 2),
    open('invoice_search', 'network', 12_000, 3),
    closed('web_search'),
  ],
  tallies: new Map([
    ['crm_lookup', broke(7, { decisions: { open: 3 }, routes: { manual: 3 } })],
    ['order_status', broke(2, { decisions: { systemic: 1 }, routes: { defer: 1 } })],
    ['invoice_search', broke(0)],
    ['web_search', worked(11, { decisions: { closed: 11, systemic: 1 }, routes: { defer: 1 } })],
  ]),
  ledger: ledger([{ ...charge('crm_lookup', 'network', 110_000, 10), event: true }]),
  event: systemicEvent(
    [
      opening('crm_lookup', 'network', 92_000, 11),
      opening('order_status', 'network', 47_000, 13),
      opening('invoice_search', 'network', 12_000, 14),
    ],
    { sharedDependency: () => 'postgres-main' },
  ),
});

/** The circuit of a group, under the name that it has. */
const github = (circuit: CircuitView): CircuitView => inGroup('github', circuit);

/** An MCP server is unavailable: one circuit rejects the calls of all of its tools (C13). */
export const groupOpen = facts({
  circuits: [
    open('group:github', 'network', 38_000, 1),
    github(closed('list_issues')),
    github(closed('create_issue')),
    github({ ...closed('delete_repo'), state: 'forced_open' }),
    closed('web_search'),
    closed('group:files'),
    inGroup('files', closed('read_file')),
  ],
  tallies: new Map([
    ['list_issues', broke(4, { decisions: { group_open: 3, probe_in_flight: 1 }, routes: { defer: 4 } })],
    ['create_issue', tally({ decisions: { closed: 1, group_open: 2 }, failed: 1, routes: { manual: 2 } })],
    ['delete_repo', tally({ decisions: { forced_open: 1 }, routes: { defer: 1 } })],
    ['web_search', worked(11)],
    ['read_file', worked(3)],
  ]),
  ledger: ledger([charge('group:github', 'network', 38_000, 12)]),
});

/** Scope `process`: an event skips the tools that it affects, and ends by a probe (S2, S5). */
export const systemicSkipping = facts({
  circuits: [
    open('group:github', 'network', 92_000, 1),
    github(closed('list_issues')),
    open('web_search', 'network', 40_000, 2),
    closed('read_file'),
  ],
  tallies: new Map([
    ['list_issues', broke(2, { decisions: { systemic: 4 }, routes: { defer: 4 } })],
    ['web_search', broke(6, { decisions: { systemic: 1 }, routes: { defer: 1 } })],
    ['read_file', worked(8)],
  ]),
  ledger: ledger([{ ...charge('group:github', 'network', 92_000, 10), event: true }]),
  event: systemicEvent([opening('group:github', 'network', 92_000, 10), opening('web_search', 'network', 40_000, 12)]),
  eventProbe: { ms: 260_000, notBeforeMs: 0 },
  systemicDecision: 'skip',
});

/** Names that would break a terminal, a line or a table. */
export const nastyNames = facts({
  agent: 'agent\u001b]0;owned\u0007',
  circuits: [
    open(`mcp__${'very_'.repeat(38)}long`, 'network', 9_000, 2),
    open('two\nlines\u001b[31m', 'network', 5_000, 3),
    closed('検索ツール'),
    closed('👩‍💻 helper 🚀'),
    closed('\u202egnp.exe'),
  ],
  tallies: new Map([
    [
      'two\nlines\u001b[31m',
      broke(1, { decisions: { open: 1 }, routes: { alternative: 1 }, alternatives: { 検索ツール: 1 } }),
    ],
    ['検索ツール', worked(1)],
    ['👩‍💻 helper 🚀', worked(3)],
  ]),
  ledger: ledger([charge('two\nlines\u001b[31m', 'network', 5_000, 14)]),
});
