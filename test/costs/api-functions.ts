import { readdirSync, readFileSync } from 'node:fs';

/** The exported functions and classes of a package, by its API reports: `entry name`. */
export const apiFunctions = (name: string): readonly string[] => {
  const folder = new URL(`../../packages/${name}/api/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.api.md'))
    .flatMap((file) => {
      const exported = readFileSync(new URL(file, folder), 'utf8').matchAll(
        /^export (?:declare )?(?:function|const|class) (?<name>\w+)/gm,
      );
      return [...new Set(Array.from(exported, ({ groups }) => `${file.replace('.api.md', '')} ${groups?.name}`))];
    });
};
