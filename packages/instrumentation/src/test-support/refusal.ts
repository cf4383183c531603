import { expect } from 'vitest';
import { ToolUnavailableError } from '../index.ts';

/** How a call was refused; fails where it was not. */
export const refusalOf = (call: Promise<unknown>): Promise<ToolUnavailableError> =>
  call.then(
    () => expect.unreachable(),
    (error) => {
      expect(error).toBeInstanceOf(ToolUnavailableError);
      return error;
    },
  );
