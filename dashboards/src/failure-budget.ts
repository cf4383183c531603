import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { assembled } from './dashboard.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './limits.ts';
import { UID } from './links.ts';
import { inRangeRow, nowRow } from './rows/failure-budget/budget-now.ts';
import { burnRow } from './rows/failure-budget/burn.ts';
import { deferredRow, tokensRow } from './rows/failure-budget/left-out.ts';
import { sessionsRow } from './rows/failure-budget/sessions.ts';
import { spendRow } from './rows/failure-budget/spend.ts';
import { spendersRow } from './rows/failure-budget/spenders.ts';
import type { DataSource } from './variables.ts';

/** The cost of failures: budgets, paused sessions, tokens. */
export const failureBudget = (settings: RuleSettings = DEFAULT_SETTINGS, logs?: DataSource): Dashboard =>
  assembled({
    uid: UID.failureBudget,
    logs,
    title: 'Failure budget',
    description:
      'The cost of failures: how fast budgets burn and what burns them, which sessions are paused, which work was deferred, tokens, and what agents spend of their limits. Budgets belong to agents, so Tool filters only failures, routes and tokens.',
    rows: [
      nowRow(),
      inRangeRow(),
      burnRow(settings),
      sessionsRow(),
      spendersRow(),
      deferredRow(),
      tokensRow(),
      spendRow(),
    ],
  });
