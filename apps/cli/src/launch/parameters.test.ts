import { expect, test } from 'vitest';

import { parseAssignment } from './parameters.ts';

const cases: [text: string, name: string, value: unknown][] = [
  ['name=Ada', 'name', 'Ada'],
  ['name=', 'name', ''],
  ['n=3', 'n', 3],
  ['n=-1.5', 'n', -1.5],
  ['on=true', 'on', true],
  ['none=null', 'none', null],
  ['list=[1,"a"]', 'list', [1, 'a']],
  ['url=https://x/?a=b', 'url', 'https://x/?a=b'],
  ['text="3"', 'text', '3'],
  ['text:="3"', 'text', '3'],
  ['o:={"a":1}', 'o', { a: 1 }],
  ['id=12345678901234567890', 'id', '12345678901234567890'],
  ['lines=a\nb', 'lines', 'a\nb'],
  ['broken={', 'broken', '{'],
  ['a:b=1', 'a:b', 1],
];

test.each(cases)('--param %j', (text, name, value) => {
  expect(parseAssignment('--param', text)).toEqual([name, value]);
});

test.each(['name', '=value', ':=1', 'o:={', ''])('--param %j is refused', (text) => {
  expect(() => parseAssignment('--param', text)).toThrow(/^--param/);
});
