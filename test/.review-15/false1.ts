import { createBreakerbox } from '@breakerbox/core';
import { guard, guardAll } from '@breakerbox/instrumentation';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
const q = process.argv[2];
const fail = { error: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) };
const sleep = (ms: number) => new Promise(r => setTimeout(r, ms));
const opt = { toolCallId: '1', messages: [] } as never;
const mk = () => ({ description: 'x', inputSchema: {} as never, execute: async () => 'ok' });
if (q === 'current-two-tools') { // server: both tools exist, guarded once by currentSession
  const box = createBreakerbox({ agent: 'crm', tools: { list_contacts: { profile: 'fast' } } });
  const tools: any = guardTools({ list_contacts: mk(), list_contracts: mk() } as never, currentSession);
  for (const n of ['list_contracts', 'list_contacts']) { const s = box.session(); await withSession(s, () => tools[n].execute({}, opt)); s.end(); }
}
if (q === 'current-mcp') {
  const box = createBreakerbox({ agent: 'a', tools: { search: { profile: 'fast' } } });
  const tools: any = guardTools({ search: mk(), 'mcp__github__search': mk() } as never, currentSession);
  const s = box.session(); await withSession(s, () => tools['mcp__github__search'].execute({}, opt)); s.end();
}
if (q === 'guard-lazy') { // tools guarded one after another, by hand
  const box = createBreakerbox({ agent: 'a', tools: { list_contacts: { profile: 'fast' } } });
  const s = box.session(); const one = guard(s, 'list_contracts', async () => 1); for (let i = 0; i < 3; i++) await one(); s.step();
  for (let i=0;i<20;i++) await one(); 
  s.end();
}
if (q === 'guard-object') { // two guards of one session, both made before
  const box = createBreakerbox({ agent: 'a', tools: { list_contacts: { profile: 'fast' } } });
  const s = box.session(); const t = guardAll(s, { list_contracts: async () => 1, list_contacts: async () => 2 }); await t.list_contracts(); s.end();
}
if (q === 'hand-two') {
  const box = createBreakerbox({ agent: 'a', tools: { list_contacts: { profile: 'fast' }, list_contracts: {} } });
  const s = box.session(); for (let i = 0; i < 30; i++) s.acquire('list_contracts').settle({ outcome: 'success' }); s.end();
}
if (q === 'fanout-abort') { // 25 parallel fetches, client leaves, onAbort ends the session, then the calls reject
  const box = createBreakerbox({ agent: 'a', tools: { web: {} } });
  const s = box.session(); const ac = new AbortController();
  const f = guard(s, 'web', (n: number, { signal }: { signal: AbortSignal }) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))));
  const all = Array.from({ length: 25 }, (_, n) => f(n, { signal: ac.signal }).catch(() => {}));
  ac.signal.addEventListener('abort', () => s.end(), { once: true });
  await sleep(5); s.end(); ac.abort(); await Promise.all(all);
}
if (q === 'background') { // long background jobs started in step 1, later steps
  const box = createBreakerbox({ agent: 'a', tools: { job: {} } });
  const s = box.session(); const job = guard(s, 'job', async (_: number) => { await sleep(300); return 1; });
  const all = [0, 1, 2].map((n) => job(n)); s.step(); await sleep(1); // the model goes on with other things meanwhile
  for (let i = 3; i < 20; i++) { all.push(job(i)); s.step(); }
  await Promise.all(all); s.end();
}
if (q === 'subagents') {
  const box = createBreakerbox({ agent: 'a', tools: { sub: {} } });
  const s = box.session(); const sub = guard(s, 'sub', async () => { const c = box.session(); const g = guard(c, 'sub', async () => 1); await g(); c.end(); return 1; });
  for (let i = 0; i < 5; i++) { await sub(); s.step(); } s.end();
}
if (q === 'resume-chat') { // chat server: session kept in a Map, dropped by LRU without end, then restored from DB
  const box = createBreakerbox({ agent: 'a', tools: { web: {} } });
  const s = box.session({ id: 'c' }); const snap1 = s.snapshot(); s.acquire('web').settle({ outcome: 'success' });
  const r = box.restore(snap1); r.acquire('web').settle({ outcome: 'success' }); r.end(); 
  const r2 = box.session({ id: 'c' }); r2.acquire('web').settle({ outcome: 'success' }); r2.end();
}
if (q === 'same-ended-stream') { // request 1 ended but its stream decides after, request 2 begins
  const box = createBreakerbox({ agent: 'a', tools: { web: {} } });
  const s = box.session({ id: 'c' }); s.acquire('web').settle({ outcome: 'success' }); s.end(); s.acquire('web').settle({ outcome: 'success' });
  const s2 = box.session({ id: 'c' }); s2.acquire('web').settle({ outcome: 'success' }); s2.end();
}
if (q === 'observe') {
  const box = createBreakerbox({ agent: 'a', budget: { rule: 'strict', failures: 2 }, defaults: { mode: 'observe_only' }, tools: { web: {} } });
  const s = box.session(); s.end();
}
if (q === 'group-budget') { // group's circuit opens first
  const box = createBreakerbox({ agent: 'a', budget: { rule: 'strict', failures: 2 }, groups: { g: { failureThreshold: 2 } }, tools: { web: { group: 'g' } } } as never);
  const s = box.session(); for (let i=0;i<2;i++) s.acquire('web').settle(fail); console.log(s.view().state, s.view().circuits.map((c: any)=>[c.tool,c.state])); s.end();
}
if (q === 'time-probe-many') { // cooldown given by defaults, probeAfterSteps by tool
  const box = createBreakerbox({ agent: 'a', defaults: { cooldownMs: 50 }, tools: { web: { probeAfterSteps: 2 } } });
  const s = box.session(); for (let i = 0; i < 60; i++) { const p = s.acquire('web'); p.settle(fail); } s.end();
}
if (q === 'one-turn-20') { // one turn with 30 parallel calls of an open tool; step() comes after
  const box = createBreakerbox({ agent: 'a', tools: { web: { probeAfterSteps: 2 } } });
  const s = box.session(); for (let i = 0; i < 3; i++) s.acquire('web').settle(fail); for (let i = 0; i < 5; i++) s.acquire('web'); s.end();
}
if (q === 'restored-lambda-open') { // lambda: restored with open circuit, one step per invocation, few skips
  const box = createBreakerbox({ agent: 'a', tools: { web: { probeAfterSteps: 3 } } });
  const s = box.session({ id: 'c' }); s.step(); for (let i = 0; i < 3; i++) s.acquire('web').settle(fail); s.step(); 
  const r = box.restore(s.snapshot()); for (let i = 0; i < 6; i++) r.acquire('web'); r.end();
}
if (q === 'otel-late') {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';
  const box = createBreakerbox({ agent: 'a', tools: { web: {} } });
  const s = box.session(); s.acquire('web').settle({ outcome: 'success' }); s.end();
}
