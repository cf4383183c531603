/** The console in a real Chromium (A8, A9). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createToken, startControl } from '@breakerbox/control';
import { createBreakerbox, type Session } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  agentHere,
  agentProcess,
  builtPage,
  canRun,
  failTogether,
  hold,
  newFolder,
  openConsole,
  startBrowser,
  useUpBudget,
  WITHOUT,
} from './console/browser.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  // Reporters do not show why a test is skipped.
  if (!canRun) return void process.stderr.write(`console.browser.test.ts: ${WITHOUT}\n`);
  [browser, folder] = await Promise.all([startBrowser(), builtPage()]);
});
afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});
beforeEach((context) => {
  if (!canRun) context.skip(WITHOUT);
});

const TOOLS = { search: {}, fetch: {}, mail: {} };

const research = async (budget = 2) => {
  const box = createBreakerbox({ agent: 'research', tools: TOOLS });
  const session = hold(box.session({ id: 'run-1', budget: { failures: budget } }));
  return { box, session, target: await agentHere(await newFolder(), box) };
};

const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const dialogOf = (page: Page) => page.getByRole('dialog');
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

test('A8: a person sees why a session is paused, resumes it, and sees where that took effect', async () => {
  const { session, target } = await research();
  useUpBudget(session);
  expect(session.view().state).toBe('paused_budget');
  const { page, complaints } = await openConsole(browser, folder, [target]);
  const report = page.getByRole('article', { name: 'Session run-1' });
  await report.getByText('Failure budget used up').waitFor();
  expect(await report.textContent()).toMatch(/used its budget of 2 failures.*0 of 2 failures/);
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
  const { page } = await openConsole(browser, folder, [target]);
  const report = page.getByRole('article', { name: 'Session run-1' });
  await report.getByText('tools failed together (network)').waitFor();
  expect(await report.textContent()).toMatch(/search.*the network/);
  await press(page, 'Confirm recovery');
  session.confirmRecovered();
  await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).getByText('The session has moved on').waitFor();
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
  const { page } = await openConsole(browser, folder, [target]);
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

test('A8: HTML in names and reasons is text', async () => {
  const html = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
  const box = createBreakerbox({ agent: html, tools: { [html]: {}, other: {}, third: {} } });
  const target = await agentHere(await newFolder(), box);
  const session = hold(box.session({ id: html }));
  failTogether(session, html, 'other', 'third');
  operate(box).force('other', { mode: 'disabled', owner: html, reason: html });
  const { page, complaints } = await openConsole(browser, folder, [target]);
  await page.getByRole('article', { name: `Session ${html}` }).waitFor();
  await page.getByText('All tools').click();
  await page
    .getByRole('button', { name: `Force open ${html}` })
    .first()
    .click();
  await seen(page, `Force open: ${html}`);
  expect(await page.locator('main img, dialog img, body script').count()).toBe(0);
  expect(await page.getByText(html).count()).toBeGreaterThan(5);
  expect(complaints).toEqual([]);
});

test('A8: a stopped process is shown as not answering, and an action says how many it reached', async () => {
  const own = await newFolder();
  const [one, two] = [await agentProcess(own, 'one'), await agentProcess(own, 'two')];
  const { page } = await openConsole(browser, folder, [one.target, two.target]);
  await seen(page, '2 processes, 2 sessions');
  two.signal('SIGSTOP');
  await seen(page, /1 of 2 processes does not answer/);
  expect(await page.locator('.notice.silent').textContent()).toContain(`${two.pid}`);
  await page.getByText('All tools (3)').click();
  await press(page, 'Disable search');
  await dialogOf(page).getByLabel('Reason').fill('a test');
  await dialogOf(page).getByRole('button', { name: 'Disable' }).click();
  await dialogOf(page).getByText('Asked 2 processes. Applied by 1 of 2 processes.').waitFor();
  await dialogOf(page).getByText(`Process ${two.pid} does not answer. It may still act when it goes on.`).waitFor();
  await press(page, 'Close');
  two.signal('SIGCONT');
  await page.getByText('1 of 2 processes does not answer').waitFor({ state: 'detached' });
  await seen(page, 'ada disabled search in 2 processes');
});

test('A8: at phone width nothing scrolls sideways, and in the dark the page is dark', async () => {
  const long = 'a_tool_with_a_name_that_is_far_too_long_for_a_phone_and_has_no_blank_at_all';
  const box = createBreakerbox({ agent: long, tools: { [long]: {}, fetch: {}, mail: {} } });
  const target = await agentHere(await newFolder(), box);
  const session = hold(box.session({ id: `${long}-${long}` }));
  failTogether(session, long, 'fetch', 'mail');
  operate(box).force('mail', { mode: 'disabled', owner: long, reason: long });
  const { page } = await openConsole(browser, folder, [target], {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
  });
  await seen(page, 'Paused');
  await page.getByText('All tools').click();
  const width = () => page.evaluate('document.documentElement.scrollWidth');
  expect(await width()).toBe(360);
  await page.getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).waitFor();
  expect(await page.evaluate("document.querySelector('dialog').scrollWidth")).toBeLessThan(360);
  expect(await width()).toBe(360);
  const brightness = () =>
    page.evaluate('Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0])') as Promise<number>;
  expect(await brightness()).toBeLessThan(50);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await brightness()).toBeGreaterThan(200);
});

test('A8: the keyboard is enough, and the focus is visible', async () => {
  const { session, target } = await research();
  useUpBudget(session);
  const { page } = await openConsole(browser, folder, [target]);
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
  await dialogOf(page).waitFor({ state: 'detached' });
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
  const { page } = await openConsole(browser, folder, [target]);
  await page.getByText('Other active sessions (200)').waitFor();
  expect(await page.getByRole('article').count()).toBe(2);
  expect(await page.locator('.sessions > li').count()).toBe(0);
  const before = Date.now();
  await page.getByText('Other active sessions (200)').click();
  await seen(page, 'many-199');
  await page.getByText('Other active sessions (200)').click();
  expect(Date.now() - before).toBeLessThan(2_000);
  await press(page, 'Resume all 2');
  await dialogOf(page).getByRole('button', { name: 'Resume' }).click();
  await dialogOf(page).getByText('Asked 2 sessions. Applied to 2 of 2 sessions.').waitFor();
  expect(paused.map((one) => one.view().state)).toEqual(['active', 'active']);
});

test('A8: 200 sessions that one outage has paused are confirmed together', async () => {
  const { box, target } = await research();
  const sessions = Array.from({ length: 200 }, (_, index) => box.session({ id: `many-${index}` }));
  for (const one of sessions) failTogether(one, 'search', 'fetch', 'mail');
  const { page } = await openConsole(browser, folder, [target]);
  await page.getByText('More paused sessions (190)').waitFor();
  expect(await page.getByRole('article').count()).toBe(10);
  await press(page, 'Confirm recovery for all 200');
  await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
  await dialogOf(page).getByText('Asked 200 sessions. Applied to 200 of 200 sessions.').waitFor();
  expect(new Set(sessions.map((one) => one.view().state))).toEqual(new Set(['active']));
});

test('A5, A8: where the token may only view, there are no buttons', async () => {
  const { box, session } = await research();
  useUpBudget(session);
  const own = await newFolder();
  const tokens = join(own, 'tokens.json');
  const token = await createToken(tokens, 'wall', 'view');
  const control = await startControl({ boxes: [box], listen: { port: 0, tokens }, audit: join(own, 'audit.jsonl') });
  onTestFinished(() => control.close());
  const { page } = await openConsole(browser, folder, [{ url: control.url, token }]);
  await seen(page, 'Failure budget used up');
  await seen(page, 'View only');
  await page.getByText('All tools').click();
  expect(await page.getByRole('button').allTextContents()).toEqual([]);
});

test('A9: the link of an alert goes to its thing, and does nothing', async () => {
  const { box, session, target } = await research();
  failTogether(session, 'search', 'fetch', 'mail');
  const [live] = operate(box).sessions();
  const { page } = await openConsole(browser, folder, [target], { hash: `&event=${live?.event}` });
  const named = page.locator('[data-named]');
  await named.waitFor();
  expect(await named.getAttribute('aria-label')).toBe('Session run-1');
  expect(new URL(page.url()).hash).toBe(`#event=${live?.event}`);
  const to = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await to('#agent=research&tool=mail');
  await page.locator('tr[data-named], li[data-named]').filter({ hasText: 'mail' }).waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toContain('mail');
  await to('#agent=research');
  await page.locator('section.agent[data-named]').waitFor();
  await to('#session=run-9');
  await seen(page, 'Session run-9');
  expect(session.view().state).toBe('paused_systemic');
  expect(await dialogOf(page).count()).toBe(0);
});

test('A8: the link signs one browser in, once, and a reload stays signed in', async () => {
  const { target } = await research();
  const { page, url } = await openConsole(browser, folder, [target]);
  await seen(page, '1 process, ');
  expect(page.url()).not.toContain('token');
  await page.reload();
  await seen(page, '1 process, ');
  await page.goto('about:blank');
  await page.goto(url);
  await seen(page, '1 process, ');
  await page.context().setOffline(true);
  await seen(page, 'Not live');
  const other = await browser.newContext();
  onTestFinished(() => other.close());
  const second = await other.newPage();
  await second.goto(url);
  await seen(second, 'The link is wrong, was used, or is too old');
  expect(await second.getByText('research').count()).toBe(0);
});

test('A8: without an agent the page says what to do, and which endpoints gave no answer', async () => {
  const own = await newFolder();
  const { page } = await openConsole(browser, folder, [
    { url: `unix:${join(own, 'none.sock')}` },
    { url: 'http://127.0.0.1:1' },
  ]);
  await seen(page, 'http://127.0.0.1:1 does not answer');
  const other = await openConsole(browser, folder, [{ url: `unix:${join(own, 'none.sock')}` }]);
  await seen(other.page, /No agent with a control API was found.*No process listens on unix:.*none\.sock/);
});
