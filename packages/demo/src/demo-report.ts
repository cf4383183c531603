import type { Decision, Route } from '@breakerbox/core';
import type { AlertWatch, Delivery, Inhibition, Received } from './alert-watch.ts';
import type { Journal, Recorded } from './journal.ts';
import type { ProgramState, Stack } from './stack.ts';
import type { Counts } from './tallies.ts';

/**
 * What `npm run demo -- --json` prints. All `…AtMs` are milliseconds since the demo began. Lists hold the latest 2000
 * items, counts are exact.
 */
export interface DemoReport {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Addresses while the demo ran; null for a program that did not run. */
  readonly urls: {
    readonly metrics: string | null;
    readonly prometheus: string | null;
    readonly alertmanager: string | null;
  };
  /** The state of the programs when the demo was stopped. */
  readonly stack: { readonly prometheus: ProgramState; readonly alertmanager: ProgramState };
  /** Decisions of each tool of each agent. */
  readonly decisions: readonly ({ readonly agent: string; readonly tool: string } & Readonly<Counts<Decision>>)[];
  /** The routes of rejected calls, for each tool that had any. */
  readonly routes: readonly ({ readonly agent: string; readonly tool: string } & Readonly<Counts<Route['kind']>>)[];
  /** Circuits of tools, and of their groups (`group:NAME`). */
  readonly circuits: {
    /** Closed circuits that opened. */
    readonly opened: number;
    /** Probes that were let through. */
    readonly probed: number;
    /** Open circuits that closed, by a probe. */
    readonly closed: number;
    readonly transitions: Recorded['transitions'];
  };
  readonly budgets: {
    readonly exhausted: number;
    readonly resumed: number;
    readonly events: Recorded['budgets'];
  };
  readonly systemic: Recorded['systemic'];
  readonly scope: {
    /** Tasks that plans deferred. A task that three plans deferred counts three times, as in `breakerbox_tasks_total`. */
    readonly deferred: number;
    readonly plans: Recorded['scope'];
  };
  /** Last good results that answered while a circuit was open, each with the label that the model read. */
  readonly stale: Recorded['stale'];
  /** The report of each session that paused. `formatReport(report)` of `@breakerbox/core/report` makes a text of it. */
  readonly reports: Recorded['reports'];
  readonly alerts: {
    /** Alerts that arrived at Alertmanager's receiver, firing and resolved. */
    readonly delivered: readonly Delivery[];
    /** Alerts that Alertmanager suppressed because of another alert. */
    readonly inhibited: readonly Inhibition[];
    /** Alertmanager's messages for people, in Slack's format. */
    readonly messages: readonly Received[];
  };
  /** The script's incidents, and what the scripted operator did about paused sessions. */
  readonly script: { readonly incidents: Recorded['incidents']; readonly operator: Recorded['operator'] };
}

/** The sources of the report's facts. */
export interface ReportSources {
  readonly startedAt: Date;
  readonly journal: Journal;
  readonly watch: AlertWatch;
  /** Of the programs that ran, even if they are down now. */
  readonly urls: DemoReport['urls'];
  readonly stack: Stack;
}

/** Makes the report. */
export const report = ({ startedAt, journal, watch, urls, stack }: ReportSources): DemoReport => {
  const { recorded, tallies, routes, deferrals } = journal;
  const decisions = tallies.rows();
  return {
    startedAt: startedAt.toISOString(),
    durationMs: journal.elapsedMs(),
    urls,
    stack: { prometheus: stack.prometheus.state, alertmanager: stack.alertmanager.state },
    decisions,
    routes: routes.rows(),
    circuits: {
      opened: recorded.transitions.filter(({ from, to }) => from === 'closed' && to === 'open').length,
      probed: decisions.reduce((sum, { probe }) => sum + probe, 0),
      closed: recorded.transitions.filter(({ to }) => to === 'closed').length,
      transitions: recorded.transitions,
    },
    budgets: {
      exhausted: recorded.budgets.filter(({ what }) => what === 'exhausted').length,
      resumed: recorded.budgets.filter(({ what }) => what === 'resumed').length,
      events: recorded.budgets,
    },
    systemic: recorded.systemic,
    scope: { deferred: [...deferrals.values()].reduce((sum, count) => sum + count, 0), plans: recorded.scope },
    stale: recorded.stale,
    reports: recorded.reports,
    alerts: { delivered: watch.delivered, inhibited: watch.inhibited, messages: watch.messages },
    script: { incidents: recorded.incidents, operator: recorded.operator },
  };
};
