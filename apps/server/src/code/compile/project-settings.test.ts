import { describe, expect, test } from 'vitest';

import { readProjectSettings } from './project-settings.ts';

const accepted: [name: string, text: string | undefined, options: object][] = [
  ['no file', undefined, {}],
  ['an empty file', '', {}],
  [
    'checking options',
    '{"compilerOptions":{"strict":true,"noUnusedLocals":false}}',
    { strict: true, noUnusedLocals: false },
  ],
  [
    'comments and trailing commas',
    '// a\n{ "compilerOptions": { /* b */ "strict": true, }, }',
    { strict: true },
  ],
  ['a byte order mark', '\uFEFF{"compilerOptions":{"strict":true}}', { strict: true }],
  [
    'options that mean nothing here',
    '{"compilerOptions":{"target":"es5","outDir":"./dist","module":"commonjs"},"include":["src/**/*"]}',
    {},
  ],
  [
    'empty lists of what is refused',
    '{"references":[],"compilerOptions":{"types":[],"paths":{},"plugins":[]}}',
    {},
  ],
  [
    'libraries of the language, which are those of the engine',
    '{"compilerOptions":{"lib":["ES2022","esnext.disposable"],"target":"es2020"}}',
    {},
  ],
  [
    'jsx with a function of one’s own',
    '{"compilerOptions":{"jsx":"react","jsxFactory":"ui.h"}}',
    { jsx: 'react', jsxFactory: 'ui.h' },
  ],
];

const refused: [name: string, text: string, line: string][] = [
  [
    'extends',
    '{\n  "extends": "../base.json"\n}',
    'tsconfig.json(2,3): error TS5102: "extends" cannot be used',
  ],
  [
    'references',
    '{"references":[{"path":"../b"}]}',
    'tsconfig.json(1,2): error TS5102: "references" cannot be used',
  ],
  ['plugins', '{"compilerOptions":{"plugins":[{"name":"x"}]}}', '"plugins" cannot be used'],
  ['types', '{"compilerOptions":{"types":["node"]}}', '"types" cannot be used'],
  ['typeRoots', '{"compilerOptions":{"typeRoots":["/usr/lib"]}}', '"typeRoots" cannot be used'],
  ['paths', '{"compilerOptions":{"paths":{"*":["../../*"]}}}', '"paths" cannot be used'],
  [
    'metadata',
    '{"compilerOptions":{"emitDecoratorMetadata":true}}',
    '"emitDecoratorMetadata" cannot be used',
  ],
  [
    'a folder above',
    '{"compilerOptions":{"rootDir":"src/../.."}}',
    'tsconfig.json(1,31): error TS5090: "src/../.." is outside the project',
  ],
  [
    'a file above',
    '{"files":["a.ts","../b.ts"]}',
    'tsconfig.json(1,18): error TS5090: "../b.ts" is outside the project',
  ],
  ['a place of the machine', '{"include":["/etc"]}', '"/etc" is outside the project'],
  [
    'a library of browsers',
    '{"compilerOptions":{"lib":["dom"]}}',
    '"lib" can only name libraries of the language',
  ],
  [
    'a library by a path',
    '{"compilerOptions":{"lib":["../es5"]}}',
    '"lib" can only name libraries of the language',
  ],
  ['jsx of a package', '{"compilerOptions":{"jsx":"react-jsx"}}', '"jsx" can only be "react"'],
  [
    'code for a name',
    '{"compilerOptions":{"jsxFactory":"a();b"}}',
    '"jsxFactory" must be the name of a function',
  ],
  ['a switch that is a text', '{"compilerOptions":{"strict":"yes"}}', '"strict" must be true or false'],
  ['an unknown option', '{"compilerOptions":{"strickt":true}}', 'unknown compiler option "strickt"'],
  ['what is not JSON', '{"compilerOptions":', 'not JSON'],
  ['a list', '[]', 'must be an object'],
  ['deep nesting', '['.repeat(100_000), 'nested too deeply'],
  ['a huge file', `{"x":"${'x'.repeat(300_000)}"}`, 'larger than 256 KB'],
];

describe('a tsconfig.json', () => {
  test.for(accepted)('may have %s', ([, text, options]) => {
    expect(readProjectSettings(text)).toEqual({ ok: true, settings: { options } });
  });

  test.for(refused)('may not have %s', ([, text, line]) => {
    const result = readProjectSettings(text);
    expect(result.ok ? '' : result.errors.join('\n')).toContain(line);
  });

  const refusedAtOnce: [name: string, text: string, line: string][] = [
    ['spaces', `{"compilerOptions":{"a${' '.repeat(200_000)}b":1}}`, 'unknown compiler option "a '],
    [
      'steps back in a long path',
      `{"include":["${'a'.repeat(120_000)}/${'a/../'.repeat(24_000)}"]}`,
      'a path of more than 1024 characters',
    ],
  ];

  test.for(refusedAtOnce)('of many %s stops nobody', { timeout: 5000 }, ([, text, line]) => {
    const result = readProjectSettings(text);
    expect(result.ok ? '' : result.errors.join('\n')).toContain(line);
  });
});
