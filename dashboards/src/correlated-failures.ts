import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { assembled } from './dashboard.ts';
import { DEFAULT_SETTINGS, type RuleSettings, togetherOf } from './limits.ts';
import { UID } from './links.ts';
import { sized } from './panels.ts';
import { now } from './rows/correlated-failures/events-now.ts';
import { openInSeveral, probes, store } from './rows/correlated-failures/fleet.ts';
import { agentsOfTools, toolsOfAgents } from './rows/correlated-failures/matrices.ts';
import { byAgent, byError, lastOpenings } from './rows/correlated-failures/openings.ts';
import { active, events, suspects } from './rows/correlated-failures/systemic.ts';
import { alerts, circuits } from './rows/correlated-failures/timelines.ts';
import { failuresTable } from './rows/failure-budget/spenders.ts';
import type { DataSource } from './variables.ts';

/** Failures with a shared cause: which tools and agents failed together. */
export const correlatedFailures = (settings: RuleSettings = DEFAULT_SETTINGS, logs?: DataSource): Dashboard => {
  const together = togetherOf(settings);
  return assembled({
    uid: UID.correlatedFailures,
    logs,
    title: 'Correlated failures',
    description:
      'Failures with a shared cause: which tools of which agents failed together, when, and with which error.',
    rows: [
      {
        title: 'Is it one cause',
        panels: [
          ...now(together),
          alerts(),
          suspects(),
          failuresTable(
            'Tools that failed in range',
            'A systemic event may begin with failures of several tools before any circuit opens. Then this table names its tools, and the panels about openings show nothing.',
            sized(14, 7, 'none'),
          ),
        ],
      },
      {
        title: 'What opened together',
        panels: [circuits(), lastOpenings(together), toolsOfAgents(together), agentsOfTools(together)],
      },
      { title: 'Openings over time', panels: [byError(), byAgent()] },
      { title: 'Systemic failure', panels: [events(), active()] },
      {
        title: 'Fleet: circuits that processes share',
        collapsed: true,
        panels: [...store(), openInSeveral(), probes()],
      },
    ],
  });
};
