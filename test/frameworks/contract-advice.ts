import { expect } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ADVICE, ask, asking, dueForProbe, failing, type Suite } from './contract-suite.ts';

/** Values that a tool may throw or return. */
type Forms = Readonly<Record<string, unknown>>;

class Refusal {
  success = false;
  status = 503;
  message = 'Service Unavailable';
}

const plain = (): Forms => ({ 'an object': { status: 503, message: 'Service Unavailable' } });
const objects = (): Forms => ({
  'an object of a class': new Refusal(),
  'a Response': new Response('down', { status: 503 }),
});
const error = (): Error => Object.assign(new Error('Service Unavailable'), { status: 503 });
const PRIMITIVES: Forms = { 'a string': 'HTTP 503 Service Unavailable', null: null, undefined };

/** What the model reads about the call that leaves its tool unavailable. */
export const advice = ({ harness, run, testIf }: Suite): void => {
  /** What it reads of a probe that ends with each of these values. */
  const told = async (forms: Forms, end: (value: unknown) => unknown) => {
    const heard: Record<string, string | undefined> = {};
    for (const [form, value] of Object.entries(forms)) {
      const { session } = dueForProbe();
      const search = async (): Promise<unknown> => end(value);
      [heard[form]] = (await run({ session, tools: { search }, script: [[ask('a')], 'Done.'] })).heard;
    }
    return heard;
  };
  const thrown = (value: unknown): never => {
    throw value;
  };
  const returned = (value: unknown): unknown => value;
  const each = (forms: Forms, words = ''): Forms => {
    const text = new RegExp(`${words}.*<breakerbox>Tool 'search' is not available now`, 's');
    return Object.fromEntries(Object.keys(forms).map((form) => [form, expect.stringMatching(text)]));
  };

  testIf(
    ['advice'],
    'R5: after the third failure, and after a failed probe, the model reads the error and the advice',
    async () => {
      const alternatives = [{ tool: 'news', degradation: 'low', note: 'recent items only' } as const];
      const watched = watchedSession({ tools: { search: { alternatives }, news: {} } });
      const tools = { search: failing, news: async () => 'the news' };
      const { text, heard } = await run({ session: watched.session, tools, script: [...asking(3), 'Done.'] });
      expect(text).toBe('Done.');
      expect(heard[1]).not.toContain('<breakerbox>');
      expect(heard[2]).toMatch(ADVICE);
      if (harness.lacks.errorText === undefined) expect(heard[2]).toMatch(/ECONNREFUSED[\s\S]*<breakerbox>/);
      const due = dueForProbe();
      const after = await run({ session: due.session, tools: { search: failing }, script: [[ask('p')], 'Done.'] });
      expect(due.decisions.at(-1)).toBe('search: probe');
      expect(after.heard[0]).toMatch(/<breakerbox>Tool 'search' is not available now/s);
    },
  );

  testIf(['advice', 'nested'], 'R5: the model reads the advice after an object that a tool throws', async () => {
    const forms = { ...plain(), ...objects() };
    expect(await told(forms, thrown)).toEqual(each(forms));
  });

  testIf(['advice', 'nested', 'primitives'], 'R5: so it does after any other value that a tool throws', async () => {
    expect(await told(PRIMITIVES, thrown)).toEqual(each(PRIMITIVES));
  });

  testIf(['advice', 'responses'], 'R5: of an object that a tool returns, the model reads the status too', async () => {
    const forms = { ...objects(), 'an Error': error() };
    expect(await told(forms, returned)).toEqual(each(forms, '503'));
  });

  testIf(['advice', 'responses', 'note'], 'R5: so it does of an object that is plain or frozen', async () => {
    const forms = { ...plain(), frozen: Object.freeze(new Response('down', { status: 503 })) };
    expect(await told(forms, returned)).toEqual(each(forms, '503'));
  });

  testIf(['inPlace'], 'R5: an alternative with adapt answers at once, and the model reads why', async () => {
    const alternatives = [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input } as const];
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
    const tools = { search: failing, news: async () => 'the news' };
    const { text, heard } = await run({ session: watched.session, tools, script: [[ask('a')], 'Done.'] });
    expect(text).toBe('Done.');
    expect(heard[0]).toMatch(
      /answered by 'news' in place of 'search', which failed \(network\): little is lost[\s\S]*the news/,
    );
    expect(heard[0]).not.toContain('ECONNREFUSED');
    expect(watched.decisions).toEqual(['search: call', 'news: call']);
    expect(watched.outcomes).toEqual(['search: failure, network', 'news: success']);
  });

  testIf(['inPlace', 'errorText'], 'R5: if the alternative fails too, the model reads the first error', async () => {
    const alternatives = [{ tool: 'news', adapt: (input: unknown) => input } as const];
    const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
    const tools = {
      search: failing,
      news: async () => {
        throw new Error('HTTP 503 of the news');
      },
    };
    const { heard } = await run({ session: watched.session, tools, script: [[ask('a')], 'Done.'] });
    expect(heard[0]).toMatch(/ECONNREFUSED/);
    expect(heard[0]).not.toContain('of the news');
  });

  const skippedInPlace = async (news: () => unknown): Promise<string | undefined> => {
    const alternatives = [{ tool: 'news', adapt: (input: unknown) => input } as const];
    const tools = { search: { failureThreshold: 1, alternatives }, news: { failureThreshold: 9 } };
    const { session, decisions } = watchedSession({ tools });
    const { heard } = await run({ session, tools: { search: failing, news }, script: [...asking(2), 'Done.'] });
    expect(decisions).toEqual(['search: call', 'news: call', 'search: skip', 'news: call']);
    return heard[1];
  };

  testIf(['inPlace'], 'R5: after a skip too, the model reads that the alternative did not answer', async () => {
    const heard = async (text: string) =>
      skippedInPlace(async () => {
        throw new Error(text);
      });
    expect(await heard('No rows found')).toMatch(
      unanswered('could not answer this call\\. Call it with other arguments'),
    );
    expect(await heard('HTTP 503')).toMatch(unanswered('failed too\\. Continue without them'));
    if (harness.lacks.errorText === undefined) expect(await heard('No rows found')).toContain('No rows found');
  });

  testIf(['inPlace', 'inBandErrors'], 'R5: so it does of an alternative that reports an error', async () => {
    const heard = await skippedInPlace(async () => harness.inBand('HTTP 503'));
    expect(heard).toMatch(unanswered('failed too\\. Continue without them'));
    expect(heard).toContain('HTTP 503');
  });
};

/** The advice after a skip whose alternative ended like this. */
const unanswered = (how: string): RegExp =>
  new RegExp(
    `<breakerbox>Tool 'search' is not available now: the last calls failed \\(network\\)\\. Do not call it now\\. It may work again in .*'news' was called instead, and ${how}`,
    's',
  );
