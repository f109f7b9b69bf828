import { toAppError, CallFailed, type Backend } from '../backend';
export function storyBackend(_name: string): Backend {
  return { call: () => Promise.reject(new CallFailed(toAppError(null))), listen: () => () => undefined };
}
