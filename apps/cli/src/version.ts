import { createRequire } from 'node:module';

import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Manifest = Compile(Type.Object({ version: Type.String() }));

/** That of the whole release, in the repository and installed. */
export const version: string = Manifest.Parse(
  createRequire(import.meta.url)('../../../package.json'),
).version;
