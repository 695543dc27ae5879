import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

import { requireTypeScript } from './require-typescript.ts';

it('takes the TypeScript of this release and names any other', () => {
  requireTypeScript();
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-typescript-'));
  const file = path.join(folder, 'package.json');
  writeFileSync(file, '{\n  "name": "typescript",\n  "version": "7.1.0"\n}');
  expect(() => requireTypeScript(file)).toThrow(
    /^typescript 7\.1\.0 is installed, but this release needs 7\.0/,
  );
  rmSync(folder, { recursive: true });
});
