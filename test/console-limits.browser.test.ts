/** D2, A8: a run that succeeds too long is advised, paused and extended from the console, in a real Chromium. */
import { createBreakerbox } from '@breakerbox/core';
import { expect, test } from 'vitest';
import { agentHere, dialogOf, hold, inChromium, newFolder, openConsole, press, seen } from './console/browser.ts';

inChromium('console-limits.browser.test.ts');

/** An agent that lists files as long as it may. */
const fileAgent = async () => {
  const box = createBreakerbox({ agent: 'files', tools: { list_files: {} }, limits: { calls: 14_000 } });
  const session = hold(box.session({ id: 'run-1' }));
  const target = await agentHere(await newFolder(), box);
  const list = (most: number): number => {
    for (let made = 0; made < most; made += 1) {
      const permit = session.acquire('list_files');
      if (permit.decision !== 'call') return made;
      permit.settle({ outcome: 'success' });
    }
    return most;
  };
  return { session, target, list };
};

test('A8, D2: 14,000 calls are advised at 80 %, paused at 100 %, and extended from the console', async () => {
  const { session, target, list } = await fileAgent();
  const { page, complaints } = await openConsole([target]);
  expect(list(11_199)).toBe(11_199);
  expect(session.note()).toBe('');
  expect(list(1)).toBe(1);
  expect(session.note()).toContain('11,200 of 14,000 tool calls');
  await seen(page, '11,200 of 14,000 tool calls (advised)');
  await seen(page, 'Limit nearly used up in session run-1: 11,200 of 14,000 tool calls');
  expect(list(20_000)).toBe(2_800);
  expect(session.acquire('list_files')).toMatchObject({ decision: 'pause', reason: 'limit_reached' });
  const report = page.getByRole('article', { name: 'Session run-1' });
  await report.getByText('Limit of the run reached').waitFor();
  await report.getByText('14,000 of 14,000 tool calls (reached)').waitFor();
  expect(await report.textContent()).toContain('Resume does not extend it.');
  expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
  await press(page, 'Extend the limit of tool calls of run-1');
  await dialogOf(page).getByText('The limit is 14,000 tool calls now').waitFor();
  const amount = dialogOf(page).getByLabel('How much more, in tool calls');
  expect(await amount.inputValue()).toBe('1400');
  await amount.fill('0');
  await dialogOf(page).getByRole('button', { name: 'Extend' }).click();
  expect(await page.locator('input:invalid').count()).toBe(1);
  await amount.fill('1000');
  await dialogOf(page).getByRole('button', { name: 'Extend' }).click();
  await dialogOf(page).getByText('Asked 1 process. Applied by 1 of 1 process.').waitFor();
  await press(page, 'Close');
  await seen(page, 'ada extended a limit of session run-1: calls + 1,000');
  expect(list(20_000)).toBe(1_000);
  await report.getByText('15,000 of 15,000 tool calls (reached)').waitFor();
  expect(complaints).toEqual([]);
});

test('A8, D1: the tree of sub-agents is shown, and the limit of one is extended', async () => {
  const { session, target, list } = await fileAgent();
  list(10);
  const child = session.child({ id: 'helper', name: 'Helper', portion: { calls: 10 } });
  for (let call = 0; call < 10; call += 1) child.acquire('list_files').settle({ outcome: 'success' });
  session.child({ name: 'Writer' }).end();
  const { page } = await openConsole([target]);
  const tree = page.getByRole('list', { name: 'Sub-agents of session run-1' });
  await tree.getByText('10 of 10 tool calls (reached)').waitFor();
  expect(await tree.textContent()).toMatch(/Helper.*10 calls.*Writer.*0 calls, ended/);
  await press(page, 'Extend the limit of tool calls of run-1/helper');
  await dialogOf(page).getByText('The same limit of each session above it grows too.').waitFor();
  session.extend('calls', 5);
  child.extend('calls', 1);
  await dialogOf(page).getByRole('button', { name: 'Extend' }).click();
  await dialogOf(page).getByText('The session has changed since you saw it').waitFor();
  await press(page, 'Close');
  await tree.getByText('10 of 11 tool calls (advised)').waitFor();
  await press(page, 'Extend the limit of tool calls of run-1/helper');
  await dialogOf(page).getByRole('button', { name: 'Extend' }).click();
  await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
  expect(child.view().limits).toMatchObject([{ size: 12 }, { size: 14_007 }]);
});
