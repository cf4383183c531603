import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

describe.concurrent.each(INTERVALS)('BreakerboxCircuitOpen, every %i s', (interval) => {
  const of = among(interval, 'CircuitOpen');

  it('fires after 5 minutes and half of the gap, and resolves half of the gap and two minutes after closing', async () => {
    const one = new SimulatedProcess({ tools: ['t', 'other'] });
    await run({
      interval,
      of,
      lasts: 1200,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 120) one.open(now, 't');
        if (now > 120 && now < 720 && now % 60 === 0) one.probe('t', 'network');
        if (now === 720) one.probe('t', 'success');
        if (now % 10 === 0) one.call('other', 'success');
      },
      firing: [{ alert: 'CircuitOpen', after: 480, by: 495 + 2 * interval, until: 830, gone: 915 + 2 * interval }],
    });
  });

  it('is silent about an outage of four and a half minutes', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 900,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 120) one.open(now, 't');
        if (now === 390) one.probe('t', 'success');
      },
    });
  });

  it('continues across missed scrapes, and half a minute between two sessions', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 1) one.open(now, 't');
        if (now === 300) one.end(1, { t: 'open' });
        if (now === 301) one.begin();
        if (now === 330) one.open(now, 't');
      },
      missed: (now) => now === 120 || now === 420,
      firing: [{ alert: 'CircuitOpen', after: 300, by: 376 + 3 * interval }],
    });
  });

  it('C14: fires when nine of ten calls are skipped for their keys, though the circuit of the tool is closed', async () => {
    const some = new SimulatedProcess({ agent: 'some' });
    const most = new SimulatedProcess({ agent: 'most' });
    await run({
      interval,
      of,
      lasts: 1500,
      processes: [some, most],
      second: (now) => {
        if (now === 0) for (const one of [some, most]) one.begin();
        if (now < 60 || now >= 900 || now % 10 !== 0) return;
        most.skip('t', 1, 'key_open');
        some.skip('t', 4, 'key_open');
        some.call('t', 'success');
      },
      firing: [{ alert: 'CircuitOpen', after: 420, by: 540 + 2 * interval, until: 900, gone: 1420 }],
    });
  });

  it('is silent when the process restarts or ends first', async () => {
    const restarted = new SimulatedProcess({ agent: 'restarted' });
    const gone = new SimulatedProcess({ agent: 'gone' });
    await run({
      interval,
      of,
      lasts: 900,
      processes: [restarted, gone],
      second: (now) => {
        if (now === 0) for (const one of [restarted, gone]) one.begin();
        if (now === 60) for (const one of [restarted, gone]) one.open(now, 't');
        if (now === 240) restarted.start();
        if (now === 260) gone.stop();
        if (now === 270) restarted.begin();
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxCircuitOpen in a fleet, every %i s', (interval) => {
  it('is silent when 500 sessions always have some circuit open, and fires when they have many', async () => {
    const chance = new SimulatedProcess({ agent: 'chance' });
    const dead = new SimulatedProcess({ agent: 'dead' });
    await run({
      interval,
      of: ['CircuitOpen'],
      lasts: 900,
      processes: [chance, dead],
      second: (now) => {
        if (now === 0) for (const one of [chance, dead]) one.begin(500);
        // Each of the 3 open circuits closes after a minute, and another one opens.
        if (now % 60 === 10) {
          if (now > 10) chance.probe('t', 'success', 3);
          chance.open(now, 't', 'network', 3);
        }
        if (now === 10) dead.open(now, 't', 'network', 60);
      },
      firing: [{ alert: 'CircuitOpen', after: 310, by: 390 + 2 * interval }],
    });
  });

  it('is one alert when the tool works for a minute and a half between two outages', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['CircuitOpen'],
      lasts: 3600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        const turn = now % 480;
        if (turn === 90) one.open(now, 't', 'server');
        else if (turn > 90 && turn % 60 === 0) one.probe('t', 'server');
        else if (turn === 0 && now > 0) one.probe('t', 'success');
      },
      firing: [{ alert: 'CircuitOpen', after: 390, by: 960 }],
    });
  });

  it('is silent when the process that had it open for a minute pushed, and was replaced', async () => {
    const [old, fresh] = [new SimulatedProcess({ instance: 'old' }), new SimulatedProcess({ instance: 'new' })];
    fresh.stop();
    await run({
      interval,
      of: ['CircuitOpen'],
      lasts: 1500,
      pushed: true,
      processes: [old, fresh],
      second: (now) => {
        if (now === 0) old.begin();
        if (now === 605) old.open(now, 't');
        if (now === 675) {
          old.stop();
          fresh.start();
          fresh.begin();
        }
      },
    });
  });

  it('counts half open and forced open, adds up instances, and keeps agents apart', async () => {
    const [first, second] = ['1', '2'].map((instance) => new SimulatedProcess({ instance }));
    const other = new SimulatedProcess({ agent: 'b' });
    if (first === undefined || second === undefined) return;
    await run({
      interval,
      of: ['CircuitOpen'],
      lasts: 600,
      processes: [first, second, other],
      second: (now) => {
        if (now === 0) for (const one of [first, second, other]) one.begin(2);
        if (now === 5) {
          first.move('t', 'closed', 'forced_open', 2);
          second.move('t', 'closed', 'half_open');
        }
      },
      exactly: [
        {
          at: 600,
          alert: 'CircuitOpen',
          alerts: [
            {
              exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
              exp_annotations: {
                summary: 'Tools of agent a have been out of use for 5 minutes, short gaps aside',
                description:
                  '3 circuit(s) of tool t of agent a (job fleet) are open, probing without success, or forced open by hand, or were within the last 2 minutes. Calls to the tool are skipped. A name that begins with group: is the circuit of a group: calls to all tools of the group are skipped. If no circuit of the tool is open, calls are skipped for their keys, such as hosts.',
                runbook_url:
                  'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCircuitOpen.md',
                dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
              },
            },
          ],
        },
      ],
      firing: [{ alert: 'CircuitOpen', after: 305, by: 380 + 2 * interval }],
    });
  });

  it('is silent about a tool that is open for a quarter of the time', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['CircuitOpen'],
      lasts: 1800,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now % 240 === 60) one.open(now, 't');
        if (now % 240 === 120) one.probe('t', 'success');
      },
    });
  });
});

it.concurrent('BreakerboxCircuitOpen names no error category if the tool was forced open by hand', async () => {
  const one = new SimulatedProcess();
  await run(
    {
      interval: 15,
      of: ['CircuitOpen'],
      lasts: 900,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 15) one.open(now, 't');
        if (now === 45) one.probe('t', 'success');
        if (now === 75) one.move('t', 'closed', 'forced_open');
      },
      firing: [{ alert: 'CircuitOpen', after: 375, by: 480 }],
      exactly: [
        {
          at: 900,
          alert: 'CircuitOpen',
          alerts: [
            {
              exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
              exp_annotations: {
                summary: 'Tools of agent a have been out of use for 5 minutes, short gaps aside',
                description:
                  '1 circuit(s) of tool t of agent a (job fleet) are open, probing without success, or forced open by hand, or were within the last 2 minutes. Calls to the tool are skipped. A name that begins with group: is the circuit of a group: calls to all tools of the group are skipped. If no circuit of the tool is open, calls are skipped for their keys, such as hosts.',
                runbook_url:
                  'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCircuitOpen.md',
                dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
              },
            },
          ],
        },
      ],
    },
    1,
  );
});

it.concurrent('BreakerboxCircuitOpen says which tool, with which error, and where to look', async () => {
  const one = new SimulatedProcess({ agent: 'research agent', tools: ['web_search'] });
  await run(
    {
      interval: 15,
      of: ['CircuitOpen'],
      lasts: 600,
      processes: [one],
      externalLabels: { grafana_url: 'http://grafana.example' },
      second: (now) => {
        if (now === 0) one.begin();
        // First with a timeout, now with a network error: the newest counts.
        if (now === 15) one.open(now, 'web_search', 'timeout');
        if (now === 45) one.probe('web_search', 'success');
        if (now === 75) one.open(now, 'web_search', 'network');
      },
      firing: [{ alert: 'CircuitOpen', after: 375, by: 480 }],
      exactly: [
        {
          at: 480,
          alert: 'CircuitOpen',
          alerts: [
            {
              exp_labels: {
                job: 'fleet',
                gen_ai_agent_name: 'research agent',
                gen_ai_tool_name: 'web_search',
                severity: 'warning',
              },
              exp_annotations: {
                summary: 'Tools of agent research agent have been out of use for 5 minutes, short gaps aside',
                description:
                  '1 circuit(s) of tool web_search of agent research agent (job fleet) are open, probing without success, or forced open by hand, or were within the last 2 minutes; last opened with errors of category network. Calls to the tool are skipped. A name that begins with group: is the circuit of a group: calls to all tools of the group are skipped. If no circuit of the tool is open, calls are skipped for their keys, such as hosts.',
                runbook_url:
                  'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCircuitOpen.md',
                dashboard_url:
                  'http://grafana.example/d/breakerbox-tool-detail?var-job=fleet&var-agent=research+agent&var-tool=web_search',
              },
            },
          ],
        },
      ],
    },
    1,
  );
});
