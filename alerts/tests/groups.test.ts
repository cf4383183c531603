import { METRIC } from '@breakerbox/core';
import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const FILES = ['read', 'write', 'list'];
const GROUP = 'group:files';
const RUNBOOK = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCircuitOpen.md';

const withGroup = (agent = 'a', others: readonly string[] = []): SimulatedProcess =>
  new SimulatedProcess({ agent, tools: [...FILES, ...others, GROUP] });

describe.concurrent.each([15, 60])('a group, every %i s', (interval) => {
  it('C13: fires one BreakerboxCircuitOpen under its own name, and none for its tools', async () => {
    const one = withGroup('a', ['calculator']);
    await run({
      interval,
      of: ['CircuitOpen', 'CircuitFlapping', 'ToolErrorRateHigh', 'CorrelatedOpenings'],
      lasts: 3600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        const isOut = now >= 605 && now < 2405;
        if (now % 20 === 0 && !isOut) for (const tool of FILES) one.call(tool, 'success');
        // The tools fail in turn. One of them opened by itself a moment before.
        if (now === 600) one.open(now, 'read');
        if (now === 604) for (const tool of ['write', 'list']) one.call(tool, 'network');
        if (now === 605) one.openGroup(now, GROUP, ['read']);
        if (isOut && now % 20 === 0) for (const tool of FILES) one.skip(tool, 1, 'group_open');
        // Sessions probe by steps, and often: one tool probes for the whole group.
        if (isOut && now % 60 === 30) one.probeGroup(GROUP, FILES[(now / 30) % 3] ?? 'read', 'network');
        if (now === 2405) one.probeGroup(GROUP, 'read', 'success');
        if (now % 20 === 0) one.call('calculator', 'success');
      },
      firing: [{ alert: 'CircuitOpen', after: 900, by: 980 + 2 * interval, until: 2404, gone: 2600 + 2 * interval }],
      exactly: [
        {
          at: 1800,
          alert: 'CircuitOpen',
          alerts: [
            {
              exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: GROUP, severity: 'warning' },
              exp_annotations: {
                summary: 'Tools of agent a have been out of use for 5 minutes, short gaps aside',
                description:
                  '1 circuit(s) of tool group:files of agent a (job fleet) are open, probing without success, or forced open by hand, or were within the last 2 minutes; last opened with errors of category network. Calls to the tool are skipped. A name that begins with group: is the circuit of a group: calls to all tools of the group are skipped. If no circuit of the tool is open, calls are skipped for their keys, such as hosts.',
                runbook_url: RUNBOOK,
                dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=group%3Afiles',
              },
            },
          ],
        },
      ],
    });
  });

  it('hides no tool that fails often, if it opens and closes at once', async () => {
    const one = withGroup();
    await run({
      interval,
      of: ['ToolErrorRateHigh'],
      lasts: 3600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now % 10 === 0) one.call('read', now % 20 === 0 ? 'server' : 'success');
        // Every twenty minutes the circuit of the group is open for one minute.
        if (now % 1200 === 605) one.openGroup(now, GROUP, []);
        if (now % 1200 === 630) one.skip('read', 3, 'group_open');
        if (now % 1200 === 665) one.probeGroup(GROUP, 'read', 'success');
      },
      firing: [{ alert: 'ToolErrorRateHigh', after: 600, by: 960 }],
    });
  });

  it.each([
    ['and the series ends', undefined, false],
    ['and 0', 0, false],
    ['and the series ends, and the process restarts', undefined, true],
  ] as const)(
    'counts as one opening for BreakerboxCorrelatedOpenings; the opening of its tool is taken back, %s',
    async (_, withdrawn, restarts) => {
      const one = withGroup('a', ['search']);
      await run({
        interval,
        of: ['CorrelatedOpenings'],
        lasts: 1800,
        processes: [one],
        second: (now) => {
          if (now === 0) one.begin();
          // Prometheus has already scraped the opening of the tool.
          if (now === 605) one.open(now, 'read');
          if (now === 665) one.openGroup(now, GROUP, ['read'], 'network', withdrawn);
          if (now === 700) one.open(now, 'search');
          if (restarts && now === 790) one.start();
          if (restarts && now === 791) one.begin();
        },
      });
    },
  );

  it('counts together with two tools outside the group', async () => {
    const one = withGroup('a', ['search', 'fetch']);
    await run({
      interval,
      of: ['CorrelatedOpenings'],
      lasts: 900,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 605) one.open(now, 'read');
        if (now === 640) one.openGroup(now, GROUP, ['read']);
        if (now === 660) one.open(now, 'search');
        if (now === 665) one.open(now, 'fetch');
      },
      firing: [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 665, by: 665 + 2 * interval }],
    });
  });

  it('counts a tool again that opens by itself after its opening was taken back', async () => {
    const one = withGroup('a', ['search', 'fetch']);
    await run({
      interval,
      of: ['CorrelatedOpenings'],
      lasts: 1200,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 605) one.open(now, 'read', 'timeout');
        if (now === 640) one.openGroup(now, GROUP, ['read'], 'timeout');
        if (now === 760) one.probeGroup(GROUP, 'read', 'success');
        for (const [index, tool] of ['read', 'search', 'fetch'].entries())
          if (now === 800 + 10 * index) one.open(now, tool, 'server');
      },
      firing: [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 820, by: 820 + 2 * interval }],
    });
  });
});

it.concurrent(`${METRIC.openedTime.prometheus} of 0 is not an opening, even if other circuits are open`, async () => {
  const one = withGroup();
  await run({
    interval: 60,
    of: ['CorrelatedOpenings'],
    lasts: 900,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin();
      for (const tool of FILES) if (now === 10) one.open(0, tool);
    },
  });
});
