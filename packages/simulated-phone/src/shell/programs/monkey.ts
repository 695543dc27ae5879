import type { Program } from '../program.ts';

/** `monkey -p PACKAGE -c CATEGORY 1`: used to start an app without knowing its activity. */
export const monkey: Program = async ({ phone, args, stdout, stderr }) => {
  const packageName = args[args.indexOf('-p') + 1] ?? '';
  await stdout.write(`  bash arg: ${args.join('\n  bash arg: ')}\n`);
  if (!args.includes('-p') || !phone.android.startActivity(packageName)) {
    await stderr.write('** No activities found to run, monkey aborted.\n');
    return 252;
  }
  await stdout.write(
    'Events injected: 1\n## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)\n',
  );
  return 0;
};
