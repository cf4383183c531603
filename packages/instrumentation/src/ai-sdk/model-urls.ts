/** The addresses of files that a model reads by itself, by media type. */
export type AiUrls = Readonly<Record<string, readonly RegExp[]>>;

/** The addresses that all models read by themselves. The AI SDK downloads the files of others before it calls a model. */
export const commonUrls = (all: readonly (AiUrls | PromiseLike<AiUrls>)[]): AiUrls | Promise<AiUrls> => {
  const [only] = all;
  if (all.length === 1) return only as AiUrls;
  // A model whose addresses cannot be read reads none: the SDK then downloads the files.
  return Promise.allSettled(all).then((known) =>
    known.map((one) => (one.status === 'fulfilled' ? one.value : {})).reduce(common),
  );
};

const common = (one: AiUrls, other: AiUrls): AiUrls =>
  Object.fromEntries(
    Object.entries(one).flatMap(([type, patterns]) => {
      const others = Object.entries(other).flatMap(([key, some]) => (covers(key, type) ? some : []));
      const shared = patterns.filter((pattern) => others.some((two) => String(two) === String(pattern)));
      return shared.length === 0 ? [] : [[type, shared]];
    }),
  );

/** Whether a media type such as `image/*` includes another one. */
const covers = (wide: string, type: string): boolean =>
  wide === type || wide === '*' || wide === '*/*' || (wide.endsWith('/*') && type.startsWith(wide.slice(0, -1)));
