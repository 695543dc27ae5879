import type { Wish } from './wishes.ts';

const keys: Readonly<Record<string, Wish>> = { r: 'run', s: 'stop', t: 'hand', q: 'quit' };

export const keysHelp = 'r runs again, s stops, t takes the phone in hand, q quits.';

const interrupt = '\u0003';

/** Whether somebody can press keys: without a terminal, standard input is left alone. */
export const hasKeys = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Reads single keys until the returned function is called. A terminal that does so sends no SIGINT by itself. */
export function readKeys(onWish: (wish: Wish) => void): () => void {
  const { stdin } = process;
  const read = (text: string): void => {
    for (const key of text) {
      if (key === interrupt) process.kill(process.pid, 'SIGINT');
      const wish = keys[key.toLowerCase()];
      if (wish !== undefined) onWish(wish);
    }
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', read).resume();
  return () => {
    stdin.off('data', read).pause();
    stdin.setRawMode(false);
  };
}
