import type { Decision, Route } from '@breakerbox/core';
import type { AlertWatch, Delivery, Inhibition, Received } from './alert-watch.ts';
import type { Journal, Told } from './journal.ts';
import type { ProgramState, Stack } from './stack.ts';
import type { Counts } from './tallies.ts';

/**
 * What `breakerbox demo --json` prints. All `…AtMs` are milliseconds since the demo began. Lists hold the latest 2000
 * items, counts are exact.
 */
export interface DemoReport {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Where to look, while it ran; null for what didn't run. */
  readonly urls: {
    readonly metrics: string | null;
    readonly prometheus: string | null;
    readonly alertmanager: string | null;
  };
  /** How the programs stood when the demo was stopped. */
  readonly stack: { readonly prometheus: ProgramState; readonly alertmanager: ProgramState };
  /** Decisions of each tool of each agent. */
  readonly decisions: readonly ({ readonly agent: string; readonly tool: string } & Readonly<Counts<Decision>>)[];
  /** Where calls were sent that weren't made, of each tool that had any. */
  readonly routes: readonly ({ readonly agent: string; readonly tool: string } & Readonly<Counts<Route['kind']>>)[];
  readonly circuits: {
    /** Closed circuits that opened. */
    readonly opened: number;
    /** Probes that were let through. */
    readonly probed: number;
    /** Open circuits that closed, by a probe. */
    readonly closed: number;
    readonly transitions: Told['transitions'];
  };
  readonly budgets: {
    readonly exhausted: number;
    readonly resumed: number;
    readonly events: Told['budgets'];
  };
  readonly systemic: Told['systemic'];
  readonly scope: {
    /** Tasks that plans put off: one that three plans put off counts three times, as in `breakerbox_tasks_total`. */
    readonly deferred: number;
    readonly plans: Told['scope'];
  };
  /** Last good results that answered for an open circuit, each with its label as the model read it. */
  readonly stale: Told['stale'];
  /** What each session reported when it paused: `formatReport(report)` of `@breakerbox/core` makes text of it. */
  readonly reports: Told['reports'];
  readonly alerts: {
    /** What arrived at Alertmanager's receiver, firing and resolved. */
    readonly delivered: readonly Delivery[];
    /** What Alertmanager held back because of another alert. */
    readonly inhibited: readonly Inhibition[];
    /** What a person would have read: the messages that Alertmanager made of it all, in Slack's form. */
    readonly messages: readonly Received[];
  };
  /** What was made to happen: the script's incidents, and what the scripted operator did about paused sessions. */
  readonly script: { readonly incidents: Told['incidents']; readonly operator: Told['operator'] };
}

/** Where the report's facts are. */
export interface ReportSources {
  readonly startedAt: Date;
  readonly journal: Journal;
  readonly watch: AlertWatch;
  /** Of the programs that ran, even if they are down now. */
  readonly urls: DemoReport['urls'];
  readonly stack: Stack;
}

/** Puts the report together. */
export const report = ({ startedAt, journal, watch, urls, stack }: ReportSources): DemoReport => {
  const { told, tallies, routes, deferrals } = journal;
  const decisions = tallies.rows();
  return {
    startedAt: startedAt.toISOString(),
    durationMs: journal.elapsedMs(),
    urls,
    stack: { prometheus: stack.prometheus.state, alertmanager: stack.alertmanager.state },
    decisions,
    routes: routes.rows(),
    circuits: {
      opened: told.transitions.filter(({ from, to }) => from === 'closed' && to === 'open').length,
      probed: decisions.reduce((sum, { probe }) => sum + probe, 0),
      closed: told.transitions.filter(({ to }) => to === 'closed').length,
      transitions: told.transitions,
    },
    budgets: {
      exhausted: told.budgets.filter(({ what }) => what === 'exhausted').length,
      resumed: told.budgets.filter(({ what }) => what === 'resumed').length,
      events: told.budgets,
    },
    systemic: told.systemic,
    scope: { deferred: [...deferrals.values()].reduce((sum, count) => sum + count, 0), plans: told.scope },
    stale: told.stale,
    reports: told.reports,
    alerts: { delivered: watch.delivered, inhibited: watch.inhibited, messages: watch.messages },
    script: { incidents: told.incidents, operator: told.operator },
  };
};
