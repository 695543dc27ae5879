import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';

import { untilListening } from './until-listening.ts';

export interface S3Engine {
  /** Example: `http://127.0.0.1:7480`. */
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Ends at once. */
  stop(): Promise<void>;
}

interface Cluster {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when a part of it has ended: without it the others wait for long. */
  readonly broken: AbortController;
}

const run = promisify(execFile);
const parts = ['run', 'mon', 'osd', 'rgw'];
const memoryBytes = 1024 ** 3;
/** A monitor that has just started answers some calls with an error, the more so on a busy machine. */
const monitorTries = 10;
const monitorPauseMs = 1000;

/** The programs are not installed: they and their libraries are below `root`. */
function environmentOf(root: string, folder: string): NodeJS.ProcessEnv {
  const libraries = globSync([`${root}/{usr/,}lib/*-linux-gnu`, `${root}/usr/lib/*-linux-gnu/ceph`]);
  return {
    PATH: `${root}/usr/bin:${process.env['PATH'] ?? '/usr/bin'}`,
    LD_LIBRARY_PATH: libraries.join(':'),
    PYTHONPATH: `${root}/usr/lib/python3/dist-packages`,
    CEPH_CONF: path.join(folder, 'ceph.conf'),
  };
}

/** One monitor and one store, which keeps everything in memory; nobody has to say who they are to each other. */
function configurationOf(root: string, folder: string, ports: Record<'s3' | 'mon' | 'osd', number>): string {
  const [library = ''] = globSync(`${root}/usr/lib/*-linux-gnu`);
  const global = {
    fsid: randomUUID(),
    mon_host: `v1:127.0.0.1:${ports.mon}`,
    auth_cluster_required: 'none',
    auth_service_required: 'none',
    auth_client_required: 'none',
    ms_bind_msgr2: 'false',
    ms_bind_port_min: ports.osd,
    ms_bind_port_max: ports.osd + 50,
    public_addr: '127.0.0.1',
    cluster_addr: '127.0.0.1',
    osd_pool_default_size: 1,
    osd_pool_default_min_size: 1,
    osd_pool_default_pg_num: 8,
    osd_pool_default_pg_autoscale_mode: 'off',
    osd_crush_chooseleaf_type: 0,
    // The store would say where it is before it knows whom it speaks to, and end when it is told so.
    osd_crush_update_on_start: false,
    osd_class_update_on_start: false,
    mon_max_pg_per_osd: 1000,
    mon_data_avail_crit: 1,
    mon_data: `${folder}/mon`,
    osd_data: `${folder}/osd`,
    rgw_data: `${folder}/rgw`,
    osd_objectstore: 'memstore',
    memstore_device_bytes: memoryBytes,
    osd_class_dir: `${library}/rados-classes`,
    erasure_code_dir: `${library}/ceph/erasure-code`,
    plugin_dir: `${library}/ceph`,
    admin_socket: `${folder}/run/$name.asok`,
    log_file: `${folder}/run/$name.log`,
  };
  const lines = Object.entries(global).map(([name, value]) => `${name} = ${value}\n`);
  const front = `[client.rgw]\nrgw_frontends = beast endpoint=127.0.0.1:${ports.s3}\n`;
  return `[global]\n${lines.join('')}${front}`;
}

const idOf = (configuration: string): string => /^fsid = (\S+)/m.exec(configuration)?.[1] ?? '';

/** Starts a daemon that ends with this process. Returns what ends it. */
function startDaemon(
  { env, broken }: Cluster,
  program: string,
  args: readonly string[],
): () => Promise<void> {
  const command = ['--pdeathsig', 'KILL', program, ...args, '-f'];
  const child = spawn('setpriv', command, { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  child.on('exit', () => broken.abort(new Error(`${program} has ended`)));
  return async () => {
    child.kill('SIGKILL');
    await ended;
  };
}

/** An S3 server of its own, in memory: Ceph's, of the programs below `root`. It takes some ten seconds. */
export async function startS3(root: string): Promise<S3Engine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-s3-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of parts) mkdirSync(path.join(folder, part));
  const ports = { s3: await freePort(), mon: await freePort(), osd: await freePort() };
  const configuration = configurationOf(root, folder, ports);
  writeFileSync(path.join(folder, 'ceph.conf'), configuration);
  const cluster = { folder, env: environmentOf(root, folder), broken: new AbortController() };
  const call = (program: string, ...args: string[]) =>
    run(program, args, { env: cluster.env, cwd: folder, timeout: 90_000, signal: cluster.broken.signal });
  /** Calls the monitor, with retries: only for what may be said twice. */
  const callMonitor = async (...args: string[]): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await call('ceph', ...args);
        return;
      } catch (error) {
        if (tries === monitorTries || cluster.broken.signal.aborted) throw error;
        await pause(monitorPauseMs);
      }
    }
  };
  const start = (program: string, ...args: string[]) => started.defer(startDaemon(cluster, program, args));

  const ofMonitor = ['--addv', 'a', `v1:127.0.0.1:${ports.mon}`, '--fsid', idOf(configuration), '--clobber'];
  await call('monmaptool', '--create', ...ofMonitor, 'monmap');
  await call('ceph-mon', '--mkfs', '-i', 'a', '--monmap', 'monmap');
  start('ceph-mon', '-i', 'a');
  const store = randomUUID();
  await call('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', store);
  await callMonitor('osd', 'new', store);
  await callMonitor('osd', 'crush', 'add', '0', '1', 'root=default');
  start('ceph-osd', '-i', '0');
  const keys = { accessKey: 'TESTS', secretKey: randomBytes(20).toString('hex') };
  const user = ['--uid=tests', '--display-name=tests', `--access-key=${keys.accessKey}`];
  await call('radosgw-admin', '-n', 'client.rgw', 'user', 'create', ...user, `--secret=${keys.secretKey}`);
  start('radosgw', '-n', 'client.rgw');
  await untilListening(ports.s3);
  const all = started.move();
  return { endpoint: `http://127.0.0.1:${ports.s3}`, ...keys, stop: () => all.disposeAsync() };
}
