import type { MastraModelConfig } from '@mastra/core/llm';
import { scriptedModel as aiSdkModel } from './ai-sdk.ts';
import type { ScriptedStep } from './script.ts';

/** A model that follows a script, for agents of Mastra: they take those of the AI SDK. */
export interface ScriptedModel {
  readonly model: MastraModelConfig;
  /** The texts of all tool results in the model's last request, in order; what is no text as JSON. */
  heard(): readonly string[];
}

export const scriptedModel = (steps: readonly ScriptedStep[]): ScriptedModel => {
  const { model, heard } = aiSdkModel(steps);
  // Mastra brings its own copy of the SDK's types, which takes no undefined where a property may be left out.
  return { model: model as MastraModelConfig, heard };
};
