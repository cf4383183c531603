import type { Decision } from '@breakerbox/core';
import { ATTR } from '../../names.ts';

const decision = (...decisions: readonly Decision[]): string => `span.${ATTR.decision} =~ "${decisions.join('|')}"`;

/** TraceQL for the spans of decisions. They have these attributes in every framework. */
export const SPANS = {
  failed: 'status = error',
  probe: decision('probe'),
  notRun: decision('skip', 'pause'),
} as const;
