/**
 * Parts of the language that the sandbox's engine has. Node 24's V8 has ES2025, and of newer features
 * `Array.fromAsync`, decorators (rewritten by the emitter), `using`, and `Error.isError`.
 */
const libraries = ['es2025', 'esnext.array', 'esnext.decorators', 'esnext.disposable', 'esnext.error'];

/** Options that hold for every project. The project's own options override them. */
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

/** Options that no project can change. */
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

/** Options of a `tsconfig.json` that are on or off and change what the checker says. */
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

/** Options that name functions of the user. */
export const names = new Set(['jsxFactory', 'jsxFragmentFactory']);

/** Options that have a meaning in other tools. Here the service decides, so it ignores them. */
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

/** Options that a project can't have, each with the reason. An empty list as the value does no harm. */
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

/** Libraries of the language; those of browsers and of Windows describe what automations do not have. */
export const isLanguageLibrary = (name: string): boolean =>
  /^(?:es\d*|esnext|decorators)(?:\.[a-z\d]+)*$/i.test(name);
