import { expect, test, vi } from 'vitest';
import { type Watched, watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, asking, type Suite } from './contract-suite.ts';
import type { ToolBody } from './harness.ts';

/** The host of the URL that the model asks for. */
const hostOf = (input: unknown): string | undefined =>
  /^https:\/\/([^/]+)/.exec(`${(input as { q?: unknown }).q}`)?.[1];

const unknownHost = (host: string): Error =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
    hostname: host,
  });

const page = (host: string, page: number) => [ask(`https://${host}/${page}`)];

const charged = ({ session }: Watched): number => {
  const { limit, remaining } = session.view().budget;
  return limit - remaining;
};

/** Options of an adapter that say what a failure is, and what it blames. */
export const judging = ({ harness, run, testIf }: Suite): void => {
  testIf(['keys'], 'C14: a dead host is skipped for that host only, and no failure is charged', async () => {
    const watched = watchedSession();
    const search = vi.fn<ToolBody>(async ({ q }) => {
      if (hostOf({ q }) === 'dead.example') throw unknownHost('dead.example');
      return 'found';
    });
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      judging: { key: hostOf },
      script: [...[1, 2, 3, 4].map((at) => page('dead.example', at)), page('live.example', 1), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard[3]).toMatch(/'search' is unavailable/);
    expect(heard[4]).toContain('found');
    expect(search).toHaveBeenCalledTimes(4);
    expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip', 'search: call']);
    expect(watched.outcomes).toEqual([...Array(3).fill(expect.stringMatching(/^search: ignored/)), 'search: success']);
    expect(watched.session.peek('search')?.state).toBe('closed');
    expect(charged(watched)).toBe(0);
  });

  test('O7: a plain result that reports an outage opens the circuit if isFailure says so', async () => {
    const watched = watchedSession();
    const search = vi.fn(async () => 'status: down');
    const isFailure = (result: unknown) => JSON.stringify(result).includes('status: down') || undefined;
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      judging: { isFailure },
      script: [...asking(4), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard[3]).toMatch(/'search' is unavailable/);
    expect(search).toHaveBeenCalledTimes(3);
    expect(watched.outcomes).toEqual(Array(3).fill('search: failure, server'));
  });

  testIf(['inBandErrors'], 'O7: a returned error is a success if isFailure says so', async () => {
    const watched = watchedSession();
    const search = async () => harness.inBand('HTTP 503 Service Unavailable');
    const judging = { isFailure: () => false };
    await run({ session: watched.session, tools: { search }, judging, script: [...asking(4), 'Done.'] });
    expect(watched.outcomes).toEqual(Array(4).fill('search: success'));
  });

  test('O2: thrown business errors open no circuit', async () => {
    const watched = watchedSession();
    const search = vi.fn<ToolBody>(async ({ q }) => {
      throw new Error(`user not found: ${q}`);
    });
    const { text } = await run({ session: watched.session, tools: { search }, script: [...asking(5), 'Done.'] });
    expect(text).toBe('Done.');
    expect(search).toHaveBeenCalledTimes(5);
    expect(watched.decisions).toEqual(Array(5).fill('search: call'));
    expect(watched.outcomes).toEqual(Array(5).fill('search: ignored, tool_error'));
    expect(charged(watched)).toBe(0);
  });
};
