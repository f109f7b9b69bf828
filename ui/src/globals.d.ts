/** Whether the backend in memory is part of this build (see vite.config.ts). */
declare const __STORY__: boolean;
