import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { assembled } from './dashboard.ts';
import { absentOf, DEFAULT_SETTINGS, type RuleSettings } from './limits.ts';
import { UID } from './links.ts';
import { agents } from './rows/fleet-overview/agents.ts';
import { alerts } from './rows/fleet-overview/alerts.ts';
import { decisionsByKind, failureRates, whyNotMade } from './rows/fleet-overview/calls.ts';
import { now } from './rows/fleet-overview/now.ts';
import { health, states } from './rows/fleet-overview/tools.ts';

/** Is anything wrong, and where: one screen without headings, red only when a person should act. */
export const fleetOverview = (settings: RuleSettings = DEFAULT_SETTINGS): Dashboard => {
  const absent = absentOf(settings);
  return assembled({
    uid: UID.fleetOverview,
    title: 'Fleet overview',
    description: 'Is anything wrong with the tools of the agents, and where. No colour means that nobody needs to act.',
    rows: [
      { panels: now(absent) },
      { panels: [health(), alerts()] },
      { panels: [states(), agents(absent)] },
      { panels: [decisionsByKind(), failureRates(settings.errorRatio), whyNotMade()] },
    ],
  });
};
