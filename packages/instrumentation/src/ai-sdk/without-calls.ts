import { isObject } from '@breakerbox/core/internal';
import { overlay } from '../overlay.ts';
import type { AiModel } from './guard-ai-models.ts';
import type { AiPart, AiResult } from './model-parts.ts';

/**
 * D6: the model of a last turn. Some models call tools although the tool choice is `none`. AI SDK 7 then throws a `ToolChoiceViolationError`, and
 * the results of the whole run are lost. Mastra goes on to the step cap. So such calls are left out of the answer.
 */
export const withoutCalls = <Model extends object>(model: Model): Model => {
  const asked = model as unknown as AiModel;
  const doGenerate = async (options: never): Promise<AiResult> => {
    const answer = (await asked.doGenerate(options)) as AiResult;
    // Mastra's models give a stream here too, and Mastra reads that one.
    return { ...stopped(answer), content: answer.content.filter(isSaid), ...('stream' in answer && said(answer)) };
  };
  const doStream = async (options: never): Promise<object> => {
    const answer = await asked.doStream(options);
    return { ...answer, ...said(answer) };
  };
  return overlay(
    model,
    new Map<string, unknown>([
      ['doGenerate', doGenerate],
      ['doStream', doStream],
    ]),
  );
};

const said = ({ stream }: { readonly stream?: unknown }): { readonly stream: ReadableStream<AiPart> } => {
  const transform = (part: AiPart, controller: TransformStreamDefaultController<AiPart>): void =>
    void (isSaid(part) && controller.enqueue(stopped(part)));
  return { stream: (stream as ReadableStream<AiPart>).pipeThrough(new TransformStream({ transform })) };
};

/** All parts of calls, and what a provider says of calls that it runs itself, begin with `tool-`. */
const isSaid = ({ type }: { readonly type: string }): boolean => !type.startsWith('tool-');

const stopped = <Ended extends Pick<AiPart, 'finishReason'>>(ended: Ended): Ended => {
  const { finishReason: reason } = ended;
  if (reason === 'tool-calls') return { ...ended, finishReason: 'stop' };
  if (!isObject(reason) || reason.unified !== 'tool-calls') return ended;
  return { ...ended, finishReason: { ...reason, unified: 'stop' } };
};
