import { describe, expect, test } from 'vitest';
import { admit, closedCircuit, openCircuit } from '../circuit/circuit.ts';
import { resolvePolicy } from '../circuit/policy.ts';
import { alternative, at, due, event, GO_ON, groupOf, open, policy, say } from '../test-support.message.ts';
import type { AlternativeRoute, Route } from './route.ts';

describe('the message of a skip names the tool, why, until when, and not to retry it', () => {
  const OPEN =
    "Tool 'web_search' is unavailable: the last calls failed (network). Do not call it now. It may work again in about 3 of " +
    'your turns.';
  const MARK = '[breakerbox:not-called]';

  test('R3: an open circuit', () => {
    expect(say()).toBe(`${OPEN} ${GO_ON} ${MARK}`);
    expect(say({ route: undefined })).toBe(`${OPEN} ${GO_ON} ${MARK}`);
  });

  test.each([
    ['slow_call_rate', 'too many of its calls took too long'],
    ['failure_rate', 'too many of its calls failed (last failure: network)'],
    ['wasted_tokens', 'its failed calls (network) cost too many tokens'],
    ['probe', 'the last calls failed (network)'],
    ['transport', 'the last calls failed (network)'],
  ] as const)('R3: opened by %s', (trip, why) => {
    if (open.state !== 'open') throw new Error('one failure opens this circuit');
    const circuit = { ...open, outage: { ...open.outage, trip } };
    expect(say({ circuit })).toContain(`Tool 'web_search' is unavailable: ${why}. Do not call it now.`);
  });

  test('R3: a probe under way', () => {
    expect(say({ reason: 'probe_in_flight', circuit: admit(open, policy, due).circuit })).toBe(
      "Tool 'web_search' is unavailable: the last calls failed (network). Do not call it now. One call is testing that " +
        `now. It may work again later in this run. ${GO_ON} ${MARK}`,
    );
  });

  test('R3, C13: an open group, by its configured name', () => {
    const circuit = closedCircuit(); // Of the tool itself.
    expect(say({ reason: 'group_open', circuit, group: groupOf(open) })).toBe(
      "Tool 'web_search' is unavailable: the tools of group 'github' failed (network). Do not call it now. It may work again in about " +
        `3 of your turns. ${GO_ON} ${MARK}`,
    );
    for (const group of [undefined, groupOf(circuit)]) {
      expect(say({ reason: 'group_open', circuit, group })).toBe(
        `Tool 'web_search' is unavailable: the tools of its group failed. Do not call it. ${GO_ON} ${MARK}`,
      );
    }
  });

  test('R3, S2: an event that affects the tool, while other tools continue', () => {
    const skip = { reason: 'systemic', decision: 'skip', event, route: alternative } as const;
    const gatePolicy = resolvePolicy({ cooldownMs: 300_000 });
    const circuit = openCircuit({ ...at, step: 0 }, 'network', { ...gatePolicy, schedule: 'time' });
    const gate = { circuit, policy: { ...gatePolicy, schedule: 'time' as const } };
    const said = (until: string) =>
      "Tool 'web_search' is unavailable: 'a' and 'b' failed in the same way (network); the cause is probably in the network. " +
      `Do not call it now. ${until} Use 'news_search' instead (recent items only; little is lost). ${MARK}`;
    expect(say({ ...skip, gate })).toBe(said('It may work again in about 5 min.'));
    const probed = { ...gate, circuit: admit(circuit, gate.policy, { ...due, ms: 900_000 }).circuit };
    expect(say({ ...skip, gate: probed })).toBe(
      said('One call is testing that now. It may work again later in this run.'),
    );
  });

  test.each([
    ['forced_open', 'it is switched off. Do not call it.'],
    ['not_allowed', 'this run is not allowed to use it. Do not call it.'],
    [
      'unavailable',
      'its pre-call check says that it cannot be used now. Do not call it now. It may work again once that check passes.',
    ],
  ] as const)('R3: %s, whatever the state of its circuit', (reason, text) => {
    for (const circuit of [undefined, closedCircuit(), open]) {
      expect(say({ reason, circuit })).toBe(`Tool 'web_search' is unavailable: ${text} ${GO_ON} ${MARK}`);
    }
  });

  test('R3: a circuit that has changed since the decision', () => {
    for (const circuit of [undefined, closedCircuit()]) {
      expect(say({ circuit })).toBe(
        `Tool 'web_search' is unavailable: the last calls failed. Do not call it. ${GO_ON} ${MARK}`,
      );
    }
  });

  const REPEAT =
    "Tool 'web_search' was not called: the same call has failed in the same way several times in a row. Do not repeat it: " +
    'change the arguments, or do something else first.';

  test('R3, O5: a repeated call, although the tool itself works', () => {
    const circuit = closedCircuit();
    const orGoOn = 'Or continue without it, and say in your answer what is missing.';
    expect(say({ reason: 'repeat', circuit })).toBe(`${REPEAT} ${orGoOn} ${MARK}`);
    expect(say({ reason: 'repeat', circuit, route: undefined })).toBe(`${REPEAT} ${orGoOn} ${MARK}`);
    expect(say({ reason: 'repeat', circuit, route: alternative })).toBe(
      `${REPEAT} Use 'news_search' instead (recent items only; little is lost). ${MARK}`,
    );
  });
});

describe('the message of a skip names the replacement, and its loss', () => {
  const instead = (route: Route) =>
    say({ reason: 'forced_open', route }).split('Do not call it. ')[1]?.replace(' [breakerbox:not-called]', '');

  test.each<[Partial<AlternativeRoute>, string]>([
    [{}, "Use 'news_search' instead (recent items only; little is lost)."],
    [{ note: undefined }, "Use 'news_search' instead (little is lost)."],
    [
      { method: 'search for the\n headline.' },
      "Use 'news_search' instead (recent items only; little is lost). How: search for the headline.",
    ],
    [
      { degradation: 'high', method: 'by date' },
      "Use 'news_search' instead (recent items only; much is lost). How: by date. Then say in your answer what is missing.",
    ],
    [
      { degradation: 'unknown', note: undefined },
      "Use 'news_search' instead (it is unknown how much is lost). Then say in your answer what is missing.",
    ],
  ])('R3: an alternative: %j', (route, text) => {
    expect(instead({ ...alternative, ...route })).toBe(text);
  });

  test('R3: the manual fallback', () => {
    expect(instead({ kind: 'manual', fallback: 'ask the user for a link.\n' })).toBe(
      'Instead: ask the user for a link.',
    );
  });

  test('R3, F2: the last good result, without its content in the message', () => {
    const label = { kind: 'stale', retrievedUnixMs: Date.UTC(2026, 10, 20, 21, 14, 3) } as const;
    expect(instead({ kind: 'stale', result: 'SECRET', label })).toBe(
      'Its last good result is given instead (stale: retrieved 2026-11-20 21:14:03 UTC). Say in your answer how old it is.',
    );
  });
});
