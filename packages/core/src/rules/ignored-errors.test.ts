import { describe, expect, test } from 'vitest';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import { bench, succeedOnce } from '../test-support.ts';
import { at, callWith, keyed, visit } from './test-support.rules.ts';

const ignored = (category: 'tool_error' | 'invalid_input' | 'cancelled') => ({ outcome: 'ignored', category }) as const;

describe('Q1: errors that are not counted', () => {
  test('Q1: a report names a tool most of whose calls came back with such an error', () => {
    const { session } = bench();
    for (let call = 0; call < 5; call += 1) callWith(session, 'a', call, ignored('tool_error'));
    succeedOnce(session, 'a');
    expect(report(session).tools[0]?.calls).toMatchObject({ made: 6, ignored: 5, ignoredErrors: 5 });
    const text = formatReport(report(session)).replace(/\s+/g, ' ');
    expect(text).toContain('a: 5 of 6 calls came back with an error that is not counted.');
  });

  test('Q1: it does not name a tool with few of them, nor one whose calls were cancelled', () => {
    const { session } = bench();
    for (let call = 0; call < 3; call += 1) callWith(session, 'a', call, ignored('tool_error'));
    for (let call = 0; call < 9; call += 1) callWith(session, 'b', call, ignored('cancelled'));
    for (let call = 0; call < 4; call += 1) callWith(session, 'c', call, ignored('tool_error'));
    for (let call = 0; call < 5; call += 1) succeedOnce(session, 'c');
    expect(formatReport(report(session))).not.toContain('not counted');
  });

  test('C14: nor one whose failures blame keys, because they count for those', () => {
    const { session } = keyed();
    for (let host = 0; host < 4; host += 1) {
      visit(session, 'a', `${host}.example`, { outcome: 'failure', category: 'network', blames: 'key' });
    }
    expect(report(session).tools[0]?.calls).toMatchObject({ ignored: 4, ignoredErrors: 0, keyFailures: 4 });
    const text = formatReport(report(session));
    expect(text).toContain('Failures of single targets (keys), not of the tool: a 4.');
    expect(text).not.toMatch(/not counted|Ignored results/);
  });

  test('C15: explain() says why each error of the tool did not count', () => {
    const { session } = bench();
    callWith(session, 'a', 1, ignored('tool_error'));
    callWith(session, 'a', 2, ignored('tool_error'));
    callWith(session, 'a', 3, ignored('invalid_input'));
    callWith(session, 'a', 4, { outcome: 'ignored', category: 'network' });
    expect(session.explain('a').ignored).toEqual([
      { category: 'tool_error', times: 2, why: expect.stringContaining('nothing shows an outage') },
      { category: 'invalid_input', times: 1, why: 'the arguments were wrong' },
      { category: 'network', times: 1, why: 'the caller did not report it as a failure' },
    ]);
    expect(session.explain('a').text).toBe(
      '2 times, an error did not count (tool_error), because it is about this request, and nothing shows an outage.\n' +
        'Once, an error did not count (invalid_input), because the arguments were wrong.\n' +
        'Once, an error did not count (network), because the caller did not report it as a failure.',
    );
    expect(session.explain('b')).toMatchObject({ ignored: [], text: '' });
  });

  test('C15: explain() tells an outage that the settings ignore from one that counts for a nested call (E3)', () => {
    const { session } = bench({ tools: { a: { outcomes: { network: 'ignored', unusable: 'ignored' } }, b: {} } });
    const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    session.acquire('a').settle({ error: refused() });
    const [outer, error] = [session.acquire('b'), refused()];
    session.acquire('c').settle({ error });
    outer.settle({ error });
    session.acquire('b').settle({ outcome: 'ignored', category: 'network' });
    const text = (tool: string) => session.explain(tool).ignored.map(({ category, why }) => `${category}: ${why}`);
    expect(text('a')).toEqual(['network: the settings of the tool ignore it']);
    expect(text('b')).toEqual([
      'network: it counts for a call within this one',
      'network: the caller did not report it as a failure',
    ]);
    expect(report(session).tools.find(({ tool }) => tool === 'b')?.calls.ignoredErrors).toBe(2);
  });

  test('C14, C15: a failure of a key counts for the key alone, and explain() says so', () => {
    const { session } = keyed();
    visit(session, 'a', 'dead.example', { outcome: 'failure', category: 'network', blames: 'key' });
    expect(session.explain('a', at('dead.example')).ignored).toEqual([
      { category: 'key', times: 1, why: 'it blames one target of the tool, and counts for that target alone' },
    ]);
  });
});
