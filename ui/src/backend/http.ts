/**
 * The backend behind the development bridge: the same commands over HTTP of the page's own origin.
 *
 * `POST /command/<name>` with a JSON body answers JSON; status 422 carries an `AppError`. Events come by
 * `EventSource` at `/events`, one JSON document each.
 */
import { CallFailed, toAppError, type Backend } from './backend';
import type { AppEvent } from './bindings';

export function httpBackend(): Backend {
  return {
    async call(command, request?: unknown) {
      let answer: Response;
      try {
        answer = await fetch(`/command/${command}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(request ?? null),
        });
      } catch (thrown) {
        throw new CallFailed(toAppError(thrown));
      }
      if (answer.ok) return await answer.json();
      const body: unknown = answer.status === 422 ? await answer.json().catch(() => null) : null;
      throw new CallFailed(toAppError(body));
    },
    listen(handler) {
      const source = new EventSource('/events');
      source.addEventListener('message', (message: MessageEvent<string>) => {
        handler(JSON.parse(message.data) as AppEvent);
      });
      return () => {
        source.close();
      };
    },
  };
}
