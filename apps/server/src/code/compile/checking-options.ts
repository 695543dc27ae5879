/**
 * Language libraries that the sandbox's engine supports. Node 24's V8 has ES2025, and of newer features
 * `Array.fromAsync`, decorators (rewritten by the emitter), `using`, and `Error.isError`.
 */
const libraries = ['es2025', 'esnext.array', 'esnext.decorators', 'esnext.disposable', 'esnext.error'];

/** Default compiler options of every project. The project's own options override them. */
export const defaultOptions = {
  strict: false,
  target: 'es2025',
  lib: libraries,
  module: 'esnext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  jsx: 'react',
  resolveJsonModule: true,
};

/** Compiler options that no project can override. */
export const fixedOptions = {
  noEmit: true,
  skipLibCheck: true,
  types: [],
  libReplacement: false,
  allowImportingTsExtensions: true,
  resolvePackageJsonExports: false,
  resolvePackageJsonImports: false,
  isolatedModules: true,
};

/** Boolean `tsconfig.json` options that change what the checker reports. */
export const switches = new Set([
  'strict',
  'noImplicitAny',
  'noImplicitThis',
  'strictNullChecks',
  'strictFunctionTypes',
  'strictBindCallApply',
  'strictPropertyInitialization',
  'strictBuiltinIteratorReturn',
  'useUnknownInCatchVariables',
  'noUnusedLocals',
  'noUnusedParameters',
  'noImplicitReturns',
  'noImplicitOverride',
  'noFallthroughCasesInSwitch',
  'noUncheckedIndexedAccess',
  'noPropertyAccessFromIndexSignature',
  'exactOptionalPropertyTypes',
  'allowUnreachableCode',
  'allowUnusedLabels',
  'erasableSyntaxOnly',
  'experimentalDecorators',
  'useDefineForClassFields',
  'isolatedModules',
  'verbatimModuleSyntax',
  'resolveJsonModule',
  'allowJs',
  'checkJs',
  'noErrorTruncation',
]);

/** Options whose value is the name of a user's function. */
export const names = new Set(['jsxFactory', 'jsxFragmentFactory']);

/**
 * Options that the service accepts but ignores, because they matter to other tools only or the service decides them.
 */
export const unused = new Set([
  'allowImportingTsExtensions',
  'allowSyntheticDefaultImports',
  'allowUmdGlobalAccess',
  'alwaysStrict',
  'assumeChangesOnlyAffectDirectDependencies',
  'baseUrl',
  'composite',
  'customConditions',
  'declaration',
  'declarationDir',
  'declarationMap',
  'disableSizeLimit',
  'downlevelIteration',
  'emitBOM',
  'emitDeclarationOnly',
  'esModuleInterop',
  'forceConsistentCasingInFileNames',
  'importHelpers',
  'incremental',
  'inlineSourceMap',
  'inlineSources',
  'isolatedDeclarations',
  'libReplacement',
  'mapRoot',
  'module',
  'moduleDetection',
  'moduleResolution',
  'moduleSuffixes',
  'newLine',
  'noEmit',
  'noEmitHelpers',
  'noEmitOnError',
  'noUncheckedSideEffectImports',
  'outDir',
  'outFile',
  'preserveConstEnums',
  'preserveSymlinks',
  'pretty',
  'removeComments',
  'resolvePackageJsonExports',
  'resolvePackageJsonImports',
  'rewriteRelativeImportExtensions',
  'rootDir',
  'skipDefaultLibCheck',
  'skipLibCheck',
  'sourceMap',
  'sourceRoot',
  'stableTypeOrdering',
  'stripInternal',
  'target',
  'tsBuildInfoFile',
]);

/** Options that a project can't set, each with the reason. An empty value, such as an empty list, is accepted. */
export const refused = new Map([
  ['extends', 'the tsconfig.json of a project cannot extend another one'],
  ['references', 'a project cannot refer to other projects'],
  ['plugins', 'plugins do not run here'],
  ['types', 'packages do not exist here; the types of the runtime are always known'],
  ['typeRoots', 'packages do not exist here; the types of the runtime are always known'],
  ['paths', 'import the files of the project by relative paths'],
  ['rootDirs', 'import the files of the project by relative paths'],
  ['jsxImportSource', 'packages do not exist here; use "jsxFactory"'],
  ['emitDecoratorMetadata', 'the compiler does not emit it'],
]);

/**
 * Whether a library is part of the language. Browser and Windows libraries declare APIs that automations do not have.
 */
export const isLanguageLibrary = (name: string): boolean =>
  /^(?:es\d*|esnext|decorators)(?:\.[a-z\d]+)*$/i.test(name);
