import { onOneLine } from '../plain-table.ts';
import { totalOf } from './rejections.ts';
import type { Decisions, ReplayReport } from './replay-report.ts';

const MAX_ROWS = 20;
const MAX_NAME = 80;

const number = (count: number): string => count.toLocaleString('en');

const calls = (count: number): string => `${number(count)} ${count === 1 ? 'call' : 'calls'}`;

/** D2: what the recording does not have, so that no limit of it is reached. */
export const missingText = (
  { steps, tokens, cost }: ReplayReport['recording'],
  { limits = {} }: ReplayReport['config'],
): readonly string[] =>
  Object.entries({ steps, tokens, cost })
    .filter(([kind, known]) => known === 0 && Object.hasOwn(limits, kind))
    .map(([kind]) => `The recording has no ${kind}, so the limit of ${kind} is never reached.`);

/** D2: the limits that would have been reached, and the calls that they would have paused. */
export const limitsText = ({ limits, limitsReached, rejected }: Decisions): string => {
  const { measured, modelled } = rejected.limit;
  const parts = {
    succeeded: measured.success + modelled.success,
    failed: measured.failure + modelled.failure,
    ignored: measured.ignored + modelled.ignored,
    'without a result': measured.unknown + modelled.unknown,
  };
  const paused = totalOf(measured) + totalOf(modelled);
  const words = Object.entries(parts).flatMap(([name, count]) => (count > 0 ? `${number(count)} ${name}` : []));
  const times = limitsReached === 1 ? 'One limit' : `${number(limitsReached)} limits`;
  return [
    `${times} would have been reached. ${paused === 0 ? 'No call would have been paused.' : `At most ${calls(paused)} would have been paused: ${words.join(', ')}. The numbers above do not include them.`}`,
    ...limits.slice(0, MAX_ROWS).map((limit) => `  ${rowOf(limit)}`),
    ...(limitsReached > MAX_ROWS ? [`  and ${number(limitsReached - MAX_ROWS)} more. --json lists up to 5,000.`] : []),
  ].join('\n');
};

const rowOf = ({
  at,
  session,
  limit,
  mode,
  afterCall,
  calls: all,
  pausedCalls,
}: Decisions['limits'][number]): string => {
  const name = onOneLine(session).slice(0, MAX_NAME);
  const place = `reached after call ${number(afterCall)} of ${number(all)}`;
  const effect = mode === 'pause' ? `${calls(pausedCalls)} would have been paused` : `the mode ${mode} pauses no call`;
  return `${at} ${name}: ${limit}: ${place}; ${effect}`;
};
