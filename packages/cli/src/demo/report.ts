import type { AlertWatch, Delivery, Inhibition } from './alert-watch.ts';
import type { Journal, Told } from './journal.ts';
import type { ProgramState, Stack } from './stack.ts';
import type { DecisionCounts } from './tallies.ts';

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
  readonly decisions: readonly ({ readonly agent: string; readonly tool: string } & DecisionCounts)[];
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
  readonly alerts: {
    /** What arrived at Alertmanager's receiver, firing and resolved. */
    readonly delivered: readonly Delivery[];
    /** What Alertmanager held back because of another alert. */
    readonly inhibited: readonly Inhibition[];
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
  const { told, tallies } = journal;
  const decisions = [...tallies].flatMap(([agent, tools]) =>
    [...tools].map(([tool, counts]) => ({ agent, tool, ...counts })),
  );
  return {
    startedAt: startedAt.toISOString(),
    durationMs: journal.elapsedMs(),
    urls,
    stack: { prometheus: stack.prometheus.state, alertmanager: stack.alertmanager.state },
    decisions,
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
    alerts: { delivered: watch.delivered, inhibited: watch.inhibited },
    script: { incidents: told.incidents, operator: told.operator },
  };
};
