import { safely } from '../safely.ts';
import { warnOnce } from '../warnings/warnings.ts';

/** The folders where copies of this package in the process are installed. The key has no version: all releases share it. */
const HOMES = Symbol.for('@breakerbox/core:homes');
const globals = globalThis as { [HOMES]?: Set<string> };

let isNoticed = false;

/** Warns where the process has another installed copy of this package. Copies in bundles and in workspaces are not known. */
export const noticeCopy = (): void => {
  if (isNoticed) return;
  isNoticed = true;
  safely('looking for other copies of @breakerbox/core', () => {
    const home = homeIn(new Error().stack);
    if (home === undefined) return;
    globals[HOMES] ??= new Set();
    globals[HOMES].add(folderOf(home));
    if (globals[HOMES].size > 1) warnOfCopies([...globals[HOMES]]);
  });
};

/** The folder of the package in the first line of a stack. `import.meta` would give it too, but not in a bundle for CommonJS. */
export const homeIn = (stack = ''): string | undefined =>
  /^[^\n]*?([^\s(@]*\/node_modules\/(?:\S*?\/)?@breakerbox\/core)\//.exec(stack.replace(/^\w*Error[^\n]*\n/, ''))?.[1];

/** Bundlers and loaders give one installation several addresses, which differ before this. */
const folderOf = (home: string): string => home.slice(home.indexOf('/node_modules/') + 1);

const warnOfCopies = (folders: readonly string[]): void =>
  warnOnce(
    'BREAKERBOX_TWO_COPIES',
    '',
    () =>
      `This process has ${folders.length} copies of @breakerbox/core: ${folders.join(' and ')}. Copies of different releases export the same metrics twice, each with its own share, so the numbers are wrong. An error of one copy is not an instanceof a class of the other. Install one version: npm ls @breakerbox/core shows which package brings which, and npm dedupe often joins them.`,
  );
