import type { ToolConfig } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guard } from './index.ts';
import { read, startServer, type TestServer } from './test-support/http-server.ts';
import { rejectionOf } from './test-support/rejection.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { type Watched, watchedSession } from './test-support/watched-session.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});

afterEach(async () => {
  stopTracing();
  await server.stop();
});

/** A tool that fetches a page of the server. */
const page = ({ session }: Watched, tool: string) =>
  guard(session, tool, (path: string, { signal }) => read(server.url(path), signal));

const STALE = 'stale: retrieved 1970-01-01 00:00:00 UTC';

describe('F2: an open circuit answers with the last good result', () => {
  const stale = (more: ToolConfig = {}) =>
    watchedSession({ tools: { pages: { failureThreshold: 1, serveStaleMs: 60_000, ...more } } });

  test('F2: for the same arguments, labelled stale; the server is not called', async () => {
    const watched = stale();
    const pages = page(watched, 'pages');
    server.answer('/a', 200, 'good');
    expect(await pages('/a')).toBe('good');
    server.answer('/a', 503);
    await expect(pages('/a')).rejects.toThrow('HTTP 503');

    expect(await pages('/a')).toBe(`[${STALE}]\ngood`);

    expect(await rejectionOf(pages('/b'))).toMatchObject({ route: { kind: 'defer' } });
    expect(watched.decisions).toEqual(['pages: call', 'pages: call', 'pages: skip', 'pages: skip']);
  });

  test('F2: for a call without arguments', async () => {
    const { session } = stale();
    let works = true;
    const pages = guard(session, 'pages', async (_?: undefined) => {
      if (!works) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      return { celsius: 4 };
    });
    const good = await pages(undefined);
    works = false;
    await expect(pages(undefined)).rejects.toThrow('refused');
    expect(await pages(undefined)).toEqual({ celsius: 4, freshness: STALE });
    expect(good).toEqual({ celsius: 4 });
  });

  test('F2: with one span, of the skip', async () => {
    const traced = startTracing();
    const pages = page(stale(), 'pages');
    await pages('/a');
    server.answer('/a', 503);
    await expect(pages('/a')).rejects.toThrow();
    await pages('/a');
    expect(traced.paths()).toEqual(['execute_tool pages', 'execute_tool pages', 'breakerbox.skip pages']);
    expect(traced.attributes('breakerbox.skip pages')[0]).toMatchObject({ 'breakerbox.route': 'stale' });
  });
});
