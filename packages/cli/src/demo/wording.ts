import type { RouteSummary, ScopePlan, SessionReport } from '@breakerbox/core';
import { formatReport } from '@breakerbox/core';

/** Where a rejected call went, in the words of the view; empty if it went nowhere. */
export const describeRoute = (route: RouteSummary | undefined): string => {
  switch (route?.kind) {
    case 'alternative':
      return route.tool ?? '';
    case 'stale':
      return 'last good result';
    case 'manual':
      return 'by hand';
    default:
      return '';
  }
};

/** A plan that defers or replaces something, on one line. */
export const describePlan = ({ decision, achievable, deferred }: ScopePlan): string => {
  const names = deferred.map(({ task }) => task);
  if (decision === 'pause') return `plan: all deferred: ${names.join(', ')}`;
  const standIns = achievable.flatMap(({ degraded }) =>
    degraded.map(({ tool, route }) => `${route.tool} instead of ${tool}`),
  );
  const waiting = names.length === 0 ? [] : [`deferred: ${names.join(', ')}`];
  return `plan: ${[...waiting, ...standIns].join('; ')}`;
};

const INDENT = '  ';
const WIDTH = 80;

/** A full report, indented. */
export const reportText = (report: SessionReport, colour = false): string =>
  formatReport(report, { columns: WIDTH - INDENT.length, colour })
    .split('\n')
    .map((line) => (line === '' ? '' : INDENT + line))
    .join('\n');
