import { describe, expect, test } from 'vitest';
import { bench, steps, succeedOnce, trip } from '../test-support.ts';
import { hear } from './test-support.ts';

/** Two sessions of a box that shares its circuits. */
const two = () => {
  const made = bench({ scope: 'process' });
  return { ...made, other: made.box.session({ id: 'run-2' }) };
};

describe('C12: a systemic event is that of all sessions', () => {
  test('C12, S2: also of one whose own steps lie between the openings', () => {
    const { session, other, box } = two();
    const detected = hear(box, 'systemic.detected');
    trip(session, 'a');
    steps(other, 11);
    trip(session, 'b');
    expect(other.acquire('c').reason).toBe('systemic');
    expect(detected.map(({ session: id }) => id)).toEqual(['run-1', 'run-2']);
    other.confirmRecovered();
    expect([succeedOnce(session, 'c'), succeedOnce(other, 'c')]).toEqual(['call', 'call']);
  });

  test('C12, S2: also of one that begins after an operator has taken a circuit of it in hand', () => {
    const { session, other, box } = two();
    trip(session, 'a');
    trip(session, 'b');
    session.control('a', 'forced_open');
    for (const one of [session, other, box.session()]) expect(one.acquire('c').reason).toBe('systemic');
    box.session().confirmRecovered();
    for (const one of [session, other, box.session()]) expect(one.acquire('c').decision).toBe('call');
  });
});
