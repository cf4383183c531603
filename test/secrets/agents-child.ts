/**
 * Agents of all kinds with planted secrets, in a process of their own. Its command line and environment contain some too.
 * Prints everything that leaves the process through Breakerbox, as JSON: see secrets.test.ts.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import {
  formatPauseReport,
  formatPlanReport,
  formatReport,
  formatStateTable,
  formatSystemicReport,
  report as reportOf,
} from '@breakerbox/core/report';
import { planScope } from '@breakerbox/core/scope';
import { snapshot } from '@breakerbox/core/snapshot';
import { startTelemetry } from '@breakerbox/telemetry';
import { registerBreakerboxMetrics } from '@breakerbox/telemetry/prom-client';
import { Registry } from 'prom-client';
import { EVENT_NAMES } from '../../packages/core/src/events.ts';
import { KINDS } from './kinds.ts';
import { askGuardedModels, type ModelWords } from './models.ts';
import { createGarden, OWN_FAULT, secretOf } from './plants.ts';
import { workOf } from './tools.ts';

/** The output of the child. */
export interface Said {
  /** What left the process, by its way out. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Where secrets were planted. */
  readonly places: readonly string[];
  /** What the models read about their tools, by kind. */
  readonly heard: Readonly<Record<string, readonly string[]>>;
  /** What the users of guarded models got. */
  readonly answers: ModelWords['answers'];
  /** Foreign ports to which the process has connected. */
  readonly ports: readonly (number | undefined)[];
  /** Other rights that Node gives the process. It should have none. */
  readonly rights: readonly string[];
}

/** A mark before the child's own output. Everything else is printed by Breakerbox or OpenTelemetry. */
export const SAID = 'said: ';

const FORMATS = { formatReport, formatStateTable, formatPlanReport, formatPauseReport, formatSystemicReport };

const connected = new Set<number | undefined>();
subscribe('net.client.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  socket.once('connect', () => connected.add(socket.remotePort));
});
subscribe('udp.socket', () => connected.add(undefined));

const said: Record<string, string> = {};
const say = (way: string, text: string): void => {
  said[way] = `${said[way] ?? ''}${text}\n`;
};

/** Keeps a last good result, which then answers instead of a call. Returns what the model would read. */
const serveKept = (session: Session): string => {
  const input = { q: garden.plant('argument of a kept result') };
  session.acquire('read', { input }).settle({ result: garden.plant('kept result') });
  session.control('read', 'forced_open');
  const { route, message } = session.acquire('read', { input });
  if (route?.kind !== 'stale') throw new Error(`the kept result was not served, but ${route?.kind}: ${message}`);
  session.control('read', 'automatic');
  return message;
};

const sayAllOf = (session: Session): void => {
  say('messages', serveKept(session));
  const report = reportOf(session);
  for (const format of Object.values(FORMATS)) say('reports', format(report));
  say('reports', JSON.stringify(report));
  say('snapshots', JSON.stringify(snapshot(session)));
  say('views', JSON.stringify([session.view(), session.peek('search'), session.unavailable()]));
  say('plans', JSON.stringify(planScope(session, [{ name: 'prices', tools: ['search'] }])));
  const input = { q: garden.plant('argument of a permit') };
  const permits = ['search', 'search', 'read'].map((tool) => session.acquire(tool, { input })); // The first call is a probe.
  say('notes', session.note());
  say('messages', permits.map(({ message }) => message).join('\n'));
  say(
    'what a console shows',
    permits.map((permit) => inspect(permit, { depth: 20 }) + JSON.stringify(permit)).join('\n'),
  );
  for (const permit of permits) permit.settle({ outcome: 'ignored' });
  say('what a console shows', inspect(session, { depth: 20, showHidden: true }) + JSON.stringify(session));
};

const listen = (box: Breakerbox): void => {
  box.on('circuit.transition', () => {
    throw new Error(secretOf(OWN_FAULT));
  });
  for (const name of EVENT_NAMES) box.on(name, (event) => say('events', `${name} ${JSON.stringify(event)}`));
};

const garden = createGarden();
const telemetry = startTelemetry({ serviceName: 'secretive', prometheus: { port: 0 } });
const [text, open] = [new Registry(), new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>()];
open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
registerBreakerboxMetrics(text);
registerBreakerboxMetrics(open);

const heard: Record<string, readonly string[]> = {};
for (const [kind, run] of Object.entries(KINDS)) {
  const alternatives = [{ tool: 'read', degradation: 'low' as const }];
  const box = createBreakerbox({
    agent: kind,
    tools: {
      search: { alternatives, serveStaleMs: 60_000 },
      read: { serveStaleMs: 60_000, labelFreshness: true },
      lookup: {},
    },
  });
  listen(box);
  const session = box.session({ id: `run of ${kind}` });
  heard[kind] = await run(session, workOf(kind, garden));
  sayAllOf(session);
  session.resume();
  session.end();
  say('what a console shows', inspect(box, { depth: 20, showHidden: true }));
}

const price = { input: 2, output: 10, currency: 'USD' };
const modelBox = createBreakerbox({
  agent: 'models',
  limits: { tokens: 1_000_000 },
  models: { 'anthropic/ai-up': { price } },
});
listen(modelBox);
const words = await askGuardedModels(modelBox, modelBox.session({ id: 'run of models' }), garden);
const ofModels = boxModels(modelBox).session;
say('messages', words.errors.join('\n'));
say('reports', formatReport(reportOf(ofModels)) + JSON.stringify(reportOf(ofModels)));
say('views', JSON.stringify(ofModels.view()));
say('what a console shows', inspect([modelBox, ofModels], { depth: 20, showHidden: true }));

await telemetry.ready;
say('/metrics', await (await fetch(telemetry.metricsUrl ?? '')).text());
say('prom-client', (await text.metrics()) + (await open.metrics()));
connected.delete(Number(new URL(telemetry.metricsUrl ?? '').port));
await telemetry.shutdown();
const result: Said = {
  outputs: said,
  places: garden.places(),
  heard,
  answers: words.answers,
  ports: [...connected],
  rights: ['fs.write', 'child', 'worker'].filter((right) => process.permission?.has(right) !== false),
};
process.stdout.write(`\n${SAID}${JSON.stringify(result)}\n`);
