/** The tool that every contestant calls, and its name. */
export const TOOL = 'web_search';

/** The tools of a whole session. */
export const TOOLS: readonly string[] = Array.from({ length: 20 }, (_, index) => `tool_${index + 1}`);

/** Does nothing, so that only the cost of the breaker is left. */
export const tool = async (input: number): Promise<number> => input;

/** Made once, because an error's stack costs more than anything that is measured here. */
export const OUTAGE = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });

/** The tool while it is down. */
export const brokenTool = async (_input: number): Promise<number> => {
  throw OUTAGE;
};

/** Calls a function that rejects, as an agent's loop does: it catches the error and does not read it. */
export const caught =
  (call: () => Promise<unknown>): (() => Promise<unknown>) =>
  async () => {
    try {
      return await call();
    } catch (error) {
      return error;
    }
  };

/** Longer than any run. */
export const HOUR_MS = 3_600_000;
/** More than any run reaches. */
export const NEVER = 1_000_000_000;

/** A tool that fails if its input is 0. */
export const failsAtZero = async (input: number): Promise<number> => {
  if (input === 0) throw OUTAGE;
  return input;
};
