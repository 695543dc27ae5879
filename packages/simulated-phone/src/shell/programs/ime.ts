import type { Program } from '../program.ts';

const builtIn = 'com.android.inputmethod.latin/.LatinIME';

/** `ime list -s`, `ime enable|set ID`, `ime reset`. */
export const ime: Program = async ({ phone, args, stdout, stderr }) => {
  const [command, id] = args;
  const secure = phone.android.settings.findTable('secure');
  if (command === 'list') await stdout.write(`${builtIn}\n`);
  else if (command === 'reset') {
    secure?.set('default_input_method', builtIn);
    await stdout.write('Reset current and enabled IMEs for user #0\n');
  } else if (id === builtIn) {
    secure?.set('default_input_method', id);
    await stdout.write(
      command === 'set'
        ? `Input method ${id} selected for user #0\n`
        : `Input method ${id}: already enabled for user #0\n`,
    );
  } else {
    await stderr.write(
      `Unknown input method ${id ?? ''} cannot be ${command === 'set' ? 'selected' : 'enabled'} for user #0\n`,
    );
    return 255;
  }
  return 0;
};
