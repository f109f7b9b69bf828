// The browser of the tests: Debian's Chromium, told to talk to nobody.
export const SIZES = {
  small: { width: 1024, height: 700 },
  large: { width: 1600, height: 1000 },
};

/** Two people on one machine draw at the same time with a port of their own each. */
export const PORT = Number(process.env.MUSTER_STORY_PORT ?? 4173);
export const BASE = `http://127.0.0.1:${PORT}`;

export const LAUNCH = {
  executablePath: process.env.MUSTER_CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-sync',
    '--no-first-run',
    '--font-render-hinting=none',
  ],
};
