import { createBreakerbox } from '@breakerbox/core';
const q = process.argv[2];
const fail = { error: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) };
const t = async () => {};
if (q === 'steps-process') { // server: one session per request, process scope, no step()
  const box = createBreakerbox({ agent: 'srv', scope: 'process', tools: { web: { probeAfterSteps: 3 } } });
  let skipped = 0;
  for (let i = 0; i < 500; i++) { const s = box.session(); const p = s.acquire('web'); if (p.decision === 'skip') skipped++; else p.settle(fail); s.end(); }
  console.log('skipped', skipped);
}
if (q === 'same-concurrent') { // two concurrent requests for one conversation
  const box = createBreakerbox({ agent: 'srv', tools: { web: {} } });
  const request = async () => { const s = box.session({ id: 'conv-1' }); await new Promise(r => setTimeout(r, 50)); for (let i = 0; i < 5; i++) { const p = s.acquire('web'); p.settle({ outcome: 'success' }); await new Promise(r => setTimeout(r, 10)); } s.end(); };
  await Promise.all([request(), request()]);
}
if (q === 'same-two-boxes') {
  for (let i = 0; i < 2; i++) { const box = createBreakerbox({ agent: 'srv', tools: { web: {} } }); const s = box.session({ id: 'conv-1' }); s.acquire('web').settle({ outcome: 'success' }); }
}
if (q === 'unsettled-requests') {
  const box = createBreakerbox({ agent: 'srv', scope: 'process', tools: { web: {} } });
  for (let i = 0; i < 500; i++) { const s = box.session(); s.acquire('web'); s.acquire('web'); s.step(); s.end(); }
}
if (q === 'unsettled-10') {
  const box = createBreakerbox({ agent: 'srv', tools: { web: {} } }); const s = box.session();
  for (let i = 0; i < 10; i++) { s.acquire('web'); await new Promise(r => setTimeout(r, 5)); }
  s.end();
}
if (q === 'unsettled-errors') { // settles successes only
  const box = createBreakerbox({ agent: 'srv', tools: { web: {}, calc: {} } }); const s = box.session();
  s.acquire('calc').settle({ outcome: 'success' });
  for (let i = 0; i < 200; i++) { const p = s.acquire('web'); try { throw new Error('down'); } catch {} s.step(); }
  s.end();
}
if (q === 'undeclared-requests') {
  const box = createBreakerbox({ agent: 'srv', scope: 'process', tools: { web_search: {} } });
  for (let i = 0; i < 500; i++) { const s = box.session(); s.acquire('web_serach').settle(fail); s.acquire('web_serach').settle(fail); s.end(); }
}
if (q === 'undeclared-unsettled-typo-one') {
  const box = createBreakerbox({ agent: 'srv', tools: { web_search: {} } });
  const s = box.session(); for (let i = 0; i < 50; i++) { s.acquire('web_serach'); s.step(); } s.end();
}
if (q === 'undeclared-madeup') { // model makes up 203 names in a long session
  const box = createBreakerbox({ agent: 'srv', tools: { web: {} } });
  const s = box.session(); for (let i = 0; i < 206; i++) s.acquire('made_up_' + i).settle({ error: new Error('no such tool') }); s.end();
}
if (q === 'misname-restored') {
  const box = createBreakerbox({ agent: 'srv', tools: { webSearch: { profile: 'fast' } } });
  box.declare('web_search');
  let s = box.session({ id: 'x' }); let snap = s.snapshot();
  for (let i = 0; i < 30; i++) { const r = box.restore(snap); r.acquire('web_search').settle({ outcome: 'success' }); snap = r.snapshot(); }
}
if (q === 'misname-undeclared') { // typo in config, tool called by hand, 2 calls/session
  const box = createBreakerbox({ agent: 'srv', tools: { webSearch: { profile: 'fast' } } });
  const s = box.session(); for (let i = 0; i < 2; i++) s.acquire('web_search').settle(fail); s.end();
}
if (q === 'nosteps-restored') {
  const box = createBreakerbox({ agent: 'srv', tools: { web: { probeAfterSteps: 3 } } });
  let s = box.session({ id: 'x' }); for (let i = 0; i < 3; i++) s.acquire('web').settle(fail);
  let snap = JSON.parse(JSON.stringify(s.snapshot())); let n = 0;
  for (let i = 0; i < 100; i++) { const r = box.restore(snap); const p = r.acquire('web'); if (p.decision === 'skip') n++; snap = JSON.parse(JSON.stringify(r.snapshot())); r.end(); }
  console.log('skipped', n);
}
if (q === 'nosteps-group') {
  const box = createBreakerbox({ agent: 'srv', groups: { g: { probeAfterSteps: 3 } }, tools: { a: { group: 'g' }, b: { group: 'g' } } } as never);
  const s = box.session(); for (let i = 0; i < 40; i++) { const p = s.acquire(i % 2 ? 'a' : 'b'); p.settle(fail); } console.log(s.view().circuits.map((c: any) => [c.tool, c.state])); s.end();
}
if (q === 'nosteps-once-then') { // step() called once at start only
  const box = createBreakerbox({ agent: 'srv', tools: { web: { probeAfterSteps: 3 } } });
  const s = box.session(); s.step(); let n = 0; for (let i = 0; i < 100; i++) { const p = s.acquire('web'); if (p.decision === 'skip') n++; p.settle(fail); } console.log('skipped', n); s.end();
}
