/** The tool that every contestant calls, and the name that it goes by. */
export const TOOL = 'web_search';

/** The tools of a whole session. */
export const TOOLS: readonly string[] = Array.from({ length: 20 }, (_, index) => `tool_${index + 1}`);

/** Does nothing, so that what is left is the cost of whoever calls it. */
export const tool = async (input: number): Promise<number> => input;

/** Ready-made, because an error's stack costs more than anything that is measured here. */
export const OUTAGE = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });

/** The tool while it is down. */
export const brokenTool = async (_input: number): Promise<number> => {
  throw OUTAGE;
};

/** Calls what rejects, as an agent's loop does: the error is caught and looked at no further. */
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
/** More than anybody reaches. */
export const NEVER = 1_000_000_000;

/** A tool that is told to fail by 0. */
export const failsAtZero = async (input: number): Promise<number> => {
  if (input === 0) throw OUTAGE;
  return input;
};
