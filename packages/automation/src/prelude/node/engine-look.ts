import type { LookAt, Port } from '../port.ts';

/** Functions that the child's debugger calls inside the isolate. */
export interface LookEnds {
  show: () => unknown;
  /** Without arguments: the value has nothing of the kind. */
  take: (...parts: unknown[]) => void;
}

/** A look takes about five; more means that it will never come. */
const maxRounds = 1000;

/** State that the two sides of a look share. */
const look = {
  port: undefined as Port | undefined,
  shown: undefined as unknown,
  taken: undefined as unknown[] | undefined,
  isBusy: false,
};

export function connectEngine(port: Port): LookEnds {
  look.port = port;
  return {
    show: () => look.shown,
    take: (...parts) => {
      look.taken = parts;
    },
  };
}

/** Detaches the debugger: `lookAt` then finds nothing. */
export function disconnectEngine(): void {
  look.port = undefined;
}

/** Changes nothing in the value and runs no microtask. Empty when the engine shows nothing. */
export function lookAt(what: LookAt, value: object): readonly unknown[] {
  if (look.port === undefined || look.isBusy) return [];
  look.isBusy = true;
  look.shown = value;
  look.taken = undefined;
  try {
    for (let round = 0; round < maxRounds && look.taken === undefined; round += 1) {
      look.port.block('look', what);
      breathe();
    }
    return look.taken ?? [];
  } finally {
    look.shown = look.taken = undefined;
    look.isBusy = false;
  }
}

/** The debugger gets its turn where the isolate enters a function or goes round a loop. */
function breathe(): void {
  for (let round = 0; round < 1000 && look.taken === undefined; round += 1);
}
