// Two conversations at once, by one guarded tool, where the platform has `node:async_hooks`.
import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';

const box = createBreakerbox({ agent: 'edge' });
const search = guard(currentSession, 'search', async () => currentSession().id);
const answer = (id) => withSession(box.session({ id }), () => search());
export const seen = Promise.all(['one', 'other'].map(answer));
