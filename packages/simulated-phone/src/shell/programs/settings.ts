import type { Program } from '../program.ts';

const builtIn = 'com.android.inputmethod.latin/.LatinIME';

/** `settings get|put|delete|list NAMESPACE [KEY [VALUE]]`. */
export const settings: Program = async ({ phone, args, stdout, stderr }) => {
  const words = args[0] === '--user' ? args.slice(2) : args;
  const [command, namespace, key, value] = words;
  const table = phone.android.settings.findTable(namespace);
  if (!table) {
    await stderr.write(`Error: Invalid namespace '${namespace ?? ''}'\n`);
    return 255;
  }
  if (command === 'list') {
    for (const [name, content] of table) await stdout.write(`${name}=${content}\n`);
    return 0;
  }
  if (key === undefined || (command === 'put' && value === undefined)) {
    await stderr.write('Error: Bad arguments\n');
    return 255;
  }
  if (phone.faults.restrictedDebugging && namespace !== 'system' && command !== 'get') {
    const lacking =
      'Permission denial: writing to settings requires:android.permission.WRITE_SECURE_SETTINGS';
    await stderr.write(
      `\nException occurred while executing '${command ?? ''}':\njava.lang.SecurityException: ${lacking}\n`,
    );
    return 255;
  }
  if (command === 'put') phone.android.settings.put(table, key, value ?? '');
  else if (command === 'get') await stdout.write(`${table.get(key) ?? 'null'}\n`);
  else if (command === 'delete') await stdout.write(`Deleted ${table.delete(key) ? 1 : 0} rows\n`);
  else {
    await stderr.write(`Error: Unknown command: ${command ?? ''}\n`);
    return 255;
  }
  return 0;
};

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
