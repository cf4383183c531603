import { expect } from 'vitest';
import { ToolUnavailableError } from '../index.ts';

/** How a call was rejected; fails where it was not. */
export const rejectionOf = (call: Promise<unknown>): Promise<ToolUnavailableError> =>
  call.then(
    () => expect.unreachable(),
    (error) => {
      expect(error).toBeInstanceOf(ToolUnavailableError);
      return error;
    },
  );
