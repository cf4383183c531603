import { functionGiven, type OptionCheck, show } from '../options.ts';
import { groupOf, type NamedModel } from './candidates.ts';

/** A model with the name `PROVIDER/MODEL`, each as it is written, and the group of its provider and key (L2). */
export const namedModel = <Model>(model: Model, name: string, key: string | undefined): NamedModel<Model> => {
  const [provider = name, ...rest] = name.split('/');
  const modelId = rest.length === 0 ? name : rest.join('/');
  return { model, name, provider, modelId, group: groupOf(provider, modelId, key), key };
};

type Entry = Readonly<Record<string, unknown>>;

const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Checks a list of entries: their names and keys, and what `isModel` says of each. `form` shows how an entry is written. */
export const modelEntries =
  (form: string, isModel: (entry: Entry) => boolean, needsName: boolean): OptionCheck =>
  (value) => {
    if (!Array.isArray(value)) return `is ${show(value)}. Set an array of ${form}.`;
    const at = value.findIndex((one) => {
      const entry = (one ?? {}) as Entry;
      const { name, key } = entry;
      const isNamed = name === undefined ? !needsName : isName(name);
      return !isNamed || !(key === undefined || isName(key)) || !isModel(entry);
    });
    return at < 0 ? undefined : `has no valid model at ${at}. Give ${form}, and name and key only as strings.`;
  };

/** Whether an object has these methods. */
export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  value !== null && value !== undefined && names.every((name) => functionGiven((value as Entry)[name]) === undefined);
