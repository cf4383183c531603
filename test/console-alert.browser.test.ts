/**
 * From an alert to the action (A9): a real agent, Prometheus, Alertmanager, the message that it delivers, the link in it, the console in
 * Chromium, the button, and the alert that resolves.
 */
import { createBreakerbox } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Received, startAlertWatch } from '../packages/demo/src/alert-watch.ts';
import { freePort } from '../packages/demo/src/child.ts';
import { createJournal } from '../packages/demo/src/journal.ts';

import { scrapeTarget } from '../packages/demo/src/metrics-endpoint.ts';
import { startStack } from '../packages/demo/src/stack.ts';
import {
  agentHere,
  dialogOf,
  failTogether,
  hold,
  inChromium,
  newFolder,
  openConsole,
  press,
  useUpBudget,
} from './console/browser.ts';

inChromium('console-alert.browser.test.ts');

/** The rules are 60 times faster here, and a message waits for its group. */
const MESSAGE_MS = 60_000;
const LIMIT_MS = 200_000;

/** The link *Act* of a message in Slack's markup. */
const actLink = (text: string): string => /<([^<>|]+)\|Act>/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

test(
  'A9: a person who has only the messages of alerts brings paused sessions back, and the alerts resolve',
  async () => {
    const telemetry = startTelemetry({ serviceName: 'agents', prometheus: { host: '127.0.0.1', port: 0 } });
    onTestFinished(() => telemetry.shutdown());
    await telemetry.ready;
    const journal = createJournal();
    const watch = await startAlertWatch(journal);
    onTestFinished(() => watch.close());
    const port = await freePort();
    const stack = await startStack({
      metrics: scrapeTarget(telemetry.metricsUrl ?? ''),
      webhookUrl: watch.webhookUrl,
      messageUrl: watch.messageUrl,
      consoleUrl: `http://127.0.0.1:${port}`,
      journal,
      signal: new AbortController().signal,
    });
    onTestFinished(() => stack.stop());
    expect([stack.prometheus.note, stack.alertmanager.note]).toEqual(['', '']);
    const tools = { search: {}, fetch: {}, mail: {} };
    const boxes = ['support & sales', 'research'].map((agent) => createBreakerbox({ agent, tools }));
    const target = await agentHere(await newFolder(), ...boxes);
    const message = (pattern: RegExp): Promise<Received> =>
      vi.waitFor(
        () => {
          const found = watch.messages.find(({ title, text }) => pattern.test(`${title}\n${text}`));
          if (found === undefined) throw new Error(`no message ${pattern} in ${JSON.stringify(watch.messages)}`);
          return found;
        },
        { timeout: MESSAGE_MS, interval: 200 },
      );
    const { page } = await openConsole([target], { port });

    const [paused, spent] = boxes.map((box) => hold(box.session({ id: 'run-1', budget: { failures: 2 } })));
    if (paused === undefined || spent === undefined) throw new Error('two sessions were made');
    failTogether(paused, 'search', 'fetch', 'mail');
    useUpBudget(spent);

    await page.goto(actLink((await message(/SystemicFailure/)).text));
    await page.locator('[data-named]', { hasText: 'support & sales' }).waitFor();
    expect(paused.view().state).toBe('paused_systemic');
    await press(page, 'Confirm recovery');
    await dialogOf(page).getByRole('button', { name: 'Confirm recovery' }).click();
    await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
    expect(paused.view().state).not.toBe('paused_systemic');
    await press(page, 'Close');

    await page.goto(actLink((await message(/BudgetExhausted/)).text));
    await page.locator('[data-named]', { hasText: 'research' }).waitFor();
    await page.locator('[data-named]').getByRole('button', { name: 'Resume' }).click();
    await dialogOf(page).getByRole('button', { name: 'Resume' }).click();
    await dialogOf(page).getByText('Applied by 1 of 1 process').waitFor();
    expect(spent.view().state).toBe('active');

    await message(/^Resolved.*support &amp; sales/);
    await message(/^Resolved.*research/);
  },
  LIMIT_MS,
);
