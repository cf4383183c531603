import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import jsonc, { type JSONPath, type Node } from 'jsonc-parser';
import { backupsOf, type ConfigFile } from './config-file.ts';
import { changedLines } from './entry-change.ts';
import { faultInRelay, type GivenOptions, optionsFor } from './relay-words.ts';
import {
  type HttpServer,
  labelOf,
  meansSse,
  propertiesOf,
  propertyOf,
  type ReadServer,
  type RelayedServer,
  readServer,
  type ServerEntry,
  type StdioServer,
  serversIn,
  treeOf,
  USES_SSE,
} from './server-entry.ts';
import { type Original, unwrapped } from './unwrap-entry.ts';
import { indentBefore, rewrap, type Wrapping, wrapHttp, wrapStdio } from './wrap-entry.ts';

export type Roots = readonly (readonly string[])[];

/** What happens to a server's entry. */
export interface EntryPlan {
  readonly name: string;
  readonly label: string;
  /** `unchanged`: there is nothing to do. `left`: it cannot be changed. */
  readonly result: 'changed' | 'unchanged' | 'left';
  readonly reason?: string;
  readonly lines: readonly string[];
}

/** What happens to a file. */
export interface FilePlan {
  readonly file: ConfigFile;
  readonly entries: readonly EntryPlan[];
  /** The new text. */
  readonly source: string;
  /** Whether an entry starts the relay afterwards. */
  readonly hasRelay: boolean;
}

/** Which servers the person has named. */
export type Named = (name: string) => boolean;

type Stepped = { readonly source: string } | { readonly unchanged: string } | { readonly left: string };
type Step = (source: string, entry: ServerEntry) => Stepped | Promise<Stepped>;

/** How `install` puts the relay before servers. */
export interface Installing {
  /** The words that start the relay, in the place of those that an entry may have already. */
  launcherFor(present: readonly string[] | undefined): Promise<readonly string[]>;
  readonly options: GivenOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly isWindows: boolean;
}

/** Puts the relay before each server of a file. @throws Error if the relay cannot start a server with the options of the person */
export const planInstall = (
  file: ConfigFile,
  roots: Roots,
  installing: Installing,
  named: Named | undefined,
): Promise<FilePlan> => {
  const wrap = async (source: string, entry: ServerEntry): Promise<Stepped> => {
    const server = readServer(entry);
    if (server.kind === 'left' || server.kind === 'unreadable') return { left: server.reason };
    if (server.kind === 'stdio' && installing.isWindows && isScript(server)) return { left: ON_WINDOWS };
    if (server.kind === 'http' && server.type === undefined && meansSse(file.path)) return { left: USES_SSE };
    if (server.kind === 'http' && named === undefined && mayLogIn(server)) return { left: MAY_LOG_IN };
    const wrapping = await wrappingFor(server, installing);
    if (server.kind === 'relayed' && isWrapped(server, wrapping)) return { unchanged: 'it starts the relay already.' };
    return { source: jsonc.applyEdits(source, [...wrapped(source, server, wrapping)]) };
  };
  const checked: Step = async (source, entry) => {
    const made = await wrap(source, entry);
    if (!('source' in made)) return made;
    const isGiven = installing.options.words.length > 0;
    // Options that an entry had before may use variables which only the client has.
    if (!isGiven && readServer(entry).kind === 'relayed') return made;
    const fault = await faultInEntry(entryIn(made.source, source, entry), installing.env);
    if (fault === undefined) return made;
    if (!isGiven) return { left: `the relay cannot start it: ${fault}` };
    throw new Error(
      `${labelOf(entry.path)}: the relay cannot start it with these options: ${fault} Correct them, or give --server with the servers that they are for. Nothing was changed.`,
    );
  };
  // What a later uninstall would not recognize is not written.
  return plan(file, roots, named, checked, (entry) => readServer(entry).kind === 'relayed');
};

const wrappingFor = async (server: ReadServer, { launcherFor, options }: Installing): Promise<Wrapping> => {
  const relay = server.kind === 'relayed' ? server.relay : undefined;
  const isHttp = relay?.isHttp ?? server.kind === 'http';
  return { launcher: await launcherFor(relay?.launcher), options: optionsFor(options, isHttp, relay) };
};

const wrapped = (source: string, server: StdioServer | HttpServer | RelayedServer, wrapping: Wrapping) => {
  switch (server.kind) {
    case 'relayed':
      return rewrap(source, server, wrapping);
    case 'stdio':
      return wrapStdio(source, server, wrapping);
    case 'http':
      return wrapHttp(source, server, wrapping);
  }
};

const isWrapped = ({ relay }: RelayedServer, { launcher, options }: Wrapping): boolean =>
  isDeepStrictEqual([relay.launcher, relay.options], [launcher, options]);

/** An entry as a change has made it. Only its own text is parsed, because a file may be large. */
const entryIn = (made: string, before: string, { node: { offset, length }, ...entry }: ServerEntry): ServerEntry => {
  const { tree: node } = treeOf(made.slice(offset, offset + length + made.length - before.length));
  if (node === undefined) throw unsafe(labelOf(entry.path));
  return { ...entry, node };
};

/** The relay gets the variables of the entry too. */
const faultInEntry = async (entry: ServerEntry, env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  const server = readServer(entry);
  if (server.kind !== 'relayed') return undefined; // The last look at the file says so.
  const own = (propertiesOf(propertyOf(entry.node, 'env')?.value) ?? []).map(({ key, value }) => [
    key.value,
    value.value,
  ]);
  // The file that BREAKERBOX_CONFIG names is no option.
  return faultInRelay(server.relay, { ...env, ...Object.fromEntries(own), BREAKERBOX_CONFIG: undefined });
};

/** There, only a shell can start the scripts that npm installs, and the relay starts programs without a shell. */
const isScript = ({ command }: StdioServer): boolean =>
  /^(?:npx|npm|pnpm|pnpx|yarn|bunx)$|\.(?:cmd|bat|ps1)$/i.test(command.value.value);

const ON_WINDOWS =
  "its command is a script. Write 'cmd' as the command, and '/c' and the script before its arguments. Then install again.";

const MAY_LOG_IN =
  'it has no headers, so the client may log in by OAuth, which works without the relay only. If it needs no login, name it with --server.';

const mayLogIn = ({ url, headers }: HttpServer): boolean =>
  headers === undefined && !/^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/i.test(url.value.value);

/** Takes the relay away from each server of a file. */
export const planUninstall = async (
  file: ConfigFile,
  roots: Roots,
  named: Named | undefined,
  needsType: boolean,
): Promise<FilePlan> => {
  const backups = await Promise.all((await backupsOf(file)).map((path) => readFile(path, 'utf8').catch(() => '{}')));
  const kept = backups.map((source) => {
    const plain = source.replace(/^\uFEFF/, '');
    return { source: plain, tree: treeOf(plain).tree };
  });
  const originalOf = (path: JSONPath, kind: 'http' | 'stdio'): Original | undefined => {
    for (const { source, tree } of kept) {
      const node = tree && jsonc.findNodeAtLocation(tree, path);
      if (node && readServer({ name: '', path, node }).kind === kind) return { source, node };
    }
    return undefined;
  };
  return plan(file, roots, named, (source, entry) => {
    const server = readServer(entry);
    if (server.kind === 'unreadable') return { left: server.reason };
    if (server.kind !== 'relayed') return { unchanged: 'it does not start the relay.' };
    const elsewhere = headerFromElsewhere(entry, server);
    if (elsewhere !== undefined) return { left: elsewhere };
    const original = originalOf(entry.path, server.relay.isHttp ? 'http' : 'stdio');
    return { source: unwrapped(source, entry, server, { original, needsType }) };
  });
};

/** A header whose value is not in the entry, because someone has set its variable elsewhere. */
const headerFromElsewhere = ({ node }: ServerEntry, { relay }: RelayedServer): string | undefined => {
  const set = propertiesOf(propertyOf(node, 'env')?.value)?.map(({ key }) => key.value) ?? [];
  const [variable, header] = [...relay.headers].find(([one]) => !set.includes(one)) ?? [];
  if (header === undefined) return undefined;
  return `its header '${header}' comes from the variable ${variable}, which the entry does not set. Write its 'url' and 'headers' by hand.`;
};

/** Servers of a file. Each change takes time in proportion to the whole file. */
const MOST_SERVERS = 500;

/** @throws Error if the file is not JSON, or if a change would touch anything else */
const plan = async (
  file: ConfigFile,
  roots: Roots,
  named: Named | undefined,
  step: Step,
  isDone: (entry: ServerEntry) => boolean = () => true,
): Promise<FilePlan> => {
  const { tree, fault } = treeOf(file.source);
  if (fault) throw new Error(`${file.shown}: ${fault}. Fix it and try again. Nothing was changed.`);
  const servers = serversIn(tree, roots);
  const wanted = servers.filter(({ name }) => named?.(name) ?? true);
  if (wanted.length > MOST_SERVERS)
    throw new Error(
      `${file.shown} has ${wanted.length} servers, and at most ${MOST_SERVERS} can be changed at once. Name some of them with --server. Nothing was changed.`,
    );
  const counts = new Map<string, number>();
  for (const label of servers.map(({ path }) => labelOf(path))) counts.set(label, (counts.get(label) ?? 0) + 1);
  const entries: EntryPlan[] = [];
  let { source } = file;
  // From the last to the first: the places of those before a change stay as they are.
  for (const entry of wanted.toReversed()) {
    const { name, path } = entry;
    const label = labelOf(path);
    const isTwice = counts.get(label) !== 1 || find(tree, path) !== entry.node;
    const made = isTwice ? { left: 'the file has it twice. Remove one of them.' } : await step(source, entry);
    if ('left' in made) entries.push({ name, label, result: 'left', reason: made.left, lines: [] });
    else if ('unchanged' in made) entries.push({ name, label, result: 'unchanged', reason: made.unchanged, lines: [] });
    else {
      entries.push({ name, label, result: 'changed', lines: linesOf(label, source, entry.node, made.source) });
      source = made.source;
    }
  }
  const after = treeOf(source);
  if (after.fault) throw unsafe(file.shown);
  const all = serversIn(after.tree, roots);
  const changed = new Set(entries.filter(({ result }) => result === 'changed').map(({ label }) => label));
  const undone = all.find((entry) => changed.has(labelOf(entry.path)) && !isDone(entry));
  if (undone) throw unsafe(labelOf(undone.path));
  return { file, entries: entries.toReversed(), source, hasRelay: all.some(hasRelayIn) };
};

const find = (tree: Node | undefined, path: JSONPath): Node | undefined => tree && jsonc.findNodeAtLocation(tree, path);

const hasRelayIn = (entry: ServerEntry): boolean => ['relayed', 'unreadable'].includes(readServer(entry).kind);

/** The changed lines of an entry. It is a last look too: all but the entry is as it was. */
const linesOf = (label: string, before: string, node: Node, after: string): readonly string[] => {
  const { offset, length } = node;
  const rest = before.length - offset - length;
  const [start, end] = [before.slice(0, offset), before.slice(offset + length)];
  if (!after.startsWith(start) || !after.endsWith(end)) throw unsafe(label);
  const keyAt = node.parent?.offset ?? offset;
  const head = `${indentBefore(before, keyAt) ?? ''}${before.slice(keyAt, offset)}`;
  return changedLines(head, before.slice(offset, offset + length), after.slice(offset, after.length - rest));
};

const unsafe = (what: string): Error =>
  new Error(`${what} cannot be changed safely. Nothing was changed. Please report this with the entry.`);
