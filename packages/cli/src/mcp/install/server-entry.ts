import jsonc, { type JSONPath, type Node } from 'jsonc-parser';
import { type RelayedWords, readRelay } from './relay-words.ts';

/** A server in a client's configuration. */
export interface ServerEntry {
  readonly name: string;
  readonly path: JSONPath;
  /** The object of the entry. */
  readonly node: Node;
}

export interface Property {
  readonly key: Node;
  readonly value: Node;
}

/** The entry of a server that speaks over standard input and output. */
export interface StdioServer {
  readonly kind: 'stdio';
  readonly command: Property;
  readonly args?: Property;
}

/** The entry of a server with an address. */
export interface HttpServer {
  readonly kind: 'http';
  readonly url: Property;
  readonly type?: Property;
  readonly headers?: Property;
}

/** An entry that starts the relay already. */
export interface RelayedServer {
  readonly kind: 'relayed';
  readonly command: Property;
  readonly args: Property;
  readonly relay: RelayedWords;
}

export type ReadServer =
  | StdioServer
  | HttpServer
  | RelayedServer
  /** The relay, with options that cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** An entry that is left as it is, with the reason. */
  | { readonly kind: 'left'; readonly reason: string };

/** The members of an object. Undefined if it is not an object. */
export const propertiesOf = (node: Node | undefined): readonly Property[] | undefined =>
  node?.type !== 'object'
    ? undefined
    : (node.children ?? []).flatMap(({ children: [key, value] = [] }) => (key && value ? [{ key, value }] : []));

/** The last member of this name, as parsers of JSON take it. */
export const propertyOf = (node: Node | undefined, name: string): Property | undefined =>
  propertiesOf(node)?.findLast(({ key }) => key.value === name);

/** All servers of a configuration, in the order of the file. */
export const serversIn = (tree: Node | undefined, roots: readonly (readonly string[])[]): readonly ServerEntry[] =>
  roots
    .flatMap((root) => descend([{ path: [], node: tree }], root))
    .flatMap(({ path, node }) =>
      (propertiesOf(node) ?? []).map(({ key, value }) => ({
        name: key.value,
        path: [...path, key.value],
        node: value,
      })),
    )
    .sort((one, other) => one.node.offset - other.node.offset);

interface Place {
  readonly path: JSONPath;
  readonly node: Node | undefined;
}

const descend = (places: readonly Place[], [step, ...rest]: readonly string[]): readonly Place[] => {
  if (step === undefined) return places;
  const next = places.flatMap(({ path, node }) =>
    (propertiesOf(node) ?? [])
      .filter(({ key }) => step === '*' || key.value === step)
      .map(({ key, value }) => ({ path: [...path, key.value], node: value })),
  );
  return descend(next, rest);
};

const left = (reason: string): ReadServer => ({ kind: 'left', reason });
const text = (property: Property | undefined): string | undefined =>
  property?.value.type === 'string' ? property.value.value : undefined;

/** Reads what kind of server an entry is. */
export const readServer = ({ node }: ServerEntry): ReadServer => {
  const members = propertiesOf(node);
  if (members === undefined) return left('it is not an object.');
  const names = members.map(({ key }) => key.value as string);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return left(`it has '${twice}' twice. Remove one of them.`);
  const command = propertyOf(node, 'command');
  const url = propertyOf(node, 'url');
  if (command && url) return left("it has both 'command' and 'url'. Remove one of them.");
  if (command) return readCommand(node, command);
  if (url) return readUrl(node, url);
  return left("it has neither 'command' nor 'url'.");
};

const readCommand = (node: Node, command: Property): ReadServer => {
  const args = propertyOf(node, 'args');
  const program = text(command);
  if (program === undefined || program === '') return left("its 'command' is not a string with a name.");
  const words = args === undefined ? [] : wordsOf(args.value);
  if (words === undefined) return left("its 'args' are not an array of strings.");
  const relay = readRelay([program, ...words]);
  if (relay === 'unreadable')
    return { kind: relay, reason: 'it starts the relay, but with options that this version does not know.' };
  if (relay && args) return { kind: 'relayed', command, args, relay };
  const type = text(propertyOf(node, 'type'));
  if (type !== undefined && type !== 'stdio') return left(`it has a 'command', but its 'type' is '${type}'.`);
  if (words.length === 0 && /^[^\s\\/]+\s/.test(program))
    return left("its 'command' is a whole command line. Write the program in 'command' and the rest in 'args'.");
  return { kind: 'stdio', command, ...(args && { args }) };
};

/** The strings of an array. Undefined if it is something else. */
export const wordsOf = (node: Node): readonly string[] | undefined =>
  node.type === 'array' && (node.children ?? []).every(({ type }) => type === 'string')
    ? (node.children ?? []).map(({ value }) => value)
    : undefined;

/** What the relay does not need to know of a server with an address, by member. */
const NEEDS_CLIENT: Readonly<Record<string, string>> = {
  oauth: 'it logs in by OAuth, and only the client itself can do that.',
  auth: 'it logs in by OAuth, and only the client itself can do that.',
  headersHelper: 'a program of the client makes its headers (headersHelper), and the relay cannot run it.',
  env: "it has both 'url' and 'env'. Remove 'env', which clients do not read beside 'url'.",
};

export const USES_SSE = 'it uses the SSE transport. The relay speaks streamable HTTP only.';

/** Addresses of SSE servers say so in a part of their path. Of `type: http`, VS Code tries SSE too. */
const hasSsePath = (address: string): boolean => new URL(address).pathname.toLowerCase().split('/').includes('sse');

/** Whether a `url` without a `type` means SSE in this file, as it does for Gemini CLI and Cline. */
export const meansSse = (path: string): boolean =>
  /(?:^|[\\/])(?:\.gemini[\\/]settings|cline_mcp_settings)\.json$/.test(path);

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp'];

const readUrl = (node: Node, url: Property): ReadServer => {
  const address = text(url);
  const type = propertyOf(node, 'type');
  const headers = propertyOf(node, 'headers');
  const named = type === undefined ? 'http' : (text(type) ?? '');
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address))
    return left("its 'url' is not an http(s) address.");
  if (named === 'sse' || (named === 'http' && hasSsePath(address))) return left(USES_SSE);
  if (!HTTP_TYPES.includes(named)) return left(`the relay does not speak its transport, '${named}'.`);
  for (const [member, reason] of Object.entries(NEEDS_CLIENT)) if (propertyOf(node, member)) return left(reason);
  if (propertyOf(node, 'args')) return left("it has both 'url' and 'args'. Remove 'args'.");
  const { username, password } = new URL(address);
  if (username + password !== '') return left("its 'url' has a user name or a password. Move them into a header.");
  const fault = headers && faultInHeaders(headers.value);
  if (fault) return left(fault);
  return { kind: 'http', url, ...(type && { type }), ...(headers && { headers }) };
};

const faultInHeaders = (node: Node): string | undefined => {
  const members = propertiesOf(node);
  if (members === undefined) return "its 'headers' are not an object.";
  const wrong = members.find(({ key, value }) => !/^[\w!#$%&'*+.^`|~-]+$/.test(key.value) || value.type !== 'string');
  return wrong && `its header '${wrong.key.value}' is not a name with a string.`;
};

/** `mcpServers.files`; keys that are no names in brackets. */
export const labelOf = (path: JSONPath): string =>
  path
    .map((key, index) =>
      /^[\w@/-]+$/.test(`${key}`) && !`${key}`.startsWith('/')
        ? `${index > 0 ? '.' : ''}${key}`
        : `[${JSON.stringify(key)}]`,
    )
    .join('');

/** Parses a configuration with comments. */
export const treeOf = (source: string): { readonly tree: Node | undefined; readonly fault?: string } => {
  const errors: jsonc.ParseError[] = [];
  const tree = jsonc.parseTree(source, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error)
    return { tree, fault: `${placeOf(source, error.offset)}: ${sayError(jsonc.printParseErrorCode(error.error))}` };
  return tree?.type === 'object' ? { tree } : { tree, fault: 'the file is not a JSON object' };
};

/** `InvalidSymbol` as `invalid symbol`. */
const sayError = (code: string): string => code.replaceAll(/\B([A-Z])/g, ' $1').toLowerCase();

/** Line and column from 1. */
const placeOf = (source: string, offset: number): string => {
  const before = source.slice(0, offset).split(/\r\n|\r|\n/);
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};
