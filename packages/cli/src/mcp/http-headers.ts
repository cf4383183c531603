import { isObject, read, readText } from '@breakerbox/core/internal';
import { STATELESS } from './rejected-call.ts';
import type { RpcMessage } from './rpc-message.ts';

/** The member of `params` that `Mcp-Name` repeats, by method (SEP-2243, SEP-2663). */
const NAMES = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Characters of a name that are sent. Servers take some kilobytes of headers. */
const MOST_NAME = 8_000;

/** The revision of a request of the stateless protocol (from 2026-07-28). Undefined in the session protocol. */
export const statelessVersion = ({ method, params }: RpcMessage): string | undefined =>
  method === undefined ? undefined : readText(read(params, '_meta'), STATELESS, MOST_NAME);

/** The headers of a request of the stateless protocol, which repeat parts of the message for those who do not read it. */
export const statelessHeaders = (
  { method = '', params }: RpcMessage,
  version: string,
  declared: readonly DeclaredHeader[] = [],
): Record<string, string> => {
  const name = readText(params, NAMES.get(method) ?? '', MOST_NAME);
  const headers: Record<string, string> = { 'mcp-protocol-version': encoded(version), 'mcp-method': encoded(method) };
  if (name !== undefined) headers['mcp-name'] = encoded(name);
  for (const { name: header, path } of declared) {
    const value = textOf(path.reduce<unknown>((node, key) => read(node, key), read(params, 'arguments')));
    if (value !== undefined) headers[`mcp-param-${header}`] = encoded(value);
  }
  return headers;
};

/** An argument that a tool wants to have as the header `Mcp-Param-…` too. */
export interface DeclaredHeader {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: unknown;
}

/** How deep a schema is searched, and how many headers a tool may have. */
const MOST_DEPTH = 16;
const MOST_HEADERS = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/**
 * The headers that the schema of a tool's input declares by `x-mcp-header`. Undefined if one of them is not valid: clients may not call such
 * a tool over HTTP (SEP-2243).
 */
export const declaredHeaders = (schema: unknown): readonly DeclaredHeader[] | undefined => {
  const found = declarationsIn(schema, []).slice(0, MOST_HEADERS);
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  const isValid = names.size === found.length && found.every(({ name, type }) => TOKEN.test(name) && TYPES.has(type));
  return isValid ? found : undefined;
};

/** Keywords with schemas in them: one, a list, or in {@link MAPS} one for each name. A header may not be declared there (SEP-2243). */
const ELSEWHERE =
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames oneOf anyOf allOf not if then else'.split(
    ' ',
  );
const MAPS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** @param isProperty Whether the schema is that of a property, or of one in it. A declaration elsewhere gets no name, so it is not valid. */
const declarationsIn = (schema: unknown, path: readonly string[], isProperty = true): readonly DeclaredHeader[] => {
  if (!isObject(schema) || path.length > MOST_DEPTH) return [];
  const name = read(schema, 'x-mcp-header');
  const isNamed = typeof name === 'string' && isProperty && path.length > 0;
  const own = { name: isNamed ? name : '', path, type: read(schema, 'type') };
  const properties = read(schema, 'properties');
  const others = [...ELSEWHERE.map((key) => read(schema, key)), ...MAPS.map((key) => valuesOf(read(schema, key)))];
  return [
    ...(name === undefined ? [] : [own]),
    ...(isObject(properties) ? Object.entries(properties) : []).flatMap(([key, child]) =>
      declarationsIn(child, [...path, key], isProperty),
    ),
    ...others.flat().flatMap((child) => declarationsIn(child, [...path, ''], false)),
  ];
};

const valuesOf = (map: unknown): readonly unknown[] => (isObject(map) ? Object.values(map) : []);

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string' || typeof value === 'boolean') return `${value}`;
  return typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? `${value}`
    : undefined;
};

/** A value as a header: in Base64 where plain text would change or is not allowed. */
const encoded = (value: string): string => {
  const isPlain = /^[\t\x20-\x7e]+$/.test(value) && value === value.trim() && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
};
