import { count, type Ended, type Model, type ModelPermit } from './model.ts';

/** D5: the last 3, 6, 9 or 12 calls are 1, 2, 3 or 4 calls three times over. */
export const noteCircle = (model: Model, permit: ModelPermit, ended: Ended): void => {
  const { loopGuard } = model.config;
  const { session, tool, input } = permit;
  if (loopGuard === false || loopGuard?.circles !== true) return;
  const result = ended.outcome === 'success' ? ended.result : ended.category;
  session.latest = input === undefined ? [] : [...session.latest, [tool, input, ended.outcome, result].join()];
  const turn = [1, 2, 3, 4]
    .filter((calls) => session.latest.length >= 3 * calls)
    .map((calls) => session.latest.slice(-calls))
    .find((calls) => session.latest.slice(-3 * calls.length).join() === [calls, calls, calls].flat().join());
  if (turn === undefined || ended.outcome !== 'success') return;
  const circle = [...turn].sort().join();
  if (session.circles.includes(circle)) return;
  session.circles = [...session.circles, circle];
  permit.circle = true;
  count(model, 'circles');
};
