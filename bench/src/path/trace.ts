import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/** The functions of one file that ran, each as `name:line`. */
export interface TracedFile {
  readonly url: string;
  readonly functions: readonly string[];
}

/** Calls before the traced one. They do what is done only once. */
const WARM_UP_CALLS = 200;

/**
 * Counts calls with V8's precise coverage. Start it before the traced code is imported.
 *
 * @returns A function that traces the call that `prepare` returns, after a warm-up: the files with functions that ran during it.
 */
export const startTrace = async () => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async (prepare: () => Promise<() => Promise<unknown>>): Promise<readonly TracedFile[]> => {
    for (let done = 0; done < WARM_UP_CALLS; done += 1) await (await prepare())();
    const call = await prepare();
    await session.post('Profiler.takePreciseCoverage'); // Sets all counts to zero.
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url, functions }) => ({ url, functions: calledOf(url, functions) }))
      .filter(({ functions }) => functions.length > 0);
  };
};

interface Counted {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

const calledOf = (url: string, functions: readonly Counted[]): readonly string[] => {
  const called = functions.filter(({ ranges: [whole] }) => whole !== undefined && whole.count > 0);
  const text = called.length > 0 ? readFileSync(fileURLToPath(url), 'utf8') : '';
  return called.map(({ functionName, ranges: [whole] }) => {
    const line = text.slice(0, whole?.startOffset).split('\n').length;
    return `${functionName || 'anonymous'}:${line}`;
  });
};
