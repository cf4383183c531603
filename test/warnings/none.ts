/** What is unusual, and no mistake. */

import { createBreakerbox, type Session } from '@breakerbox/core';
import { restore, snapshot } from '@breakerbox/core/snapshot';

const tools = { web_search: { probeAfterSteps: 2 }, read_file: {} };
const box = createBreakerbox({ agent: 'research-agent', tools, budget: { failures: 2 } });

// A server that keeps a conversation between requests, and never ends it.
let kept: unknown;
for (let request = 0; request < 5; request += 1) {
  const session: Session = kept === undefined ? box.session({ id: 'conversation-7' }) : restore(box, kept);
  session.acquire('read_file').settle({ outcome: 'success' });
  kept = JSON.parse(JSON.stringify(snapshot(session)));
}

// Many calls at the same time, and a stream that outlives its session.
const busy = box.session({ id: 'conversation-8' });
const permits = Array.from({ length: 50 }, () => busy.acquire('read_file'));
for (const permit of permits) permit.settle({ outcome: 'success' });
const stream = busy.acquire('read_file');
busy.end();
stream.settle({ outcome: 'success' });

// A tool with a name that is nearly another's, a name that the model made up, and several calls of a tool that is unavailable.
const session = box.session();
session.declare('read_files');
for (let turn = 0; turn < 5; turn += 1) {
  session.acquire('read_files').settle({ outcome: 'success' });
  session.acquire('made_up').settle({ outcome: 'ignored', category: 'invalid_input' });
  for (let call = 0; call < 4; call += 1) {
    const permit = session.acquire('web_search');
    if (permit.decision !== 'skip') permit.settle({ outcome: 'failure', category: 'server' });
  }
  session.step();
}
session.end();
