import { defineConfig } from 'oxfmt';

/** Settings of `npm run format` for the files of this repository. */
export const formatting = defineConfig({
  printWidth: 110,
  singleQuote: true,
  ignorePatterns: ['package-lock.json', 'packages/automation/starter/screens', 'data'],
});
