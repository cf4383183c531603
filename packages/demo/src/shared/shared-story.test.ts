import { expect, test } from 'vitest';
import { createSharedStory, roundText } from './shared-story.ts';

const story = (processes = 3) => {
  const said: string[] = [];
  let ms = 0;
  const told = createSharedStory(processes, { say: (who, text) => said.push(`${who}: ${text}`), now: () => ms });
  const at = (time: number) => {
    ms = time;
    return told;
  };
  return { said, at };
};

const fails = { kind: 'called', ok: false } as const;
const opens = (told: boolean, failures: number) => ({ kind: 'state', to: 'open', told, failures }) as const;
const probes = { kind: 'state', to: 'half_open', told: false, failures: 3 } as const;
const closes = { kind: 'state', to: 'closed', told: false, failures: 3 } as const;

test('two processes see the outage, the third is told, one probes, and all recover', () => {
  const { said, at } = story();
  at(0).begin();
  for (const process of ['one', 'two']) {
    for (let call = 0; call < 3; call += 1) at(10).hear(process, fails);
    at(process === 'one' ? 10 : 50).hear(process, opens(false, 2));
  }
  at(60).hear('three', fails);
  expect(at(60).isOpen()).toBe(false);
  at(90).hear('three', opens(true, 1));
  expect(at(90).isOpen()).toBe(true);
  at(3_000).hear('two', probes);
  at(3_000).hear('two', fails);
  at(3_000).hear('two', opens(false, 3));
  expect(at(3_000).hasProbed()).toBe(true);
  for (const [process, ms] of [
    ['one', 9_000],
    ['three', 9_200],
    ['two', 9_700],
  ] as const) {
    at(ms).hear(process, probes);
    at(ms).hear(process, closes);
    at(ms).hear(process, { kind: 'called', ok: true });
  }
  expect(at(9_700).isOver()).toBe(true);
  const [round] = at(9_700).rounds;
  expect(round).toEqual({ calls: 7, callsAlone: 9, probes: 2, told: 1, openedMs: 80, recoveredMs: 700 });
  expect(said).toEqual([
    'one: web_search failed 3 times in a row, and opens here. Another process must see it too',
    'two: web_search failed 3 times in a row, and opens here. Two processes have seen it: it is open for all',
    'three: Redis says that web_search is open. Calls that failed here: 1',
    'two: sends the one probe of all processes. It fails',
    'one: sends the one probe of all processes. It succeeds: closed for all',
    'three: Redis says that the tool is back, and calls web_search again',
    'two: Redis says that the tool is back, and calls web_search again',
  ]);
  expect(roundText(round ?? expect.fail())).toBe(
    '2 probes in all (6 if each process probes alone), all open within 80 ms, all call again within 700 ms, 1 told by Redis, 7 calls into the dead tool (9 if each process learns alone)',
  );
});

test('says nothing before the first outage', () => {
  const { said, at } = story();
  at(0).hear('one', fails);
  at(0).hear('one', opens(false, 2));
  expect(said).toEqual([]);
});

test('a third process that fails three times before Redis tells it says that the tool was open already', () => {
  const { said, at } = story();
  at(0).begin();
  for (const process of ['one', 'two', 'three']) at(10).hear(process, opens(false, 2));
  expect(said.at(-1)).toBe('three: web_search failed 3 times in a row, and opens here. It was open for all already');
});
