import { expect, test } from 'vitest';
import { watchEndpoints } from './endpoint-watch.ts';

test('A7, A8: endpoints come and go with the targets, and one of the same address stays', async () => {
  const followed: string[] = [];
  const watch = watchEndpoints((id) => {
    followed.push(`+${id}`);
    return () => followed.push(`-${id}`);
  });
  const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ url: `unix:/none/${name}.sock` }));
  if (one === undefined || two === undefined || three === undefined) throw new Error('three targets');
  watch.setTargets([one, two]);
  expect((await watch.look()).map(({ status }) => status)).toEqual(['ended', 'ended']);
  watch.setTargets([two, three]);
  expect(followed).toEqual([
    '+unix:/none/one.sock',
    '+unix:/none/two.sock',
    '-unix:/none/one.sock',
    '+unix:/none/three.sock',
  ]);
  expect((await watch.known()).map(({ id, status }) => [id, status])).toEqual([
    ['unix:/none/two.sock', 'ended'],
    ['unix:/none/three.sock', 'ended'],
  ]);
  watch.close();
  expect(followed.slice(4)).toEqual(['-unix:/none/two.sock', '-unix:/none/three.sock']);
});

test('A8: the address that the browser sees has no credentials', async () => {
  const watch = watchEndpoints(() => () => undefined);
  watch.setTargets([{ url: 'http://user:secret@127.0.0.1:1/path?token=secret', token: 'bbx_secret' }]);
  const [endpoint] = await watch.look();
  expect(endpoint).toMatchObject({ id: 'http://127.0.0.1:1', status: 'silent' });
});
