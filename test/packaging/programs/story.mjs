// A run of an agent in small: one tool works, one is down. Gives what the agent saw.
export const story = async ({ createBreakerbox }, { guard, ToolUnavailableError }) => {
  const box = createBreakerbox({ agent: 'newcomer', tools: { read_page: {}, search: {} } });
  const session = box.session({ id: 'conversation-1' });
  const readPage = guard(session, 'read_page', async ({ url }) => `read ${url}`);
  const search = guard(session, 'search', async () => {
    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:2'), { code: 'ECONNREFUSED' });
  });
  const seen = [await readPage({ url: 'the-news' })];
  for (let times = 0; times < 4; times += 1) {
    try {
      await search({ query: `${times}` });
    } catch (error) {
      seen.push(error instanceof ToolUnavailableError ? `refused: ${error.reason}` : error.code);
    }
  }
  session.end();
  return seen;
};

export const say = (data) => process.stdout.write(JSON.stringify(data));
