import type { Question } from './barrier.ts';

/** D2: the limits of the run, for all calls. */
export const runLimits: Question = {
  of: 'limits',
  ask: ({ run }, _asked, _mode, call, { ms }) => (call.run ?? run)?.limitObjection(ms)?.reason,
};
