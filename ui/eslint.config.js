import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist', 'dist-story', 'node_modules', 'checks', 'src/backend/bindings.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, __STORY__: 'readonly' } } },
  {
    files: ['scripts/**', '*.config.*'],
    languageOptions: { globals: globals.node },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig },
    },
  },
  {
    rules: {
      eqeqeq: 'error',
      'no-console': ['error', { allow: ['error'] }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // A snippet's first argument may be there for the others' sake.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // TypeScript knows the globals better.
      'no-undef': 'off',
      'svelte/no-at-html-tags': 'error',
      'svelte/require-each-key': 'error',
      'svelte/no-navigation-without-resolve': 'off',
      // State is replaced, not mutated; a Map or Set here is a lookup.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    // One file knows that there is a Tauri; everything else speaks to the `Backend` interface.
    ignores: ['src/backend/tauri.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['@tauri-apps/*'], message: 'Only src/backend/tauri.ts may import @tauri-apps.' },
          ],
        },
      ],
    },
  },
);
