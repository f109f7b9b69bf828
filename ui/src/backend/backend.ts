/**
 * What the UI knows of the world outside the page: typed commands, and events.
 *
 * Invariant: every screen speaks to this interface and to nothing else. Deliberately absent: any way to name a URL, a
 * path or a command that is not in the generated list.
 */
import type { AppError, AppEvent, Commands } from './bindings';

export type CommandName = keyof Commands;

/** The arguments of `call`: a command without a request takes none. */
export type CallArgs<C extends CommandName> = Commands[C]['request'] extends null
  ? [command: C]
  : [command: C, request: Commands[C]['request']];

export interface Backend {
  /** Runs a command. Rejects with a {@link CallFailed} and with nothing else. */
  call<C extends CommandName>(...args: CallArgs<C>): Promise<Commands[C]['response']>;

  /** Hears everything that the backend tells unasked. Returns how to stop. */
  listen(handler: (event: AppEvent) => void): () => void;
}

/** A command that did not succeed, with the words for it. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';

  constructor(readonly error: AppError) {
    super(error.message);
  }
}

/** Whether a value has the shape of the backend's error. */
function isAppError(value: unknown): value is AppError {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as AppError).code === 'string' &&
    typeof (value as AppError).message === 'string' &&
    typeof (value as AppError).kind === 'string'
  );
}

/**
 * Makes the one error of anything that was thrown. What is not the backend's own error is a fault between page and
 * backend; its text is kept out of the message, because nobody reviewed it.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof CallFailed) return thrown.error;
  if (isAppError(thrown)) return thrown;
  return {
    code: 'backend_unreachable',
    kind: 'failed',
    message: 'Muster’s window and its backend do not understand each other.',
    hint: 'Close Muster and start it again. If this stays, the installation is damaged.',
    retryable: true,
  };
}
