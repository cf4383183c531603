import type { ModelRun } from './model.ts';

export const newRun = (ms: number): ModelRun => ({
  ms,
  calls: 0,
  steps: 0,
  inStep: false,
  isBefore: undefined,
  tokens: 0,
  expected: [],
  reports: new Map(),
  levels: {},
});

export const copyOfRun = (run: ModelRun): ModelRun => ({ ...run, reports: new Map(run.reports) });
