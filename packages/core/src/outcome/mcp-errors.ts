import type { CodeMeaning } from './node-errors.ts';

/**
 * Codes of MCP's protocol errors, which are JSON-RPC's (`McpError` of SDK 1, `ProtocolError` of SDK 2).
 * Servers use -32000, -32001 and -32603 for whatever they like, and the client SDKs report a caller's abort as a
 * time-out whose text begins with 'AbortError': the message is asked first.
 */
const PROTOCOL: ReadonlyMap<number, CodeMeaning> = new Map<number, CodeMeaning>([
  [-32000, { category: 'network', vague: true }], // connection closed
  [-32001, { category: 'timeout', vague: true }], // request timed out
  [-32002, { category: 'tool_error' }], // resource not found
  [-32042, { category: 'permission' }], // a person has to sign in by a URL first
  [-32600, { category: 'invalid_input' }], // invalid request
  [-32601, { category: 'invalid_input' }], // method, or tool, not found
  [-32602, { category: 'invalid_input' }], // invalid params
  [-32603, { category: 'server', vague: true }], // internal error
  [-32700, { category: 'server' }], // what came was not JSON
  [-32800, { category: 'cancelled' }], // request cancelled
]);

/** Codes of `SdkError` (SDK 2): what went wrong on our side of the wire. HTTP errors say their status as well. */
const CLIENT: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ['NOT_CONNECTED', { category: 'network' }],
  ['CONNECTION_CLOSED', { category: 'network' }],
  ['SEND_FAILED', { category: 'network' }],
  ['REQUEST_TIMEOUT', { category: 'timeout', vague: true }],
  ['INVALID_RESULT', { category: 'server' }],
  ['UNSUPPORTED_RESULT_TYPE', { category: 'server' }],
  ['CLIENT_HTTP_UNEXPECTED_CONTENT', { category: 'server' }],
]);

/**
 * What the SDKs say, with the code of bad arguments, where a tool breaks its own output schema. It is the server's
 * fault. Only at the beginning of a text: what follows may quote the arguments.
 */
export const OUTPUT_REFUSED =
  /^(?:MCP error -32\d{3}: )?(?:Output validation error: |Structured content does not match the tool's output schema|Tool [^\n:]{1,128} has an output schema but )/;

/** What a JSON-RPC code means; undefined for any number that is none of its own. */
export function protocolCode(code: number): CodeMeaning | undefined {
  const known = PROTOCOL.get(code);
  if (known) return known;
  return Number.isInteger(code) && code >= -32099 && code <= -32000 ? { category: 'server', vague: true } : undefined;
}

/** What a code of the MCP client itself means. */
export function mcpClientCode(code: string): CodeMeaning | undefined {
  return CLIENT.get(code);
}
