/** The backend of the desktop app. The only file that imports @tauri-apps; a lint rule holds that. */
import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import { CallFailed, toAppError, type Backend } from './backend';
import type { AppEvent } from './bindings';

/** The one event that the shell emits; its payload says what it is about. */
const EVENT = 'muster';

export function tauriBackend(): Backend {
  return {
    async call(command, request?: unknown) {
      try {
        // A command without a request takes `null`: every command has this one argument.
        return await invoke(command, { request: request ?? null });
      } catch (thrown) {
        throw new CallFailed(toAppError(thrown));
      }
    },
    listen(handler) {
      const stop = listen<AppEvent>(EVENT, (event) => {
        handler(event.payload);
      });
      return () => {
        void stop.then((unlisten) => {
          unlisten();
        });
      };
    },
  };
}
