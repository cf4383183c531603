import { onOneLine, plainTable } from '../plain-table.ts';
import type { ReplayReport } from './replay-report.ts';

const MAX_ROWS = 20;
const MAX_NAME = 80;

type Models = NonNullable<ReplayReport['models']>;

const span = (ms: number): string => (ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

const short = (name: string): string => onOneLine(name).slice(0, MAX_NAME);

/** L2, L5: what circuits and failover of models would have done. */
export const modelsText = ({ models, openings, leftOut }: Models, columns: number): readonly string[] => {
  const header = [
    'model',
    'calls',
    'failed',
    'opened',
    'open for',
    'next after a failure',
    'next at once',
    'good calls moved',
  ];
  const rows = models
    .slice(0, MAX_ROWS)
    .map(({ model, calls, skipped, ...of }) => [
      short(model),
      `${calls.success + calls.failure + calls.ignored}`,
      `${calls.failure}`,
      `${of.openings}`,
      span(of.openMs),
      `${of.failedOver}`,
      `${skipped.failure}`,
      `${skipped.success}`,
    ]);
  const more = models.length > MAX_ROWS ? [`  and ${models.length - MAX_ROWS} more. --json lists all.`] : [];
  const left = leftOut > 0 ? [`${leftOut.toLocaleString('en')} later calls of models are left out.`] : [];
  return [
    [plainTable([header, ...rows], columns), ...more, ...left].join('\n'),
    [
      'Models, as guardModels() would have called them with another model behind each. Their circuits are those of the process, in any scope.',
      'Next after a failure: failed calls after which the next model would have been asked. Next at once: failed calls that would not have been made.',
      'Good calls moved: calls that had succeeded, and that the next model would have answered.',
    ].join('\n'),
    ...(openings.length > 0 ? [openingsText(openings, columns)] : []),
  ];
};

const openingsText = (openings: Models['openings'], columns: number): string => {
  const header = ['opened at', 'circuit', 'error', 'open for'];
  const rows = openings
    .slice(0, MAX_ROWS)
    .map(({ from, to, circuit, category }) => [
      from,
      short(circuit),
      category ?? '',
      to === undefined ? 'to the end' : span(Date.parse(to) - Date.parse(from)),
    ]);
  const more =
    openings.length > MAX_ROWS ? [`  and ${openings.length - MAX_ROWS} more. --json lists up to 5,000.`] : [];
  return [plainTable([header, ...rows], columns), ...more].join('\n');
};
