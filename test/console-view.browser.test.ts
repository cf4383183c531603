/** What the console shows, in a real Chromium (A8, A9). */
import { join } from 'node:path';
import { createToken, startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { guardModels } from '@breakerbox/instrumentation';
import { expect, onTestFinished, test } from 'vitest';
import {
  agentHere,
  dialogOf,
  failTogether,
  hold,
  inChromium,
  newContext,
  newFolder,
  openConsole,
  research,
  seen,
  useUpBudget,
} from './console/browser.ts';

inChromium('console-view.browser.test.ts');

test('A8: HTML in names and reasons is text', async () => {
  const html = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
  const box = createBreakerbox({ agent: html, tools: { [html]: {}, other: {}, third: {} } });
  const target = await agentHere(await newFolder(), box);
  const session = hold(box.session({ id: html }));
  failTogether(session, html, 'other', 'third');
  operate(box).force('other', { mode: 'disabled', owner: html, reason: html });
  const { page, complaints } = await openConsole([target]);
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

test('A8: a session that pauses is shown, although changes come without a pause', async () => {
  const { box, session, target } = await research();
  const other = hold(box.session({ id: 'run-2', budget: { failures: 2 } }));
  const timer = setInterval(() => {
    useUpBudget(other);
    other.resume();
  }, 50);
  onTestFinished(() => clearInterval(timer));
  const { page } = await openConsole([target]);
  await seen(page, 'The last hour');
  useUpBudget(session);
  await page.getByRole('article', { name: 'Session run-1' }).waitFor({ timeout: 10_000 });
});

test('A8: at phone width nothing scrolls sideways, and in the dark the page is dark', async () => {
  const long = 'a_tool_with_a_name_that_is_far_too_long_for_a_phone_and_has_no_blank_at_all';
  const box = createBreakerbox({ agent: long, tools: { [long]: {}, fetch: {}, mail: {} } });
  const target = await agentHere(await newFolder(), box);
  const session = hold(box.session({ id: `${long}-${long}` }));
  failTogether(session, long, 'fetch', 'mail');
  operate(box).force('mail', { mode: 'disabled', owner: long, reason: long });
  const { page } = await openConsole([target], {
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

test('A5, A8: where the token may only view, there are no buttons', async () => {
  const { box, session } = await research();
  useUpBudget(session);
  const own = await newFolder();
  const tokens = join(own, 'tokens.json');
  const token = await createToken(tokens, 'wall', 'view');
  const control = await startControl({ boxes: [box], listen: { port: 0, tokens }, audit: join(own, 'audit.jsonl') });
  onTestFinished(() => control.close());
  const { page } = await openConsole([{ url: control.url, token }]);
  await seen(page, 'Failure budget used up');
  await seen(page, 'View only');
  await page.getByText('All tools').click();
  expect(await page.getByRole('button').allTextContents()).toEqual([]);
});

test('A9: the link of an alert goes to its thing, and does nothing', async () => {
  const { box, session, target } = await research();
  failTogether(session, 'search', 'fetch', 'mail');
  const [live] = operate(box).sessions();
  const { page } = await openConsole([target], { hash: `&event=${live?.event}` });
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
  const { page, url } = await openConsole([target]);
  await seen(page, '1 process, ');
  expect(page.url()).not.toContain('token');
  await page.reload();
  await seen(page, '1 process, ');
  await page.goto('about:blank');
  await page.goto(url);
  await seen(page, '1 process, ');
  await page.context().setOffline(true);
  await seen(page, 'Not live');
  const other = await newContext();
  const second = await other.newPage();
  await second.goto(url);
  await seen(second, 'The link is wrong, already used, or older than 10 minutes');
  expect(await second.getByText('research').count()).toBe(0);
});

test('A8: without an agent the page says what to do, and which endpoints gave no answer', async () => {
  const own = await newFolder();
  const { page } = await openConsole([{ url: `unix:${join(own, 'none.sock')}` }, { url: 'http://127.0.0.1:1' }]);
  await seen(page, 'no valid answer from http://127.0.0.1:1');
  const other = await openConsole([{ url: `unix:${join(own, 'none.sock')}` }]);
  await seen(other.page, /No agent with a control API was found.*No process listens on unix:.*none\.sock/);
});

test('A8, L2: models are listed apart from tools, can be forced, and count as no session', async () => {
  const box = createBreakerbox({ agent: 'writer', tools: { search: {} } });
  const target = await agentHere(await newFolder(), box);
  hold(box.session({ id: 'run-1' }))
    .acquire('search')
    .settle({ outcome: 'success' });
  const fails = async (): Promise<string> => {
    throw Object.assign(new Error('Overloaded'), { status: 529 });
  };
  const ask = guardModels(box, {
    models: [
      { name: 'anthropic/claude-opus-5', call: fails },
      { name: 'openai/gpt-5', call: async (prompt: string) => prompt },
    ],
  });
  for (let request = 0; request < 3; request += 1) expect(await ask('Hi')).toBe('Hi');
  const { page, complaints } = await openConsole([target]);
  await seen(page, 'model:anthropic/claude-opus-5');
  await seen(page, '1 process, 1 session');
  await seen(page, 'circuits of models');
  await seen(page, 'All tools (1)');
  await page.getByText('All models (').click();
  await page.getByRole('button', { name: 'Force open model:openai/gpt-5' }).first().click();
  await dialogOf(page).getByLabel('Reason').fill('costs');
  await dialogOf(page).getByRole('button', { name: 'Force open' }).click();
  await expect.poll(() => ask('Hi').catch((error: Error) => error.message)).toContain('forced open by an operator');
  expect(complaints).toEqual([]);
});
