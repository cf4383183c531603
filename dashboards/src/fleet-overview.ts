import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { assembled } from './dashboard.ts';
import { absentOf, DEFAULT_SETTINGS, type RuleSettings } from './limits.ts';
import { UID } from './links.ts';
import { alerts } from './rows/fleet-overview/alerts.ts';
import { agents } from './rows/fleet-overview/fleet-agents.ts';
import { decisionsByKind, failureRates, whyNotMade } from './rows/fleet-overview/fleet-calls.ts';
import { now } from './rows/fleet-overview/fleet-now.ts';
import { whoAnswered } from './rows/fleet-overview/models.ts';
import { health, states } from './rows/fleet-overview/tools.ts';

/** Is anything wrong, and where? One screen without headings, red only if a person must act. */
export const fleetOverview = (settings: RuleSettings = DEFAULT_SETTINGS): Dashboard => {
  const absent = absentOf(settings);
  return assembled({
    uid: UID.fleetOverview,
    title: 'Fleet overview',
    description: 'Is anything wrong with the tools of the agents, and where? Without colour, no action is needed.',
    rows: [
      { panels: now(absent) },
      { panels: [health(), alerts()] },
      { panels: [states(), agents(absent)] },
      { panels: [decisionsByKind(), failureRates(settings.errorRatio), whyNotMade()] },
      { title: 'Models: who answered', collapsed: true, panels: whoAnswered() },
    ],
  });
};
