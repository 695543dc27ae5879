/** Shown once: it is stored nowhere in a form that could be shown again. */
export function firstTokenNotice(token: string | undefined): void {
  if (token === undefined) return;
  console.log(`\nThe administrator's token, shown this once. Keep it safe:\n\n  ${token}\n`);
}
