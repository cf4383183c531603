import jsonc, { type Edit, type JSONPath, type Node } from 'jsonc-parser';
import { type Property, propertiesOf, propertyOf, type RelayedServer, type ServerEntry } from './server-entry.ts';
import { rawOf } from './wrap-entry.ts';

/** The entry as a backup has it. It says what the wrapped entry cannot: an empty `args`, the exact `type`. */
export interface Original {
  readonly source: string;
  readonly node: Node;
}

/** What says how a server was before the relay was put before it. */
export interface Before {
  readonly original?: Original | undefined;
  /** Whether the client wants a `type` beside an address. */
  readonly needsType: boolean;
}

/** The source with one server as it was before the relay was put before it. */
export const unwrapped = (source: string, entry: ServerEntry, server: RelayedServer, before: Before): string =>
  server.relay.isHttp
    ? withPlainHeaders(unwrapHttp(source, entry, server, before), entry, server)
    : unwrapStdio(source, entry, server, before.original);

const unwrapStdio = (
  source: string,
  { path }: ServerEntry,
  { command, args, relay }: RelayedServer,
  original?: Original,
): string => {
  const elements = args.value.children ?? [];
  const kept = relay.target.length - 1;
  const own = elements[elements.length - kept - 1];
  const [first] = elements;
  if (!own || !first) return source;
  const restored: Edit = { ...spanOf(command.value), content: rawOf(source, own) };
  const following = elements[elements.length - kept];
  if (following) {
    const cut = { offset: first.offset, length: following.offset - first.offset, content: '' };
    return jsonc.applyEdits(source, [restored, cut]);
  }
  const before = propertyOf(original?.node, 'args');
  if (original && before) {
    // White space and comments in the brackets stay only if they are those of the backup: a client has not laid the file out again.
    const around = source.slice(args.value.offset, first.offset) + source.slice(endOf(own), endOf(args.value));
    const content = around === rawOf(original.source, before.value) ? around : '[]';
    return jsonc.applyEdits(source, [restored, { ...spanOf(args.value), content }]);
  }
  return withoutArgs(source, path, command, args, restored);
};

/** Removes `args` too. Where it follows `command`, the text between them goes with it, as it came. */
const withoutArgs = (
  source: string,
  path: JSONPath,
  command: Property,
  args: Property,
  restored: Edit,
  more: readonly Edit[] = [],
): string => {
  const from = endOf(command.value);
  const between = source.slice(from, args.key.offset);
  const edits = [restored, ...more];
  if (!/^,\s*$/.test(between)) return removeMember(jsonc.applyEdits(source, edits), [...path, 'args']);
  return jsonc.applyEdits(source, [...edits, { offset: from, length: endOf(args.value) - from, content: '' }]);
};

const unwrapHttp = (
  source: string,
  { path, node }: ServerEntry,
  { relay }: RelayedServer,
  { original, needsType }: Before,
): string => {
  const members = propertiesOf(propertyOf(node, 'env')?.value) ?? [];
  const isMixed = members.some(({ key }) => !relay.headers.has(key.value));
  const sorted = isMixed ? withOwnHeaders(source, path, members, relay.headers) : source;
  const [command, args, type, env] = ['command', 'args', 'type', 'env'].map((name) =>
    propertyOf(find(sorted, path), name),
  );
  const address = args?.value.children?.at(-1);
  if (!command || !args || !address) return source;
  const isOfHeaders = !isMixed && (members.length > 0 || propertyOf(original?.node, 'headers') !== undefined);
  const renamed = isOfHeaders && env ? { ...spanOf(env.key), content: '"headers"' } : undefined;
  const names = renamed ? (propertiesOf(env?.value) ?? []) : [];
  const withHeaders = [
    { ...spanOf(command.key), content: !type && !original && needsType ? '"type": "http", "url"' : '"url"' },
    ...(type ? [{ ...spanOf(type.value), content: originalType(original) }] : []),
    ...(renamed ? [renamed] : []),
    ...names.map(({ key }) => ({ ...spanOf(key), content: headerKey(relay.headers.get(key.value) ?? '', original) })),
  ];
  const restored = { ...spanOf(command.value), content: rawOf(sorted, address) };
  return withoutArgs(sorted, path, command, args, restored, withHeaders);
};

/** Headers that someone has written on the command line, which `install` does not do. */
const withPlainHeaders = (source: string, { path }: ServerEntry, { relay }: RelayedServer): string => {
  const given = new Set([...relay.headers.values()].map((name) => name.toLowerCase())); // They win in the relay.
  return [...relay.plainHeaders]
    .filter(([name]) => !given.has(name.toLowerCase()))
    .reduce((changed, [name, value]) => set(changed, [...path, 'headers', name], value), source);
};

/** Where someone has added variables, the headers become a member of their own again. */
const withOwnHeaders = (
  source: string,
  path: JSONPath,
  members: readonly Property[],
  headers: ReadonlyMap<string, string>,
): string => {
  let changed = source;
  for (const { key, value } of members) {
    const header = headers.get(key.value);
    if (header === undefined) continue;
    changed = removeMember(changed, [...path, 'env', key.value]);
    changed = set(changed, [...path, 'headers', header], value.value);
  }
  return changed;
};

const originalType = (original: Original | undefined): string => {
  const type = propertyOf(original?.node, 'type');
  return original && type ? rawOf(original.source, type.value) : '"http"';
};

/** The literal of a header's name. */
const headerKey = (name: string, original: Original | undefined): string => {
  const key = propertyOf(propertyOf(original?.node, 'headers')?.value, name)?.key;
  return original && key ? rawOf(original.source, key) : JSON.stringify(name);
};

const find = (source: string, path: JSONPath): Node | undefined => {
  const tree = jsonc.parseTree(source, [], { allowTrailingComma: true });
  return tree && jsonc.findNodeAtLocation(tree, path);
};

const spanOf = ({ offset, length }: Node) => ({ offset, length });
const endOf = ({ offset, length }: Node): number => offset + length;

const removeMember = (source: string, path: JSONPath): string => set(source, path, undefined);

/** In an entry of one line, the parser's layout would change the lines around it too. */
const set = (source: string, path: JSONPath, value: unknown): string => {
  const around = find(source, path.slice(0, -1)) ?? find(source, path.slice(0, -2));
  const isOneLine = around !== undefined && !/[\r\n]/.test(rawOf(source, around));
  const options = isOneLine ? {} : { formattingOptions: layoutOf(source) };
  return jsonc.applyEdits(source, jsonc.modify(source, path, value, options));
};

/** The indentation and the line ends of a file. */
const layoutOf = (source: string): jsonc.FormattingOptions => {
  const [, eol = '\n', indent = '  '] = /(\r\n|\n|\r)([\t ]+)/.exec(source) ?? [];
  return { eol, insertSpaces: !indent.startsWith('\t'), tabSize: indent.length };
};
