import { diag } from '@opentelemetry/api';
import { shortened, visible } from '../checks/names.ts';
import { reportThrown, safely } from '../safely.ts';

/** The warnings of the packages. docs/troubleshooting.md has a row for each. */
export const WARNING_CODES = [
  'BREAKERBOX_BUDGET_TOO_SMALL',
  'BREAKERBOX_TOOL_NAME',
  'BREAKERBOX_UNDECLARED_TOOL',
  'BREAKERBOX_FOREIGN_TOOL',
  'BREAKERBOX_NO_STEPS',
  'BREAKERBOX_NEVER_SETTLED',
  'BREAKERBOX_SETTLEMENT',
  'BREAKERBOX_SAME_SESSION',
  'BREAKERBOX_TWO_COPIES',
  'BREAKERBOX_NO_TELEMETRY',
  'BREAKERBOX_RESERVED_NAME',
  'BREAKERBOX_TOO_MANY_TOOLS',
  'BREAKERBOX_TOO_MANY_SERIES',
  'BREAKERBOX_TOO_MANY_AGENTS',
  'BREAKERBOX_AUDIT_NOT_SYNCED',
  'BREAKERBOX_OPEN_FOLDER',
  'BREAKERBOX_FOREIGN_ANSWER',
  'BREAKERBOX_MODEL_SESSION',
  'BREAKERBOX_MODEL_TIME_LIMIT',
  'BREAKERBOX_MODEL_RETRIES',
  'BREAKERBOX_OTHER_CURRENCY',
] as const;

export type WarningCode = (typeof WARNING_CODES)[number];

/** After this many subjects a code is silent, because names may be made up without end. */
const MOST_SUBJECTS = 20;

/** Characters of a warning. */
const LONGEST = 2_000;

const SAID = Symbol.for('@breakerbox/core:warnings');

/** The parts of Node's `process` in use. Browsers and edge platforms have neither. */
interface Host {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly emitWarning?: (text: string, options: { readonly type: string; readonly code: string }) => void;
}

/**
 * Warns of a mistake in the program, once per code and subject in the process. Uses `process.emitWarning`, which prints to stderr
 * without any telemetry, or OpenTelemetry's `diag` elsewhere. Silent while the environment has `BREAKERBOX_WARNINGS=off`.
 * Never throws (E5).
 *
 * @param subject what the mistake is about, such as the name of a tool. Names in subject and text may come from a model or a
 * server.
 * @param text is called only if the warning is given. Its lines become one.
 */
export const warnOnce = (code: WarningCode, subject: string, text: () => string): void => {
  try {
    const host = (globalThis as { readonly process?: Host }).process;
    if (host?.env?.BREAKERBOX_WARNINGS?.trim().toLowerCase() === 'off' || !isNew(code, shortened(subject))) return;
    const said = visible(shortened(text(), LONGEST));
    if (typeof host?.emitWarning === 'function') host.emitWarning(said, { type: 'BreakerboxWarning', code });
    else diag.warn(`Breakerbox: ${said} [${code}]`);
  } catch (error) {
    reportThrown(`the warning ${code}`, error);
  }
};

/** All copies of this package in the process share this memory. */
const isNew = (code: WarningCode, subject: string): boolean => {
  const globals = globalThis as { [SAID]?: Map<string, Set<string>> };
  globals[SAID] ??= new Map();
  const subjects = globals[SAID].get(code) ?? new Set();
  globals[SAID].set(code, subjects);
  if (subjects.size >= MOST_SUBJECTS || subjects.has(subject)) return false;
  subjects.add(subject);
  return true;
};

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
      `This process has ${folders.length} copies of @breakerbox/core: ${folders.join(' and ')}. Each copy exports only its own part of the metrics, so the numbers are wrong, and instanceof does not recognize errors of the other copy. Install one version: npm ls @breakerbox/core shows which package needs which version, and npm dedupe often removes the extra copy.`,
  );
