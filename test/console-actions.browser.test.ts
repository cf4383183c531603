/** What a person does on the console, in a real Chromium (A8). */
import type { Session } from '@breakerbox/core';
import { expect, test } from 'vitest';
import {
  agentProcess,
  dialogOf,
  failTogether,
  inChromium,
  newFolder,
  openConsole,
  press,
  research,
  seen,
  useUpBudget,
} from './console/browser.ts';

inChromium('console-actions.browser.test.ts');

test('A8: a person sees why a session is paused, resumes it, and sees where that took effect', async () => {
  const { session, target } = await research();
  useUpBudget(session);
  expect(session.view().state).toBe('paused_budget');
  const { page, complaints } = await openConsole([target]);
  const report = page.getByRole('article', { name: 'Session run-1' });
  await report.getByText('Failure budget used up').waitFor();
  expect(await report.textContent()).toMatch(
    /used its budget of 2 failures.*0 of 2 failures.*Used by.*search: server error, mail: server error/,
  );
  await page.getByRole('button', { name: 'Resume' }).click();
  await dialogOf(page).getByText('full budget of 2 failures').waitFor();
  expect(session.view().state).toBe('paused_budget');
  await dialogOf(page).getByRole('button', { name: 'Resume' }).click();
  await dialogOf(page).getByText('Asked 1 process. Applied by 1 of 1 process.').waitFor();
  expect(session.view().state).toBe('active');
  await press(page, 'Close');
  await seen(page, 'ada resumed session run-1');
  await report.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('A8: a correlated failure is shown with its tools, confirmed, and a stale request changes nothing', async () => {
  const { session, target } = await research();
  failTogether(session, 'search', 'fetch', 'mail');
  const { page } = await openConsole([target]);
  const report = page.getByRole('article', { name: 'Session run-1' });
  await report.getByText('tools failed together (network)').waitFor();
  expect(await report.textContent()).toMatch(/search.*the network/);
  expect(await report.textContent()).not.toContain('next probe'); // Nothing is probed until a person confirms.
  await press(page, 'Confirm recovery');
  session.confirmRecovered();
  await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).getByText('The session has changed since you saw it').waitFor();
  await dialogOf(page).getByText('Session run-1 is now active').waitFor();
  await dialogOf(page).getByText('Applied by 0 of 1 process').waitFor();
  await press(page, 'Close');

  failTogether(session, 'search', 'fetch', 'mail');
  for (let step = 0; step < 4; step += 1) session.step();
  failTogether(session, 'search', 'fetch', 'mail');
  expect(session.view().state).toBe('paused_systemic');
  await press(page, 'Confirm recovery');
  await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
  // Each event costs a failure, and the budget is two.
  await dialogOf(page).getByText('Session run-1 is now paused: Failure budget used up').waitFor();
  expect(session.view().state).toBe('paused_budget');
});

test('A4, A8: a mode is forced with a reason and an expiry, shown with its owner, and released', async () => {
  const { box, target } = await research();
  const { page } = await openConsole([target]);
  await page.getByText('All tools (3)').click();
  await press(page, 'Force open search');
  await dialogOf(page).getByRole('button', { name: 'Force open' }).click();
  expect(await page.locator('textarea:invalid').count()).toBe(1);
  await dialogOf(page).getByLabel('Reason').fill('the index is rebuilt');
  await dialogOf(page).getByLabel('Ends after').selectOption('15 minutes');
  await dialogOf(page).getByRole('button', { name: 'Force open' }).click();
  await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
  await press(page, 'Close');
  expect(box.session().acquire('search').reason).toBe('forced_open');
  const modes = page.getByRole('region', { name: 'Forced modes' });
  await modes.getByText('the index is rebuilt').waitFor();
  expect(await modes.textContent()).toMatch(/search.*forced open.*all sessions.*ada.*15 min/);
  await press(page, 'Release search of ada');
  await dialogOf(page).getByRole('button', { name: 'Release' }).click();
  await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
  expect(box.session().acquire('search').decision).toBe('call');
});

test('A8: a stopped process is shown as not answering, and an action says how many it reached', async () => {
  const own = await newFolder();
  const [one, two] = [await agentProcess(own, 'one'), await agentProcess(own, 'two')];
  const { page } = await openConsole([one.target, two.target]);
  await seen(page, '2 processes, 2 sessions');
  two.signal('SIGSTOP');
  await seen(page, /1 of 2 processes does not answer/);
  expect(await page.locator('.notice.silent').textContent()).toContain(`${two.pid}`);
  await page.getByText('All tools (3)').click();
  await press(page, 'Disable circuit search');
  await dialogOf(page).getByLabel('Reason').fill('a test');
  await dialogOf(page).getByRole('button', { name: 'Disable circuit' }).click();
  await dialogOf(page).getByText('Asked 2 processes. Applied by 1 of 2 processes.').waitFor();
  await dialogOf(page)
    .getByText(`Process ${two.pid} did not answer. If it received the request, it may still act later.`)
    .waitFor();
  await press(page, 'Close');
  two.signal('SIGCONT');
  await page.getByText('1 of 2 processes does not answer').waitFor({ state: 'detached' });
  await seen(page, 'ada disabled the circuit of search in 2 processes');
});

test('A8: the keyboard is enough, and the focus is visible', async () => {
  const { session, target } = await research();
  useUpBudget(session);
  const { page } = await openConsole([target]);
  await seen(page, 'Failure budget used up');
  const tabTo = async (name: string): Promise<void> => {
    for (let tabs = 0; tabs < 20; tabs += 1) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate('document.activeElement.textContent');
      if (focused === name) return;
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  await tabTo('Resume');
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await page.keyboard.press('Enter');
  await dialogOf(page).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' }); // By its role, it is gone a moment before the page knows.
  await page.keyboard.press('Enter');
  await dialogOf(page).waitFor();
  await tabTo('Resume');
  await page.keyboard.press('Enter');
  await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
  await page.keyboard.press('Enter');
  await dialogOf(page).waitFor({ state: 'detached' });
  expect(session.view().state).toBe('active');
});

test('A8: with 200 sessions the page stays usable, and several paused ones are resumed together', async () => {
  const { box, session, target } = await research();
  const sessions: Session[] = Array.from({ length: 200 }, (_, index) => box.session({ id: `many-${index}` }));
  for (const one of sessions) one.acquire('mail').settle({ outcome: 'success' });
  const paused = [session, box.session({ id: 'run-2', budget: { failures: 2 } })];
  for (const one of paused) useUpBudget(one);
  const { page } = await openConsole([target]);
  await page.getByText('Other active sessions (200)').waitFor();
  expect(await page.getByRole('article').count()).toBe(2);
  expect(await page.locator('.sessions > li').count()).toBe(0);
  const before = Date.now();
  await page.getByText('Other active sessions (200)').click();
  await seen(page, 'many-199');
  await page.getByText('Other active sessions (200)').click();
  expect(Date.now() - before).toBeLessThan(4_000);
  await press(page, 'Resume all 2');
  await dialogOf(page).getByRole('button', { name: 'Resume' }).click();
  await dialogOf(page).getByText('Asked 2 sessions. Applied to 2 of 2 sessions.').waitFor();
  expect(paused.map((one) => one.view().state)).toEqual(['active', 'active']);
});

test('A8: 200 sessions that one outage has paused are confirmed together', async () => {
  const { box, target } = await research();
  const sessions = Array.from({ length: 200 }, (_, index) => box.session({ id: `many-${index}` }));
  for (const one of sessions) failTogether(one, 'search', 'fetch', 'mail');
  const { page } = await openConsole([target]);
  await page.getByText('More paused sessions (190)').waitFor();
  expect(await page.getByRole('article').count()).toBe(10);
  await press(page, 'Confirm recovery for all 200');
  await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).getByText('Asked 200 sessions. Applied to 200 of 200 sessions.').waitFor();
  expect(new Set(sessions.map((one) => one.view().state))).toEqual(new Set(['active']));
});
