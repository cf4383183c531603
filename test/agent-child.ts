import { startTelemetry } from '@breakerbox/telemetry';
import { type AgentOrders, type Message, READY } from './agent-process.ts';
import { startAgent } from './agents.ts';
import { startLimited } from './limited.ts';
import { startMoody } from './moody.ts';
import { startSpeaker } from './speaker.ts';
import { startSpender } from './spender.ts';

/** One agent in a process of its own. The test that started it sends it orders: see agent-process.ts. */
const { agent, job, port, tools, groups, nature } = JSON.parse(process.argv[2] ?? '') as AgentOrders;

const telemetry = startTelemetry({ serviceName: job, prometheus: port === undefined ? false : { port } });
await telemetry.ready;
if (port !== undefined && telemetry.metricsUrl === undefined) throw new Error(`nothing listens on port ${port}`);

/** Enough budget for any outage. Other tests cover sessions that pause because their budget is spent. */
const LONG_RUN = { budget: { failures: 500 }, defaults: { probeAfterSteps: 10 } };

const startWork = async () => {
  if (nature === 'spender') return startSpender(agent);
  if (nature === 'limited') return startLimited(agent);
  if (nature === 'burner') return startLimited(agent, 1);
  if (nature === 'moody') return startMoody(agent);
  if (nature === 'speaker') return startSpeaker(agent);
  const duties = Object.entries(tools ?? {}).map(([tool, url]) => {
    const group = groups?.[tool];
    return [tool, { url, config: () => (group === undefined ? {} : { group }) }] as const;
  });
  return startAgent(agent, Object.fromEntries(duties), { box: LONG_RUN });
};
const work = await startWork();

const leave = async (): Promise<void> => {
  await work.stop();
  await telemetry.shutdown();
  process.exit();
};

process.on('message', (message: Message) => {
  if (message.do === 'stop') void leave();
  else if (message.do === 'heal' && 'heal' in work) work.heal();
  else if (message.do === 'spend' && 'spend' in work) work.spend(message.failures);
  else if (message.do === 'refuse' && 'refuse' in work) work.refuse(message.models);
  else if (message.do === 'resume' && 'resume' in work) work.resume();
  else throw new Error(`${agent} does not know the order ${message.do}`);
});
// The test has ended.
process.on('disconnect', () => process.exit());
process.send?.(READY);
