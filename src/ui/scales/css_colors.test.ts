// Colours of lines are those of the page's style, also where the system forces its own.
import { afterEach, expect, test, vi } from 'vitest'
import { resolveColor } from './css_colors.ts'

afterEach(() => vi.unstubAllGlobals())

test('a colour is read where the system cannot force another', () => {
  const set = new Map<string, string>()
  const style = {
    set color(value: string) {
      set.set('color', value)
    },
    setProperty: (name: string, value: string) => set.set(name, value),
  }
  vi.stubGlobal('document', {
    body: { append: () => undefined },
    createElement: () => ({ style, remove: () => undefined }),
  })
  vi.stubGlobal('getComputedStyle', () => ({
    color: set.get('forced-color-adjust') === 'none' ? set.get('color') : 'CanvasText',
  }))
  expect(resolveColor('--series-2', false)).toBe('var(--series-2)')
  expect(resolveColor('#123456', false)).toBe('#123456')
})
