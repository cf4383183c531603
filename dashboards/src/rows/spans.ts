import type { Decision } from '@breakerbox/core';
import { type DataLink, type LinkedAttribute, rowTracesLink } from '../links.ts';
import { ATTR } from '../names.ts';

const decision = (...decisions: readonly Decision[]): string => `span.${ATTR.decision} =~ "${decisions.join('|')}"`;

/** TraceQL for the spans of decisions. They have these attributes in every framework. */
export const SPANS = {
  failed: `span.${ATTR.outcome} = "failure"`,
  probe: decision('probe'),
  notRun: decision('skip', 'pause'),
} as const;

/** From a row of a tool of an agent to its traces: the calls that failed, and those that were not run. */
export const tracesOfTool = (columns: Readonly<Partial<Record<LinkedAttribute, string>>>): readonly DataLink[] => [
  rowTracesLink('Traces of failed calls', columns, SPANS.failed),
  rowTracesLink('Traces of skips and pauses', columns, SPANS.notRun),
];
