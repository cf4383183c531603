/** What the tests of a relay before HTTP servers do in each of its shapes. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CreateMessageRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, expect } from 'vitest';
import type { HttpServer } from './mcp-http-servers.ts';
import { PATIENT } from './mcp-relay-pipes.ts';

export const who = { name: 'relay-test', version: '0.0.0' };

export type Result = { content: { text: string }[]; isError?: boolean };
export type Call = (name: string, input?: object, options?: object) => Promise<Result>;

/** Undone after each test, the latest first. */
export const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

export const kept = async (server: Promise<HttpServer>): Promise<HttpServer> => {
  const started = await server;
  undo.push(() => started.stop());
  return started;
};

/** A dead backend behind a server that works. */
export const brokenTwelveTimes = async (call: Call): Promise<void> => {
  const texts: string[] = [];
  for (let n = 0; n < 12; n += 1) texts.push((await call('broken', { n })).content[0]?.text ?? '');
  expect(texts.filter((text) => text.includes('ECONNREFUSED'))).toHaveLength(3);
  expect(texts.at(-1)).toMatch(/^Tool 'broken' is unavailable: the last calls failed \(network\)/);
  expect((await call('echo', { text: 'still works' })).content[0]?.text).toBe('still works');
};

/** M2: progress, questions of the server, and messages that answer nothing. */
export const passesMessages = async (server: HttpServer, client: Client, call: Call): Promise<void> => {
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
  const content = { type: 'text' as const, text: 'from the client' };
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: 'm', role: 'assistant', content }));
  await expect.poll(() => server.seen.some(({ method }) => method === 'GET'), PATIENT).toBe(true);
  const progress: number[] = [];
  const onprogress = (one: { progress: number }) => progress.push(one.progress);
  expect((await call('progress', {}, { onprogress })).content[0]?.text).toBe('done');
  expect(progress).toEqual([1, 2, 3]);
  expect((await call('ask')).content[0]?.text).toContain('from the client');
  await call('log');
  await expect.poll(() => logged, PATIENT).toEqual(['by GET']);
};
