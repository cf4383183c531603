import { describe, expect, it } from 'vitest';
import { readReturned, readThrown } from './classify.ts';

describe('O2: hostile text', () => {
  const PIECES =
    'request |api error |got 500 |server a b |connection |timed out |failed, |: status |unexpected EOF |tls |HTTP |status |error |a| |E|ERR_|(|in |failed to fetch a|GET /|token |key |not |api plan |quota |1 |Error|AError|x.y.|https://|"<html|certificate |expected '.split(
      '|',
    );
  it.each(PIECES)('O2: classification time is proportional to the text, at worst: %s', (piece) => {
    const began = performance.now();
    readThrown(new Error(piece.repeat(4000)));
    readReturned(piece.repeat(300));
    expect(performance.now() - began).toBeLessThan(1000);
  });
});
