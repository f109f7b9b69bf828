// Draws every story in both themes and at both sizes into tests/artifacts/screens.
// `node screenshots.mjs fleet` draws only the shots whose name holds "fleet"; `--theme=dark` and `--size=small` narrow.
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from '@playwright/test';

import { BASE, LAUNCH, PORT, SIZES } from './browser.mjs';
import { SHOTS } from './shots.mjs';

const out = fileURLToPath(new URL('../artifacts/screens/', import.meta.url));
const ui = fileURLToPath(new URL('../../ui/', import.meta.url));

const words = process.argv.slice(2);
const option = (name) => words.find((word) => word.startsWith(`--${name}=`))?.split('=')[1];
const wanted = words.filter((word) => !word.startsWith('--'));
const themes = ['light', 'dark'].filter((one) => (option('theme') ?? one) === one);
const sizes = Object.entries(SIZES).filter(([name]) => (option('size') ?? name) === name);
const shots = SHOTS.filter((shot) => wanted.length === 0 || wanted.some((word) => shot.name.includes(word)));

async function serve() {
  const command = ['node_modules/vite/bin/vite.js', 'preview', '--mode', 'story', '--port', String(PORT), '--strictPort'];
  const server = spawn(process.execPath, command, { cwd: ui });
  for (let tries = 0; tries < 300; tries += 1) {
    const up = await fetch(BASE).then((answer) => answer.ok).catch(() => false);
    if (up) return server;
    await new Promise((done) => setTimeout(done, 100));
  }
  server.kill();
  throw new Error('vite preview did not come up');
}

await mkdir(out, { recursive: true });
const server = await serve();
const browser = await chromium.launch(LAUNCH);
try {
  for (const theme of themes) {
    for (const [size, viewport] of sizes) {
      const page = await browser.newPage({ viewport, reducedMotion: 'reduce' });
      page.on('console', (message) => {
        if (message.type() === 'error') console.error(`${theme} ${size}: ${message.text()}`);
      });
      page.on('pageerror', (error) => console.error(`${theme} ${size}: ${error.message}`));
      for (const shot of shots) {
        await page.goto('about:blank');
        await page.goto(`${BASE}/?story=${shot.story}&theme=${theme}${shot.address ?? ''}`);
        await page.waitForLoadState('networkidle');
        await page.waitForTimeout(120);
        if (shot.steps) await shot.steps(page);
        await page.screenshot({ path: `${out}${shot.name}.${theme}.${size}.png` });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
  server.kill();
}
