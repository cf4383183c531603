import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ScenarioRun, startScenarios } from './scenario-run.ts';
import { BUDGET } from './spender.ts';

/**
 * What alerts people, and what does not: agents in processes of their own, scraped or pushing, and the repository's rules,
 * routes and inhibition in a real Prometheus and a real Alertmanager. All scenarios run side by side, with different agent names: they
 * wait for minutes of the rules, and little else.
 */
vi.setConfig({ maxConcurrency: 20 });

let run: ScenarioRun;
beforeAll(async () => {
  run = await startScenarios();
});
afterAll(() => run?.stop());

/** All expected notifications and all expected inhibitions of all scenarios. */
const expected = { delivered: [] as string[], inhibited: [] as string[], lasting: [] as string[] };

/** Waits until exactly these alerts have been delivered. */
const expectDelivered = (about: RegExp, alerts: readonly string[]) =>
  run.eventually(() => expect(run.delivered(about)).toEqual(alerts.toSorted()));

/** Waits until all of them are resolved. After that, no other alert may have been delivered. */
const endsWith = async (
  about: RegExp,
  delivered: readonly string[],
  inhibitedOf: readonly string[] | (() => readonly string[]) = [],
): Promise<void> => {
  expected.delivered.push(...delivered);
  await run.eventually(() => {
    expect(run.delivered(about, 'resolved')).toEqual(delivered.toSorted());
    expect(run.firing(about)).toEqual([]);
  });
  const inhibited = typeof inhibitedOf === 'function' ? inhibitedOf() : inhibitedOf;
  expected.inhibited.push(...inhibited);
  expect(run.delivered(about)).toEqual(delivered.toSorted());
  expect(run.inhibited(about)).toEqual(inhibited.toSorted());
};

// No second try: it would meet the processes and the notifications of the first one.
describe('alerts that are delivered', { retry: 0 }, () => {
  test.concurrent('no alert for a crash after which the agent starts again', async () => {
    const about = /agent=crash-agent/;
    const docs = await run.serve('docs');
    const start = () => run.start('crash', { agent: 'crash-agent', job: 'crash' }, { docs });
    const first = await start();
    await run.reports('crash', 16);
    await first.kill();
    await start();
    await run.holds(20, () => expect([...run.delivered(about), ...run.firing(about)]).toEqual([]));
    await endsWith(about, []);
  });

  test.concurrent('no alert for a scrape gap, a deployment, and a run of three minutes', async () => {
    const about = /agent=(steady|brief)-agent/;
    const docs = await run.serve('docs');
    const start = (place: string) => run.start(place, { agent: 'steady-agent', job: 'steady' }, { docs });
    const first = await start('steady-1');
    const brief = await run.start('brief', { agent: 'brief-agent', job: 'brief' }, { docs });
    const nothing = () => expect([...run.delivered(about), ...run.firing(about)]).toEqual([]);
    await run.reports('brief', 3);
    await brief.stop();
    await run.reports('steady', 16);
    first.freeze();
    await run.holds(2, nothing);
    first.thaw();
    await run.holds(3, nothing);
    // The new process has started before the old one ends.
    await start('steady-2');
    await first.stop();
    await run.holds(10, nothing);
    await endsWith(about, []);
  });

  test.concurrent('an agent that vanishes after it has reported for long enough, scraped or pushing, raises an alert', async () => {
    const about = /agent=(gone|lost)-agent/;
    const files = await run.serve('files');
    const start = (name: 'gone' | 'lost') => run.start(name, { agent: `${name}-agent`, job: name }, { files });
    const [gone, lost] = await Promise.all([start('gone'), start('lost')]);
    await run.reports('gone', 16);
    await run.reports('lost', 16);
    await Promise.all([gone.kill(), lost.kill()]);
    const absent = [
      'BreakerboxTelemetryAbsent warning agent=gone-agent job=gone',
      'BreakerboxTelemetryAbsent warning agent=lost-agent job=lost',
    ];
    await expectDelivered(about, absent);
    await Promise.all([start('gone'), start('lost')]);
    await endsWith(about, absent);
  });

  test.concurrent('sessions that lose most of their budget, and then all, raise burn and exhaustion, with no burst at the end', async () => {
    const about = /agent=spender-agent/;
    const spender = await run.start('spender', { agent: 'spender-agent', job: 'spender', nature: 'spender' });
    await run.reports('spender');
    const fast = 'BreakerboxBudgetBurnFast critical agent=spender-agent job=spender';
    const exhausted = 'BreakerboxBudgetExhausted critical agent=spender-agent job=spender';
    spender.send({ do: 'spend', failures: BUDGET - 1 });
    await expectDelivered(about, [fast]);
    await run.holds(5, () => expect(run.delivered(about)).toEqual([fast]));
    spender.send({ do: 'spend', failures: BUDGET });
    await expectDelivered(about, [fast, exhausted]);
    spender.send({ do: 'spend', failures: 0 });
    spender.send({ do: 'resume' });
    // The burn adds nothing to what exhaustion says, so it is held back from then on.
    await endsWith(about, [fast, exhausted], [fast]);
  });

  test.concurrent('D7: a run that a limit pauses, though no call fails, sends one warning until the limit is extended', async () => {
    const about = /agent=limited-agent/;
    const limited = await run.start('limited', { agent: 'limited-agent', job: 'limited', nature: 'limited' });
    await run.reports('limited');
    const reached = 'BreakerboxLimitReached warning agent=limited-agent job=limited';
    limited.send({ do: 'spend', failures: 0 });
    await expectDelivered(about, [reached]);
    await run.holds(5, () => expect(run.delivered(about)).toEqual([reached]));
    limited.send({ do: 'resume' });
    await endsWith(about, [reached]);
  });

  test.concurrent('D7: an agent that spends much more than in its hours of the last day sends one warning', async () => {
    const about = /agent=burner-agent/;
    const burner = await run.start('burner', { agent: 'burner-agent', job: 'burner', nature: 'burner' });
    await run.reports('burner');
    expect(run.firing(about)).toEqual([]);
    burner.send({ do: 'spend', failures: 0 });
    const burn = 'BreakerboxSpendBurn warning agent=burner-agent breakerbox_currency=USD job=burner scope=cost';
    await expectDelivered(about, [burn]);
    await run.holds(5, () => expect(run.delivered(about)).toEqual([burn]));
    expected.lasting.push(burn); // It looks at an hour. No test waits for its end.
  });

  test.concurrent('tools that fail together across three processes send one page for the event, and none for each tool', async () => {
    const about = /agent=(desk|mail|news|shop)-agent|tool=search/;
    const search = await run.serve('search');
    const [orders, tickets, stock] = await Promise.all(['orders', 'tickets', 'stock'].map(run.serve));
    if (orders === undefined || tickets === undefined || stock === undefined) throw new Error('no services');
    const [shop] = await Promise.all([
      // Three tools of one agent, each in a process of its own; the third of them pushes.
      run.start('shop-orders', { agent: 'shop-agent', job: 'shop' }, { orders }),
      run.start('shop-tickets', { agent: 'shop-agent', job: 'shop' }, { tickets }),
      run.start('shop-stock', { agent: 'shop-agent', job: 'shop' }, { stock }),
      // The same tool of three agents; the third of them pushes.
      run.start('desk', { agent: 'desk-agent', job: 'desk' }, { search }),
      run.start('mail', { agent: 'mail-agent', job: 'mail' }, { search }),
      run.start('news', { agent: 'news-agent', job: 'news' }, { search }),
    ]);
    for (const job of ['desk', 'mail', 'news', 'shop']) await run.reports(job);
    await search.break({ kind: 'refuse' });
    for (const service of [orders, tickets, stock]) await service.break({ kind: 'unavailable' });
    const correlated = [
      'BreakerboxCorrelatedOpenings critical agent=shop-agent error_type=server job=shop scope=agent',
      'BreakerboxCorrelatedOpenings critical error_type=network scope=fleet tool=search',
    ];
    const single = [
      'BreakerboxCircuitOpen warning agent=desk-agent job=desk tool=search',
      'BreakerboxCircuitOpen warning agent=mail-agent job=mail tool=search',
      'BreakerboxCircuitOpen warning agent=news-agent job=news tool=search',
      'BreakerboxCircuitOpen warning agent=shop-agent job=shop tool=orders',
      'BreakerboxCircuitOpen warning agent=shop-agent job=shop tool=stock',
      'BreakerboxCircuitOpen warning agent=shop-agent job=shop tool=tickets',
    ];
    await expectDelivered(about, correlated);
    await run.eventually(() => expect(run.inhibited(about)).toEqual(single));
    // A process that restarts during the outage raises no alert, and neither does waiting.
    await shop.kill();
    await run.start('shop-orders', { agent: 'shop-agent', job: 'shop' }, { orders });
    await run.holds(5, () => expect(run.delivered(about)).toEqual(correlated));
    for (const service of [search, orders, tickets, stock]) await service.repair();
    await endsWith(about, correlated, single);
  });

  test.concurrent('one unavailable tool sends one warning, and nothing follows when it works again', async () => {
    const about = /agent=lookup-agent/;
    const [lookup, archive] = [await run.serve('lookup'), await run.serve('archive')];
    await run.start('lookup', { agent: 'lookup-agent', job: 'lookup' }, { lookup, archive });
    await run.reports('lookup');
    await lookup.break({ kind: 'refuse' });
    const open = 'BreakerboxCircuitOpen warning agent=lookup-agent job=lookup tool=lookup';
    await expectDelivered(about, [open]);
    await lookup.repair();
    await endsWith(about, [open]);
    // As long as a window still contains the outage.
    await run.holds(16, () => expect(run.delivered(about)).toEqual([open]));
  });

  test.concurrent('an unavailable server of three tools sends one warning for the group, and none for its tools', async () => {
    const about = /agent=library-agent/;
    const [shelf, index, loans] = await Promise.all(['shelf', 'index', 'loans'].map(run.serve));
    if (shelf === undefined || index === undefined || loans === undefined) throw new Error('no services');
    const notes = await run.serve('notes');
    const groups = { shelf: 'books', index: 'books', loans: 'books' };
    const orders = { agent: 'library-agent', job: 'library', groups };
    await run.start('library', orders, { shelf, index, loans, notes });
    await run.reports('library');
    for (const service of [shelf, index, loans]) await service.break({ kind: 'refuse' });
    const open = 'BreakerboxCircuitOpen warning agent=library-agent job=library tool=group:books';
    await expectDelivered(about, [open]);
    // Longer than an alert on failing calls takes.
    await run.holds(12, () => expect(run.delivered(about)).toEqual([open]));
    for (const service of [shelf, index, loans]) await service.repair();
    await endsWith(about, [open]);
  });

  test.concurrent('L7: a dead key that a fallback covers sends a warning within 6 minutes, no model left a page, and tools none', async () => {
    const about = /agent=speaker-agent/;
    const speaker = await run.start('speaker', { agent: 'speaker-agent', job: 'speaker', nature: 'speaker' });
    await run.reports('speaker', 3);
    const of = 'agent=speaker-agent job=speaker tool=model:anthropic/claude';
    const [onFallback, down] = [`BreakerboxModelOnFallback warning ${of}`, `BreakerboxModelsDown critical ${of}`];
    speaker.send({ do: 'refuse', models: 1 });
    await expectDelivered(about, [onFallback]);
    const answers = 'breakerbox_model_answers_total{breakerbox_model_position="primary"}';
    await run.eventually(async () =>
      expect(await run.minutesUntil('alertname="BreakerboxModelOnFallback"', answers)).toBeLessThan(6),
    );
    speaker.send({ do: 'refuse', models: 2 });
    await expectDelivered(about, [onFallback, down]);
    speaker.send({ do: 'refuse', models: 0 });
    // Whether the first is still firing when the second one is sent, and is then held back, depends on the machine.
    await endsWith(about, [onFallback, down], () => run.inhibited(about));
  });

  test.concurrent('tools that fail sometimes, in turns, or unnoticed each send a warning of their own', async () => {
    const about = /agent=moody-agent/;
    const moody = await run.start('moody', { agent: 'moody-agent', job: 'moody', nature: 'moody' });
    const warnings = [
      'BreakerboxToolErrorRateHigh warning agent=moody-agent job=moody tool=shaky',
      'BreakerboxCircuitFlapping warning agent=moody-agent job=moody tool=jumpy',
      'BreakerboxCircuitOpen warning agent=moody-agent job=moody tool=forgotten',
    ];
    // One cause sends one page: the circuit that is open is the one that is not probed.
    const starved = 'BreakerboxProbeStarved warning agent=moody-agent job=moody tool=forgotten';
    await expectDelivered(about, warnings);
    await run.eventually(() => expect(run.inhibited(about)).toEqual([starved]));
    moody.send({ do: 'heal' });
    await endsWith(about, warnings, [starved]);
  });
});

describe('alerts that are not delivered', { retry: 0 }, () => {
  test('no other alert was delivered or inhibited, and all alerts are resolved', async () => {
    const every = /./;
    const ended = (alerts: readonly string[]) => alerts.filter((one) => !expected.lasting.includes(one));
    await run.eventually(() => expect(ended(run.firing(every))).toEqual([]));
    expect(run.delivered(every)).toEqual([...expected.delivered, ...expected.lasting].sort());
    expect(ended(run.delivered(every, 'resolved'))).toEqual(expected.delivered.toSorted());
    expect(run.inhibited(every)).toEqual(expected.inhibited.toSorted());
    // An alert that is held back only later is in both.
    expect(ended(await run.fired())).toEqual([...new Set([...expected.delivered, ...expected.inhibited])].sort());
  });
});
