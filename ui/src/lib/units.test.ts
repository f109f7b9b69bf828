import { expect, it } from 'vitest';

import { count } from './format';
import { share } from './units';

it('draws the unknown as a dash and never as zero', () => {
  expect(count(null)).toBe('—');
  expect(count(0)).toBe('0');
});

it('has no bar for units that nobody could count', () => {
  expect(share({ cards: null, allocatable: null, requested: null, free: null, usableFree: null })).toBeNull();
});
