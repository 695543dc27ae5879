import type { KnipConfig } from 'knip';

import manifest from './package.json' with { type: 'json' };

const config: KnipConfig = {
  workspaces: {
    '.': {
      entry: [
        'scripts/run.mjs',
        'scripts/{test,set-up-tests,lab,phone-table,check,check-imports,check-file-sizes,complete-lock,merge-dependencies,pack,pack-client,write-reference}.ts',
        'scripts/**/*.test.ts',
      ],
      project: ['scripts/**/*.{ts,mjs}', '*.ts'],
      ignoreDependencies: [...Object.keys(manifest.dependencies), 'oxlint', 'oxlint-tsgolint', 'oxfmt'],
    },
    'packages/simulated-phone': {
      project: ['src/**/*.{ts,tsx}'],
      entry: ['src/**/*.test.{ts,tsx}', 'src/testing/real-adbd/inside.ts'],
      ignoreDependencies: ['@expo-google-fonts/roboto'],
    },
    'apps/console': {
      entry: ['src/main.tsx', 'build/write-bundle.ts', 'src/**/*.test.{ts,tsx}'],
      project: ['{src,build}/**/*.{ts,tsx}'],
      // Its fonts are named by the style sheet.
      ignoreDependencies: ['@fontsource-variable/geist', '@fontsource-variable/geist-mono'],
    },
    'packages/*': {
      project: ['src/**/*.{ts,tsx}'],
      entry: ['src/**/*.test.{ts,tsx}'],
    },
    'apps/*': {
      entry: ['src/**/main.{ts,tsx}', 'src/**/*.test.{ts,tsx}', 'src/testing/*-process.ts'],
      project: ['src/**/*.{ts,tsx}'],
    },
    tests: {
      // Its text goes into the browser; and types that a file of the moment is held against.
      ignoreDependencies: ['axe-core', 'kubernetes-types'],
      entry: [
        '**/*.test.ts',
        'console/{figures,screenshots,readme-picture}.ts',
        'real-screens/main.ts',
        'mcp-session/main.ts',
        'fuzz/{main,stall-watch}.ts',
        'transcripts/main.ts',
      ],
      project: ['**/*.{ts,tsx}', '!user-ways/all-names/**'],
    },
    bench: {
      entry: ['main.ts', 'processes/*.ts'],
      project: ['**/*.ts'],
    },
  },
  ignoreExportsUsedInFile: {
    interface: true,
    type: true,
  },
  ignoreBinaries: [
    'mount',
    'umount',
    'prlimit',
    'adb',
    'git',
    'unshare',
    'ip',
    'setpriv',
    'java',
    'openssl',
    'script',
  ],
};

export default config;
