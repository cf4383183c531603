import { readFile } from 'node:fs/promises';
import jsonc, { type JSONPath, type Node } from 'jsonc-parser';
import { backupsOf, type ConfigFile } from './config-file.ts';
import { changedLines } from './entry-change.ts';
import {
  type HttpServer,
  labelOf,
  propertiesOf,
  propertyOf,
  type RelayedServer,
  readServer,
  type ServerEntry,
  type StdioServer,
  serversIn,
  treeOf,
} from './server-entry.ts';
import { type Original, unwrapped } from './unwrap-entry.ts';
import { indentBefore, type Wrapping, wrapHttp, wrapStdio } from './wrap-entry.ts';

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

type Step = (
  source: string,
  entry: ServerEntry,
) => { readonly source: string } | { readonly unchanged: string } | { readonly left: string };

/** Puts the relay before each server of a file. */
export const planInstall = (file: ConfigFile, roots: Roots, wrapping: Wrapping, named: Named | undefined): FilePlan => {
  const wrap: Step = (source, entry) => {
    const server = readServer(entry);
    if (server.kind === 'left' || server.kind === 'unreadable') return { left: server.reason };
    if (server.kind === 'relayed') return { unchanged: 'it starts the relay already.' };
    if (server.kind === 'stdio' && wrapping.isWindows && isScript(server)) return { left: ON_WINDOWS };
    if (server.kind === 'stdio') return { source: jsonc.applyEdits(source, [...wrapStdio(source, server, wrapping)]) };
    if (named === undefined && mayLogIn(server)) return { left: MAY_LOG_IN };
    return { source: jsonc.applyEdits(source, [...wrapHttp(source, server, wrapping)]) };
  };
  // What a later uninstall would not recognize is not written.
  return plan(file, roots, named, wrap, (entry) => readServer(entry).kind === 'relayed');
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

/** @throws Error if the file is not JSON, or if a change would touch anything else */
const plan = (
  file: ConfigFile,
  roots: Roots,
  named: Named | undefined,
  step: Step,
  isDone: (entry: ServerEntry) => boolean = () => true,
): FilePlan => {
  const { tree, fault } = treeOf(file.source);
  if (fault) throw new Error(`${file.shown}: ${fault}. Fix it and try again. Nothing was changed.`);
  const servers = serversIn(tree, roots);
  const labels = servers.map(({ path }) => labelOf(path));
  const entries: EntryPlan[] = [];
  let { source } = file;
  // From the last to the first: the places of those before a change stay as they are.
  for (const entry of servers.filter(({ name }) => named?.(name) ?? true).toReversed()) {
    const { name, path } = entry;
    const label = labelOf(path);
    const isTwice = labels.indexOf(label) !== labels.lastIndexOf(label) || find(tree, path) !== entry.node;
    const made = isTwice ? { left: 'the file has it twice. Remove one of them.' } : step(source, entry);
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
