import { eventStream, type ScriptedApi, serveOnLoopback } from './loopback.ts';
import { playScript, type ScriptedStep, type Turn } from './script.ts';

/** Gemini's `generateContent` and `streamGenerateContent`; `url` is for `GOOGLE_GEMINI_BASE_URL`. */
export const startGeminiApi = async (steps: readonly ScriptedStep[]): Promise<ScriptedApi> => {
  const nextTurn = playScript(steps);
  let heard: readonly string[] = [];

  const { url, stop } = await serveOnLoopback(({ path, body }) => {
    const [, model = '', method] = /\/models\/([^/:]+):(\w+)/.exec(path) ?? [];
    if (method !== 'generateContent' && method !== 'streamGenerateContent') {
      return Response.json(
        { error: { code: 404, message: `no such path: ${path}`, status: 'NOT_FOUND' } },
        { status: 404 },
      );
    }
    heard = resultsIn(JSON.parse(body) as GenerateRequest);
    const answer = answerOf(nextTurn(), model);
    return method === 'generateContent' ? Response.json(answer) : eventStream([answer]);
  });
  return { url, heard: () => heard, stop };
};

interface GenerateRequest {
  readonly contents: readonly {
    readonly parts?: readonly { readonly functionResponse?: { readonly response?: Record<string, unknown> } }[];
  }[];
}

const resultsIn = ({ contents }: GenerateRequest): readonly string[] =>
  contents.flatMap(({ parts = [] }) =>
    parts.flatMap(({ functionResponse }) => (functionResponse ? [textOf(functionResponse.response)] : [])),
  );

/** The API takes objects only: clients put other values into `{ result }`. */
const textOf = (response: Record<string, unknown> | undefined): string =>
  typeof response?.result === 'string' ? response.result : JSON.stringify(response);

const answerOf = ({ text, calls }: Turn, model: string) => ({
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [
          ...(text === '' ? [] : [{ text }]),
          ...calls.map(({ id, tool, input }) => ({ functionCall: { id, name: tool, args: input } })),
        ],
      },
      finishReason: 'STOP',
    },
  ],
  modelVersion: model,
  responseId: 'response-1',
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
