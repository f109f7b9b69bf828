/**
 * Numbers, sizes and instants in words.
 *
 * Invariant: what is not known is never a number. Functions that take a nullable value answer {@link UNKNOWN} for it;
 * the component that draws it says why.
 */

/** How an unknown number is written. */
export const UNKNOWN = '—';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A count with thousands separators. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : whole.format(value);
}

/** `1 node`, `2 nodes`; the plural is given where it is not the singular with an s. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}

/** Memory of MiB in the largest binary unit that keeps it at or above one. */
export function memory(mib: number | null): string {
  if (mib === null) return UNKNOWN;
  if (mib < 1024) return `${whole.format(mib)} MiB`;
  if (mib < 1024 * 1024) return `${(mib >= 100 * 1024 ? whole : tenths).format(mib / 1024)} GiB`;
  return `${tenths.format(mib / 1024 / 1024)} TiB`;
}

/** Thousandths of a core as cores. */
export function cores(milli: number | null): string {
  return milli === null ? UNKNOWN : (milli >= 100_000 ? whole : tenths).format(milli / 1000);
}

/** Bytes of a file, as people read them. */
export function bytes(size: number): string {
  if (size < 1024) return plural(size, 'byte');
  return size < 1024 * 1024
    ? `${tenths.format(size / 1024)} KiB`
    : `${tenths.format(size / 1024 / 1024)} MiB`;
}

/** A span in its largest unit, as kubectl does: `42 s`, `12 min`, `5 h`, `3 d`, `2 y`. Negative spans count as none. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  const days = Math.floor(seconds / 86_400);
  return days < 730 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** How long ago an RFC 3339 instant was. */
export function age(instant: string | null, now: number): string {
  if (instant === null) return UNKNOWN;
  const then = Date.parse(instant);
  return Number.isNaN(then) ? UNKNOWN : span(now - then);
}

/** `4:59` until an instant; `0:00` when it is over. */
export function countdown(instant: string, now: number): string {
  const left = Math.max(0, Math.ceil((Date.parse(instant) - now) / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const minute = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** The day of an instant. */
export function date(instant: string): string {
  return day.format(new Date(instant));
}

/** An instant to the minute, in the person's own time zone. */
export function dateTime(instant: string): string {
  return minute.format(new Date(instant));
}

/** `a`, `a and b`, `a, b and c`; from the limit on `a, b and 7 more`. */
export function listed(names: readonly string[], limit = 4): string {
  if (names.length <= 1) return names[0] ?? '';
  if (names.length > limit) {
    const shown = names.slice(0, limit - 1);
    return `${shown.join(', ')} and ${names.length - shown.length} more`;
  }
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}
