import { expect, test } from 'vitest'
import { type FramedWindow, isForeignFrame } from './foreign_frame.ts'

/** A window in the frames of these origins, the outermost first; '' = its location cannot be
 * read. */
function framed(...origins: readonly string[]): FramedWindow {
  let parent: FramedWindow | undefined
  for (const origin of origins) {
    const around = parent
    const own: FramedWindow = {
      get parent() {
        return around ?? own
      },
      get location() {
        if (origin === '') throw new DOMException('Blocked a frame', 'SecurityError')
        return { origin }
      },
    }
    parent = own
  }
  if (!parent) throw new Error('no window')
  return parent
}

test.for([
  [['https://a.example'], false],
  [['https://a.example', 'https://a.example'], false],
  [['https://b.example', 'https://a.example'], true],
  [['', 'https://a.example'], true],
  // Same at both ends, and another between them.
  [['https://a.example', '', 'https://a.example'], true],
] as const)('%o is in a foreign frame: %s', ([origins, isForeign]) => {
  expect(isForeignFrame(framed(...origins))).toBe(isForeign)
})
