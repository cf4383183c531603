import { isObject } from '@breakerbox/core/internal';
import { overlay } from '../overlay.ts';
import type { AiModel } from './guard-ai-models.ts';
import type { AiPart, AiResult } from './model-parts.ts';

/**
 * D6: the model of a last turn. Some models call tools although the tool choice is `none`. AI SDK 7 then throws a `ToolChoiceViolationError`, and
 * the results of the whole run are lost. So such calls are left out of the answer.
 */
export const withoutCalls = (model: object): object => {
  const asked = model as unknown as AiModel;
  const doGenerate = async (options: never): Promise<AiResult> => {
    const answer = (await asked.doGenerate(options)) as AiResult;
    return { ...stopped(answer), content: answer.content.filter(isSaid) };
  };
  const doStream = async (options: never): Promise<object> => {
    const answer = await asked.doStream(options);
    const said = new TransformStream<AiPart, AiPart>({
      transform: (part, controller) => void (isSaid(part) && controller.enqueue(stopped(part))),
    });
    return { ...answer, stream: (answer.stream as ReadableStream<AiPart>).pipeThrough(said) };
  };
  return overlay(
    model,
    new Map<string, unknown>([
      ['doGenerate', doGenerate],
      ['doStream', doStream],
    ]),
  );
};

/** All parts of calls, and what a provider says of calls that it runs itself, begin with `tool-`. */
const isSaid = ({ type }: { readonly type: string }): boolean => !type.startsWith('tool-');

const stopped = <Ended extends Pick<AiPart, 'finishReason'>>(ended: Ended): Ended => {
  const { finishReason: reason } = ended;
  if (reason === 'tool-calls') return { ...ended, finishReason: 'stop' };
  if (!isObject(reason) || reason.unified !== 'tool-calls') return ended;
  return { ...ended, finishReason: { ...reason, unified: 'stop' } };
};
