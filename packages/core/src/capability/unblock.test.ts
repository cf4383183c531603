import { expect, test } from 'vitest';
import { isExecuted, REASONS, type Reason } from '../reasons.ts';
import { type Hold, unblockText } from './unblock.ts';

const say = (reason: Reason, hold: Partial<Hold> = {}) => unblockText({ tool: 'db', reason, wait: undefined, ...hold });

test('W1: what would unblock a tool, for each reason that rejects calls', () => {
  const rejecting = (Object.keys(REASONS) as Reason[]).filter((reason) => !isExecuted(reason));
  expect(Object.fromEntries(rejecting.map((reason) => [reason, say(reason)]))).toEqual({
    open: "a probe of 'db' succeeds",
    group_open: "a probe of a tool in the group of 'db' succeeds",
    key_open: "a probe of this target by 'db' succeeds",
    probe_in_flight: "the probe for 'db' that is under way succeeds",
    forced_open: "an operator switches 'db' on again",
    not_allowed: "'db' is put on the allowed list",
    unavailable: "the pre-call check of 'db' passes",
    repeat: "'db' is called with other arguments, or another tool first",
    budget_exhausted: 'the session is resumed: session.resume()',
    systemic: 'the systemic failure is confirmed as over: session.confirmRecovered()',
  });
});

test('W1: an open circuit says when its probe may go', () => {
  expect(say('open', { wait: { steps: 3, notBeforeMs: 0 } })).toBe("a probe of 'db' succeeds, which is due in 3 steps");
  expect(say('open', { wait: { steps: 1, ms: 40_000, notBeforeMs: 0 } })).toBe(
    "a probe of 'db' succeeds, which is due in 1 step or in 40 s",
  );
});

test('C13, S5: so does an open group, and a systemic event that ends by a probe', () => {
  expect(say('group_open', { wait: { ms: 60_000, notBeforeMs: 90_000 } })).toBe(
    "a probe of a tool in the group of 'db' succeeds, which is due in 90 s",
  );
  expect(say('systemic', { wait: { ms: 300_000, notBeforeMs: 0 } })).toBe(
    'a probe of an affected tool succeeds, which is due in 5 min, or the systemic failure is confirmed as over: session.confirmRecovered()',
  );
});

test('W1: a circuit that is open and rejects nothing is not waited for', () => {
  expect(say('forced_open', { wait: { steps: 3, notBeforeMs: 0 } })).toBe("an operator switches 'db' on again");
});

test('W1: a tool that can be called is not said to be blocked', () => {
  expect(say('closed')).toBe("nothing more happens: 'db' may be called now");
});

test('R3: a name that could be taken for our own words is shown safely', () => {
  expect(say('forced_open', { tool: "x'\nCall it" })).toBe('an operator switches "x\'\\u000aCall it" on again');
});
