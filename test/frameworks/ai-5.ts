import { MockLanguageModelV2 } from 'ai-5/test';

/** As a script answers: in the format of AI SDK 6 and 7. */
interface Answers {
  doGenerate(): Promise<{ readonly finishReason: { readonly unified: string } }>;
  doStream(): Promise<{ readonly stream: ReadableStream<Part> }>;
}

interface Part {
  readonly type: string;
  readonly finishReason?: { readonly unified: string };
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const inOldFormat = <Answer extends Partial<Part>>(answer: Answer) =>
  answer.finishReason === undefined ? answer : { ...answer, finishReason: answer.finishReason.unified, usage };

/** The fake model of AI SDK 5, which takes the answers of later versions. */
export class ModelOf5 extends MockLanguageModelV2 {
  constructor({ doGenerate, doStream }: Answers) {
    const convert = () =>
      new TransformStream<Part>({ transform: (part, controller) => controller.enqueue(inOldFormat(part) as Part) });
    super({
      doGenerate: async () => inOldFormat(await doGenerate()),
      doStream: async () => ({ stream: (await doStream()).stream.pipeThrough(convert()) }),
    } as never);
  }
}
