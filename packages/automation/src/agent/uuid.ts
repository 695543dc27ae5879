/** A version 4 UUID for names that need not be secret. */
export function createUuid(): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replaceAll(/[xy]/g, (letter) => {
    const digit = Math.floor(Math.random() * 16);
    return (letter === 'x' ? digit : (digit & 3) | 8).toString(16);
  });
}
