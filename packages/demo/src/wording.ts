import type { RouteSummary, ScopePlan } from '@breakerbox/core';
import type { SessionReport } from '@breakerbox/core/report';
import { formatReport } from '@breakerbox/core/report';
import { type Paint, plain } from './paint.ts';

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
  const fallbacks = achievable.flatMap(({ degraded }) =>
    degraded.map(({ tool, route }) => `${route.tool} instead of ${tool}`),
  );
  const waiting = names.length === 0 ? [] : [`deferred: ${names.join(', ')}`];
  return `plan: ${[...waiting, ...fallbacks].join('; ')}`;
};

/** A full report, indented: the headline in red, titles in bold, and the states of tools in their colours. */
export const reportText = (report: SessionReport, paint: Paint = plain): string =>
  formatReport(report)
    .split('\n')
    .map((line, index) => {
      if (line === '') return '';
      if (index === 0) return `  ${paint('red', line)}`;
      if (/^[A-Z]/.test(line)) return `  ${paint('bold', line)}`;
      return `  ${line.replace(/ {2}(open|closed|half_open)\b/, (_, state: string) => `  ${paint(state === 'closed' ? 'green' : 'red', state)}`)}`;
    })
    .join('\n');
