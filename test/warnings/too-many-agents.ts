import { createBreakerbox } from '@breakerbox/core';

for (let run = 0; run < 210; run += 1)
  createBreakerbox({ agent: `research-agent-${run}` })
    .session()
    .end();
