/** The time that ages and countdowns are drawn with: one tick a second, and none while nobody looks. */
export class Clock {
  now = $state(Date.now());

  run(): () => void {
    const tick = () => {
      if (!document.hidden) this.now = Date.now();
    };
    const timer = setInterval(tick, 1000);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }
}

/**
 * Calls `work` every `period` milliseconds while the window is visible, and at once when it is looked at again after
 * more than a quarter of the period. Returns how to stop.
 */
export function whileVisible(period: number, work: () => void): () => void {
  let last = Date.now();
  const run = () => {
    last = Date.now();
    work();
  };
  const timer = setInterval(() => {
    if (!document.hidden) run();
  }, period);
  const looked = () => {
    if (!document.hidden && Date.now() - last > period / 4) run();
  };
  document.addEventListener('visibilitychange', looked);
  window.addEventListener('focus', looked);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', looked);
    window.removeEventListener('focus', looked);
  };
}
