/** What the recipes' readers have: a logger, a function that reads pages, and the calls of frameworks that are not installed here. */
import { z } from 'zod';

export { createBreakerbox } from '@breakerbox/core';
export { guard } from '@breakerbox/instrumentation';
export { z } from 'zod';

const ignore = (_fields: object, _message: string): void => {};
export const log = { warn: ignore, error: ignore };
export const readPage = async ({ url }: { url: string }, { signal }: { signal: AbortSignal }): Promise<string> => {
  const response = await fetch(url, { signal });
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return response.text();
};
export const toolDefinition = (_definition: object) => ({ server: <T>(run: T): T => run });
export const createTool = <T>(definition: T): T => definition;
export const tool = Object.assign(<T>(definition: T): T => definition, { schema: z });
export const ai = { defineTool: <T>(_definition: object, run: T): T => run };
export const parameters = z.object({ url: z.string() });
