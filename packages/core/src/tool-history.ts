import type { Breakerbox } from './breakerbox.ts';
import { type ErrorCategory, isFromOutside } from './classify/taxonomy.ts';
import { boxInternals } from './session-internals.ts';
import { isMostlyIgnored } from './session-tools.ts';
import { ATTR } from './telemetry/semconv.ts';
import { allSeries, type Series } from './telemetry/series.ts';

const evidenceOf = (box: Breakerbox) => boxInternals(box, 'the history of a box').context.evidence;

/** For replays: the box goes on with what another box knows of its tools, as if both were one process (O8). */
export const shareHistory = (from: Breakerbox, to: Breakerbox): void => {
  const { succeeded, unexplained } = evidenceOf(from);
  Object.assign(evidenceOf(to), { succeeded, unexplained });
};

/** A tool most of whose calls came back with an error that counts in no circuit. */
export interface UncountedTool {
  readonly tool: string;
  readonly errors: number;
  readonly calls: number;
}

/** Those of a box, by all calls that the metrics have counted. Tools without series of their own are left out. */
export const uncountedTools = (box: Breakerbox): readonly UncountedTool[] => {
  const { context } = boxInternals(box, 'the calls of a box');
  return box.tools.flatMap((tool) => {
    const series = context.tool(tool)?.series;
    if (series?.base[ATTR.tool] !== tool) return [];
    const calls = sumOf(allSeries(series, 'outcomes'));
    const ignored = [...allSeries(series, 'errors')].filter(
      ({ attributes: { [ATTR.outcome]: outcome, [ATTR.errorType]: category, [ATTR.blames]: blames } }) =>
        outcome === 'ignored' && blames === undefined && !isFromOutside(category as ErrorCategory | undefined),
    );
    const errors = sumOf(ignored);
    return isMostlyIgnored(errors, calls) ? [{ tool, errors, calls }] : [];
  });
};

const sumOf = (some: Iterable<Series>): number => [...some].reduce((sum, { value }) => sum + value, 0);

/** Whether an error with this digest is one of an unusable tool (O8). */
export const isUnusableWith = (box: Breakerbox, tool: string, digest: string): boolean => {
  const known = evidenceOf(box).unexplained.get(tool);
  return known?.isUnusable === true && known.text === digest;
};
