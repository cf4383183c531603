import { describe, it } from 'vitest';
import { INTERVALS, run } from './bench.ts';
import { instances } from './process.ts';

const GPT = 'model:openai/gpt-5';
const CLAUDE = 'model:anthropic/claude';
const of = ['ModelOnFallback', 'ModelsDown'];
const withModels = () => instances(['1'], { tools: ['t', GPT, CLAUDE] });

describe.concurrent.each(INTERVALS)('BreakerboxModelOnFallback, every %i s', (interval) => {
  const alert = 'ModelOnFallback';

  it('L7: fires within 6 minutes of the last answer of the first model, and resolves when it answers again', () => {
    const firing = [{ alert, after: 600, by: 600 + 360, until: 1800, gone: 1800 + 300 + 3 * interval }];
    return run({ interval, of, lasts: 2400, processes: withModels(), firing }, (now, one) => {
      if (now % 10 === 0) one.answer(now < 600 || now > 1800 ? CLAUDE : GPT, CLAUDE);
    });
  });

  it('L7: is silent about a first model that an operator forces open, and fires if it stays silent afterwards', () => {
    const firing = [{ alert, after: 1500, by: 1500 + 360 + 2 * interval }];
    return run({ interval, of, lasts: 2100, processes: withModels(), firing }, (now, one) => {
      if (now === 600) one.move(CLAUDE, 'closed', 'forced_open');
      if (now === 1500) one.move(CLAUDE, 'forced_open', 'closed');
      if (now % 10 !== 0) return;
      one.answer(now < 600 ? CLAUDE : GPT, CLAUDE);
      if (now >= 600 && now < 1500) one.skip(CLAUDE, 1, 'forced_open');
    });
  });

  it('L7: fires for a key that was dead from the start', () => {
    const firing = [{ alert, after: 100, by: 360 + 2 * interval }];
    return run({ interval, of, lasts: 900, processes: withModels(), firing }, (now, one) => {
      if (now >= 100 && now % 30 === 0) one.answer(GPT, CLAUDE);
    });
  });

  it.each(['group:model:anthropic', CLAUDE])(
    'L7: fires after one request, if it has opened %s, and resolves when the first model answers',
    (circuit) => {
      const firing = [{ alert, after: 600, by: 600 + 360, until: 2100, gone: 2100 + 300 + 3 * interval }];
      const processes = instances(['1'], { tools: ['t', GPT, CLAUDE, 'group:model:anthropic'] });
      return run({ interval, of, lasts: 2700, processes, firing }, (now, one) => {
        if (now === 300) one.answer(CLAUDE, CLAUDE);
        if (now === 600) one.open(now, circuit, 'permission');
        if (now === 600) one.answer(GPT, CLAUDE);
        if (now === 2100) one.move(circuit, 'open', 'closed');
        if (now === 2100) one.answer(CLAUDE, CLAUDE);
      });
    },
  );

  it('L7: is silent about a circuit that opens for a moment, and about one that opens for other lists only', () => {
    const processes = instances(['1'], { tools: ['t', GPT, CLAUDE, 'group:model:google'] });
    return run({ interval, of, lasts: 1800, processes }, (now, one) => {
      if (now === 300) one.answer(GPT, CLAUDE);
      if (now === 600) one.open(now, 'group:model:google', 'permission');
      if (now === 600) one.open(now, CLAUDE, 'server');
      if (now === 660) one.move(CLAUDE, 'open', 'closed');
      if (now === 660) one.answer(CLAUDE, CLAUDE);
    });
  });

  it.each([
    ['another key', 'model:openai/gpt-5', 'group:model:openai/b'],
    ['another provider behind the router', 'model:openrouter/openai/gpt-5', 'group:model:openrouter/anthropic'],
  ])('L7: is silent about a first model that is not asked, while a circuit of %s is open', (_, first, group) => {
    const processes = instances(['1'], { tools: ['t', GPT, first, group] });
    return run({ interval, of, lasts: 3600, processes }, (now, one) => {
      if (now === 300) one.answer(GPT, first);
      if (now === 600 || now === 700) one.answer(first, first);
      if (now === 700) one.open(now, group, 'permission');
    });
  });

  it.each([
    ['model:azure.eu/gpt-5', 'group:model:azure.eu'],
    ['model:openrouter/openai/gpt-5', 'group:model:openrouter/openai'],
    ['model:together/openai/gpt-5', 'group:model:together'],
    ['model:claude', 'group:model:claude'],
  ])('L7: fires after one request of %s that has opened %s', (first, group) => {
    const firing = [{ alert, after: 600, by: 600 + 360 }];
    return run(
      { interval, of, lasts: 1200, processes: instances(['1'], { tools: ['t', GPT, first, group] }), firing },
      (now, one) => {
        if (now === 300) one.answer(first, first);
        if (now === 600) one.open(now, group, 'permission');
        if (now === 600) one.answer(GPT, first);
      },
    );
  });

  it('L7: is silent while both answer, about one bad answer, and about a list with another first model', () =>
    run({ interval, of, lasts: 1800, processes: withModels() }, (now, one) => {
      if (now % 60 === 0) one.answer(CLAUDE, CLAUDE);
      if (now % 30 === 0) one.answer(GPT, CLAUDE);
      if (now % 20 === 0) one.answer(GPT, GPT);
    }));
});

describe.concurrent.each(INTERVALS)('BreakerboxModelsDown, every %i s', (interval) => {
  const alert = 'ModelsDown';

  it('L7: fires when no model of a list answers, though another list works, and resolves at an answer', () => {
    const firing = [{ alert, after: 600, by: 600 + 360, until: 1800, gone: 1800 + 300 + 3 * interval }];
    return run({ interval, of, lasts: 2400, processes: withModels(), firing }, (now, one) => {
      if (now % 20 === 0) one.answer(GPT, GPT);
      if (now % 10 !== 0) return;
      if (now < 600 || now > 1800) one.answer(CLAUDE, CLAUDE);
      else one.unanswered(CLAUDE);
    });
  });

  it('L7: is silent about single calls that fail', () =>
    run({ interval, of, lasts: 1800, processes: withModels() }, (now, one) => {
      if (now % 30 === 0) one.answer(CLAUDE, CLAUDE);
      if (now % 60 === 0) one.unanswered(CLAUDE);
    }));
});

const OF = { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: CLAUDE };
const DASHBOARD = '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=model%3Aanthropic%2Fclaude';

describe('texts', () => {
  it('L7: say who answers instead, why, and what to do', () =>
    run(
      {
        interval: 60,
        of,
        lasts: 1200,
        processes: withModels(),
        firing: [{ alert: 'ModelOnFallback', after: 600, by: 1100 }],
        says: [
          {
            at: 1140,
            alert: 'ModelOnFallback',
            labels: { ...OF, severity: 'warning' },
            dashboard: DASHBOARD,
            began: 'Jan 1 00:09 UTC',
            summary: 'a: model:openai/gpt-5 answers for model:anthropic/claude (permission)',
            description:
              'model:anthropic/claude, the first model of agent a (job fleet), has answered nothing for 5 minutes. Other models of its list answer, so users see no error. Check its key, its credit and the status page of its provider. It is probed by real calls, and answers again by itself. To see why and when the next probe is due: breakerbox ctl list.',
          },
        ],
      },
      (now, one) => {
        if (now % 300 === 0 && now >= 600) one.call(CLAUDE, 'permission');
        if (now % 10 === 0) one.answer(now < 600 ? CLAUDE : GPT, CLAUDE);
      },
    ));
  it('L7: say that no model answers', () =>
    run(
      {
        interval: 60,
        of,
        lasts: 1200,
        processes: withModels(),
        firing: [{ alert: 'ModelsDown', after: 600, by: 1100 }],
        says: [
          {
            at: 1140,
            alert: 'ModelsDown',
            labels: { ...OF, severity: 'critical' },
            dashboard: DASHBOARD,
            began: 'Jan 1 00:09 UTC',
            summary: 'a: neither model:anthropic/claude nor another model answers (network)',
            description:
              'Agent a (job fleet) has had no answer of model:anthropic/claude or of the models behind it for 5 minutes. Its runs fail. Check keys, credit and the status pages of the providers, and the way to them. Each model is probed by real calls. To see why each is unavailable and until when: breakerbox ctl list.',
          },
        ],
      },
      (now, one) => {
        if (now % 300 === 0 && now >= 600) one.call(CLAUDE, 'network');
        if (now % 10 !== 0) return;
        if (now < 600) one.answer(CLAUDE, CLAUDE);
        else one.unanswered(CLAUDE);
      },
    ));
});

describe.concurrent.each(INTERVALS.filter((seconds) => seconds > 1))('alerts of tools, every %i s', (interval) => {
  it('L7: none fires for a model, and three models that open together are no correlated failure', () => {
    const models = [GPT, CLAUDE, 'model:google/gemini', 'group:model:openai'];
    return run({ interval, lasts: 1500, processes: instances(['1'], { tools: ['t', ...models] }) }, (now, one) => {
      if (now === 600) for (const model of models) one.open(now, model);
      if (now > 600 && now % 10 === 0) for (const model of models.slice(0, 3)) one.skip(model);
      if (now % 10 === 0) one.call('t', 'success');
    });
  });
});
