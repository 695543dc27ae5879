import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkImports } from './check-imports.ts';

type Files = Readonly<Record<string, string>>;

const MANIFESTS: Files = {
  'packages/protocol/package.json': manifest('protocol'),
  'packages/client/package.json': manifest('client'),
  'packages/automation/package.json': manifest('automation'),
  'packages/simulated-phone/package.json': manifest('simulated-phone'),
  'apps/server/package.json': manifest('server', {
    '.': './src/index.ts',
    './client': './src/client.ts',
    './types/*': './src/types/*',
  }),
  'apps/host/package.json': manifest('host'),
  'apps/cli/package.json': manifest('cli'),
  'tests/package.json': manifest('tests', {}),
};

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'check-imports-'));
});

afterEach(() => rmSync(root, { recursive: true }));

function manifest(name: string, exports: Files = { '.': './src/index.ts' }): string {
  return JSON.stringify({ name: `@phalanx/${name}`, exports });
}

function check(files: Files): readonly string[] {
  for (const [path, text] of Object.entries({ ...MANIFESTS, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkImports(root);
}

/** Texts that a message must contain: the location, the import, and the rule. */
const VIOLATIONS: readonly { breaks: string; path: string; code: string; says: string }[] = [
  {
    breaks: 'protocol stands alone',
    path: 'packages/protocol/src/a.ts',
    code: `import type { A } from '@phalanx/automation';`,
    says: `packages/protocol/src/a.ts:1: imports '@phalanx/automation'`,
  },
  {
    breaks: 'automation stands alone',
    path: 'packages/automation/src/a.ts',
    code: `\nexport { A } from '@phalanx/protocol';`,
    says: `packages/automation/src/a.ts:2: imports '@phalanx/protocol'`,
  },
  {
    breaks: 'automation stands alone',
    path: 'packages/automation/src/a.ts',
    code: `import { type A } from '@phalanx/protocol';`,
    says: `packages/automation/src/a.ts:1: imports '@phalanx/protocol'`,
  },
  {
    breaks: 'the simulated phone stands alone',
    path: 'packages/simulated-phone/src/a.ts',
    code: `export type A = import('@phalanx/protocol').A;`,
    says: `packages/simulated-phone/src/a.ts:1: imports '@phalanx/protocol'`,
  },
  {
    breaks: 'only the CLI imports apps',
    path: 'apps/host/src/a.ts',
    code: `import { start } from '@phalanx/server';`,
    says: `apps/host/src/a.ts:1: imports '@phalanx/server'`,
  },
  {
    breaks: 'workspaces by their name',
    path: 'apps/host/src/a.ts',
    code: `import { A } from '../../../packages/protocol/src/ids.ts';`,
    says: `apps/host/src/a.ts:1: imports '../../../packages/protocol/src/ids.ts'`,
  },
  {
    breaks: 'workspaces by their name',
    path: 'apps/cli/src/a.ts',
    code: `export * from '@phalanx/server/src/app.ts';`,
    says: `apps/cli/src/a.ts:1: imports '@phalanx/server/src/app.ts'`,
  },
  {
    breaks: 'rooms import lower rooms',
    path: 'apps/server/src/fleet/devices/a.ts',
    code: `import type { Run } from '../../runs/runs/run.ts';`,
    says: `apps/server/src/fleet/devices/a.ts:1: imports '../../runs/runs/run.ts'`,
  },
  {
    breaks: 'rooms import lower rooms',
    path: 'apps/cli/src/commands/fleet/a.ts',
    code: `import { addRunCommand } from '../runs/run.ts';`,
    says: `apps/cli/src/commands/fleet/a.ts:1: imports '../runs/run.ts'`,
  },
  {
    breaks: 'rooms of the console stand between base and frame',
    path: 'apps/console/src/parts/a.ts',
    code: `import { runQuery } from '../runs/runs/run.tsx';`,
    says: `apps/console/src/parts/a.ts:1: imports '../runs/runs/run.tsx'`,
  },
  {
    breaks: 'rooms of the console stand between base and frame',
    path: 'apps/console/src/runs/runs/a.ts',
    code: `import { Shell } from '../../shell/shell.tsx';`,
    says: `apps/console/src/runs/runs/a.ts:1: imports '../../shell/shell.tsx'`,
  },
  {
    breaks: 'settings are handed in',
    path: 'apps/server/src/storage/db/a.ts',
    code: `import type { ServerConfig } from '../../config.ts';`,
    says: `apps/server/src/storage/db/a.ts:1: imports '../../config.ts'`,
  },
  {
    breaks: 'storage/db, storage/blobs, http/requests know no feature',
    path: 'apps/server/src/http/requests/a.ts',
    code: `import { token } from '../access/token.ts';`,
    says: `apps/server/src/http/requests/a.ts:1: imports '../access/token.ts'`,
  },
  {
    breaks: "no other feature's routes or store",
    path: 'apps/server/src/runs/logs/a.ts',
    code: `import { devices } from '../../fleet/devices/store.ts';`,
    says: `apps/server/src/runs/logs/a.ts:1: imports '../../fleet/devices/store.ts'`,
  },
  {
    breaks: "no other feature's routes or store",
    path: 'apps/server/src/runs/logs/a.ts',
    code: `import type { RunRoutes } from '../runs/routes.ts';`,
    says: `apps/server/src/runs/logs/a.ts:1: imports '../runs/routes.ts'`,
  },
  {
    breaks: 'SQL lives in stores',
    path: 'apps/server/src/runs/runs/routes.ts',
    code: `import { sql } from 'kysely';`,
    says: `apps/server/src/runs/runs/routes.ts:1: imports 'kysely'`,
  },
  {
    breaks: 'nobody imports tests',
    path: 'apps/server/src/a.ts',
    code: `import { fixture } from './b.test.ts';`,
    says: `apps/server/src/a.ts:1: imports './b.test.ts'`,
  },
  {
    breaks: 'nobody imports tests/ from elsewhere',
    path: 'apps/server/src/a.test.ts',
    code: `import { fixture } from '../../../tests/fixture.ts';`,
    says: `apps/server/src/a.test.ts:1: imports '../../../tests/fixture.ts'`,
  },
];

describe('check-imports', () => {
  it.each(VIOLATIONS)('names the place, the rule "$breaks" and the way out for: $code', (planted) => {
    const messages = check({ [planted.path]: planted.code });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(`${planted.says}\n  rule: ${planted.breaks}, because `);
    expect(messages[0]).toContain('\n  instead: ');
  });

  it('names the path of an import cycle, across workspaces and through types', () => {
    const messages = check({
      'apps/server/src/index.ts': `export * from './a.ts';`,
      'apps/server/src/a.ts': `import type { B } from './b.ts';`,
      'apps/server/src/b.ts': `export const b = () => import('@phalanx/server');`,
    });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(
      'apps/server/src/a.ts:1: imports in a circle: apps/server/src/a.ts -> apps/server/src/b.ts -> ' +
        'apps/server/src/index.ts -> apps/server/src/a.ts\n  rule: no import cycles',
    );
  });

  it('tells one tangle of cycles once, by its shortest, and two tangles twice', () => {
    const messages = check({
      'apps/cli/src/a.ts': `import './b.ts';`,
      'apps/cli/src/b.ts': `import './c.ts';`,
      'apps/cli/src/c.ts': `import './a.ts'; import './d.ts';`,
      'apps/cli/src/d.ts': `import './c.ts';`,
      'apps/host/src/x.ts': `import './y.ts';`,
      'apps/host/src/y.ts': `import './x.ts';`,
    });
    expect(messages).toHaveLength(2);
    expect(messages[0]).toContain('c.ts -> apps/cli/src/d.ts -> apps/cli/src/c.ts (and 2 more files');
    expect(messages[1]).toContain('apps/host/src/x.ts -> apps/host/src/y.ts -> apps/host/src/x.ts\n');
  });

  it('names the path of a cycle of folders, but not of tests and of the console', () => {
    const messages = check({
      'apps/server/src/runs/runs/a.ts': `import './b.ts'; import '../logs/c.ts';`,
      'apps/server/src/runs/runs/b.ts': '',
      'apps/server/src/runs/logs/c.ts': '',
      'apps/server/src/runs/logs/kept/d.ts': `\nimport type { B } from '../../runs/b.ts';`,
      'apps/host/src/runs/a.test.ts': `import '../logs/c.ts';`,
      'apps/host/src/logs/c.ts': `import '../runs/b.ts';`,
      'apps/host/src/runs/b.ts': '',
      'apps/console/src/runs/runs/a.ts': `import '../../evidence/records/c.ts';`,
      'apps/console/src/evidence/records/c.ts': `import '../../runs/runs/b.ts';`,
      'apps/console/src/runs/runs/b.ts': '',
    });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(
      'apps/server/src/runs/logs/kept/d.ts:2: folders import in a circle: apps/server/src/runs/logs -> ' +
        'apps/server/src/runs/runs -> apps/server/src/runs/logs\n  rule: no cycles of folders',
    );
  });

  it('is content with everything that the rules allow', () => {
    const messages = check({
      'packages/protocol/src/ids.test.ts': `import './ids.ts';`,
      'packages/automation/src/index.ts': `import type { A } from '@phalanx/protocol'; import 'core-js';`,
      'apps/server/src/app.ts': `import './fleet/devices/routes.ts'; import './http/context.ts'; import './config.ts';`,
      'apps/server/src/storage/db/dialect.ts': `import { Kysely } from 'kysely'; import Database from 'better-sqlite3';`,
      'apps/server/src/fleet/devices/device-store.ts': `import { sql } from 'kysely'; import '../../storage/db/dialect.ts';`,
      'apps/server/src/fleet/devices/routes.ts': `import './store.ts'; import '../hosts/host-link.ts'; import '@phalanx/protocol';`,
      'apps/server/src/fleet/devices/routes.test.ts': `import '../../runs/runs/store.ts'; import 'kysely';`,
      'apps/server/src/main.ts': `import './app.ts';`,
      'apps/cli/src/commands/start.ts': `import '@phalanx/server/client'; import type {} from '@phalanx/server/types/a.d.ts';`,
      'apps/cli/src/commands/runs/run.ts': `import '../fleet/devices.ts'; import '../../exit-codes.ts';`,
      'apps/console/src/router.tsx': `import './runs/runs/run.tsx'; import './shell/shell.tsx';`,
      'apps/console/src/fleet/devices/a.tsx': `import '../../runs/runs/run.tsx'; import '../../parts/button.tsx';`,
      'tests/launch.test.ts': `import '../apps/server/src/app.ts'; import './fixture.ts';`,
      'bench/main.ts': `import '../apps/host/src/adb/link.ts'; import 'better-sqlite3';`,
    });
    expect(messages).toEqual([]);
  });
});
