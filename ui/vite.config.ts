import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

/** The policy of the window (tauri.conf.json), with the page's own server in the place of the IPC. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * Two builds of one source: `vite build` is what the app embeds; `vite build --mode story` adds the backend in memory
 * (`src/backend/story`), for the browser tests and for looking at every state. The constant below lets the bundler
 * drop the story from the first.
 */
export default defineConfig(({ mode }) => {
  const story = mode === 'story' || mode === 'development' || mode === 'test';
  return {
    plugins: [svelte()],
    define: { __STORY__: JSON.stringify(story) },
    build: {
      outDir: mode === 'story' ? 'dist-story' : 'dist',
      target: ['es2022', 'chrome111', 'safari16.4'],
      // A data: URL would need its own entry in the policy; files need none.
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    server: { host: '127.0.0.1', port: 5173, strictPort: true },
    preview: {
      host: '127.0.0.1',
      port: 4173,
      strictPort: true,
      headers: { 'content-security-policy': CONTENT_SECURITY_POLICY },
    },
    test: {
      environment: 'happy-dom',
      include: ['src/**/*.test.ts'],
    },
    resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  };
});
