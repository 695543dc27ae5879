import { calls, holds } from './calls';
import { ciphers } from './ciphers';

async function timers(): Promise<void> {
  const later = (start: (resolve: () => void) => unknown): Promise<boolean> =>
    new Promise((resolve) => {
      start(() => resolve(true));
    });
  const never = (): void => console.error('wrong: it was cleared');
  await holds('setTimeout', () => later((resolve) => setTimeout((done) => done(), 1, resolve)));
  await holds('setInterval', () =>
    later((resolve) => {
      let rounds = 0;
      const id = setInterval(() => {
        rounds += 1;
        if (rounds < 3) return;
        clearInterval(id);
        resolve();
      }, 1);
    }),
  );
  await holds('setImmediate', () => later((resolve) => setImmediate(resolve)));
  await holds('queueMicrotask', () => later((resolve) => queueMicrotask(resolve)));
  await holds('clearTimeout', () => {
    clearTimeout(setTimeout(never, 1));
    return true;
  });
  await holds('clearInterval', () => {
    clearInterval(setInterval(never, 1));
    return true;
  });
  await holds('clearImmediate', () => {
    clearImmediate(setImmediate(never));
    return true;
  });
  await agent.actions.sleep(20);
}

async function values(): Promise<void> {
  await holds(
    'structuredClone',
    () =>
      structuredClone(new Map([[1, { a: new Date(0) }]]))
        .get(1)
        ?.a.getTime() === 0,
  );
  await holds('atob', () => atob('YQ==') === 'a');
  await holds('btoa', () => btoa('a') === 'YQ==');
  await calls<StructuredSerializeOptions>('StructuredSerializeOptions', {
    transfer: () => {
      const buffer = new ArrayBuffer(8);
      return structuredClone(buffer, { transfer: [buffer] }).byteLength === 8 && buffer.byteLength === 0;
    },
  });
  await calls<Pick<ErrorConstructor, 'captureStackTrace' | 'stackTraceLimit'>>('ErrorConstructor', {
    captureStackTrace: () => {
      const holder = { stack: '' };
      Error.captureStackTrace(holder);
      return holder.stack.includes(' at ');
    },
    stackTraceLimit: () => Error.stackTraceLimit > 0,
  });
  await holds('performance', () => performance.now() > 0);
  await calls<Performance>('Performance', {
    now: () => performance.now() > 0 && performance.now() < 600_000,
    timeOrigin: () => Math.abs(Date.now() - performance.timeOrigin) < 600_000,
  });
  await holds('crypto', () => crypto.randomUUID() !== crypto.randomUUID());
  await ciphers();
}

/** Calls the console; the test compares the output in the log. */
async function consoles(): Promise<void> {
  const printed = (print: () => void) => () => {
    print();
    return true;
  };
  await calls<Console>('Console', {
    log: printed(() => console.log('printed %s', 'log', { a: [1, 'x'] })),
    info: printed(() => console.info('printed info')),
    debug: printed(() => console.debug('printed debug')),
    warn: printed(() => console.warn('printed warn')),
    error: printed(() => console.error('printed error')),
    trace: printed(() => console.trace('printed trace')),
    dir: printed(() => console.dir({ printed: { dir: { deep: { er: 1 } } } }, { depth: 0 })),
    dirxml: printed(() => console.dirxml('printed dirxml')),
    table: printed(() => console.table([{ printed: 'table', b: 2 }], ['printed'])),
    assert: printed(() => console.assert(false, 'printed assert')),
    count: printed(() => console.count('printed count')),
    countReset: printed(() => {
      console.countReset('printed count');
      console.count('printed count');
    }),
    time: printed(() => console.time('printed time')),
    timeLog: printed(() => console.timeLog('printed time', 'so far')),
    timeEnd: printed(() => console.timeEnd('printed time')),
    group: printed(() => {
      console.group('printed group');
      console.log('within');
    }),
    groupEnd: printed(() => console.groupEnd()),
    clear: printed(() => console.clear()),
    groupCollapsed: printed(() => {
      console.groupCollapsed('printed groupCollapsed');
      console.groupEnd();
    }),
  });
}

export async function plain(): Promise<void> {
  await timers();
  await values();
  await consoles();
}
