import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const units = path.join(repository, 'deploy/systemd');
const withoutComponents = (process.env['TEST_WITHOUT'] ?? '').split(' ');

const ComposeFile = Type.Object({
  services: Type.Record(
    Type.String(),
    Type.Object({ environment: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
  ),
});
const Kustomization = Type.Object({ resources: Type.Array(Type.String()) });
const Kind = Type.Object({ apiVersion: Type.String(), kind: Type.String() });

/** Maximum exposure in systemd's rating from 0 to 10 of the harm that a service could do; its "OK" ends at 5. */
const maxExposure = 4.5;

async function namedSettings(file: string): Promise<readonly string[]> {
  return [...new Set((await readFile(file, 'utf8')).match(/\bPHALANX_[A-Z_]+/g))];
}

test('every setting that a file for deployment names is one of Phalanx', async () => {
  const known = new Set(await namedSettings(path.join(repository, 'docs/settings.md')));
  const files = await readdir(path.join(repository, 'deploy'), { recursive: true, withFileTypes: true });
  const named = await Promise.all(
    files.filter((one) => one.isFile()).map((one) => namedSettings(path.join(one.parentPath, one.name))),
  );
  expect(named.flat()).not.toHaveLength(0);
  expect(named.flat().filter((name) => !known.has(name))).toEqual([]);
});

describe.skipIf(withoutComponents.includes('docker-compose'))('docker-compose', () => {
  const file = (name: string): string => path.join(repository, 'deploy', name);
  const wanted = [
    'POSTGRES_PASSWORD',
    'NATS_PASSWORD',
    'PHALANX_S3_ENDPOINT',
    'PHALANX_S3_BUCKET',
    'PHALANX_S3_ACCESS_KEY',
    'PHALANX_S3_SECRET_KEY',
    'PHALANX_ADMIN_TOKEN',
  ];
  const given = Object.fromEntries(wanted.map((name) => [name, 'given']));
  async function services(name: string, env: Record<string, string>): Promise<string[]> {
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env } };
    const { stdout } = await run('docker-compose', ['-f', file(name), 'config', '--services'], options);
    return stdout.trim().split('\n').toSorted();
  }

  test('takes compose.yaml', async () => {
    expect(await services('compose.yaml', {})).toEqual(['adb', 'phalanx']);
  });

  test('takes compose.cluster.yaml, with three servers that have names of their own', async () => {
    const servers = ['server-1', 'server-2', 'server-3'];
    expect(await services('compose.cluster.yaml', given)).toEqual([
      'migrate',
      'nats',
      'postgres',
      'proxy',
      ...servers,
    ]);
    const { services: parts } = Value.Parse(
      ComposeFile,
      parse(await readFile(file('compose.cluster.yaml'), 'utf8'), { merge: true }),
    );
    const names = servers.map((name) => parts[name]?.environment?.['PHALANX_NODE_NAME']);
    expect(names).toEqual(servers);
    const proxied = await readFile(file('Caddyfile'), 'utf8');
    for (const name of servers) expect(proxied).toContain(`${name}:8080`);
  });

  test.each(wanted)('refuses compose.cluster.yaml without %s', async (name) => {
    const { [name]: _, ...others } = given;
    await expect(services('compose.cluster.yaml', others)).rejects.toThrow(name);
  });
});

describe('the base of Kustomize', () => {
  const folder = path.join(repository, 'deploy/kustomize');
  const readYaml = async (name: string): Promise<unknown> =>
    parse(await readFile(path.join(folder, name), 'utf8'));

  test('names all its files, and each is what Kubernetes has under its kind', async () => {
    const { resources } = Value.Parse(Kustomization, await readYaml('kustomization.yaml'));
    const files = (await readdir(folder)).filter((name) => name !== 'kustomization.yaml');
    expect(resources.toSorted()).toEqual(files.toSorted());
    // A folder below `node_modules`, where the compiler finds the types of Kubernetes.
    const work = await mkdtemp(path.join(repository, 'node_modules/.kinds-'));
    const lines = await Promise.all(
      resources.map(async (name) => {
        const content = await readYaml(name);
        const { apiVersion, kind } = Value.Parse(Kind, content);
        const types = `kubernetes-types/${apiVersion === 'v1' ? 'core/v1' : apiVersion}`;
        return `const _${kind}: import('${types}').${kind} = ${JSON.stringify(content)};`;
      }),
    );
    const checked = path.join(work, 'kinds.ts');
    await writeFile(checked, lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig'];
    const resolution = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', ''];
    const compiler = path.join(repository, 'node_modules/.bin/tsc');
    const told = await run(compiler, [...options, ...resolution, checked]).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(Reflect.get(Object(error), 'stdout')),
    );
    await rm(work, { recursive: true });
    expect(told).toBe('');
  });

  test('has servers that root can not be, that have time to end, and that are asked whether they work', async () => {
    const image = await readFile(path.join(repository, 'deploy/Containerfile'), 'utf8');
    const user = Number(/--uid (\d+)/.exec(image)?.[1]);
    expect(await readYaml('deployment.yaml')).toMatchObject({
      spec: {
        replicas: 3,
        strategy: { rollingUpdate: { maxUnavailable: 1 } },
        template: {
          spec: {
            terminationGracePeriodSeconds: 60,
            securityContext: { runAsNonRoot: true, runAsUser: user, fsGroup: user },
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
                livenessProbe: { httpGet: { path: '/healthz' } },
                readinessProbe: { httpGet: { path: '/readyz' } },
              },
            ],
          },
        },
      },
    });
  });
});

describe.skipIf(withoutComponents.includes('systemd-analyze'))('units', async () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'phalanx-units-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(await readdir(units))(
    '%s is valid, and leaves the service little of its machine',
    async (name) => {
      const unit = await readFile(path.join(units, name), 'utf8');
      const file = path.join(folder, name);
      // The program of the unit need not be installed here.
      await writeFile(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file]);
      expect(stderr).toBe('');
      await run('systemd-analyze', ['security', '--offline=true', `--threshold=${maxExposure * 10}`, file]);
    },
  );
});
