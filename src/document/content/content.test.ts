import { afterEach, expect, test, vi } from 'vitest'
import { contentHash } from './content.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a file has the same hash where the browser computes none, as over plain http', async () => {
  const bytes = new TextEncoder().encode('abc')
  // FIPS 180-4, appendix of examples.
  const abc = 'sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(await contentHash(bytes)).toBe(abc)
  vi.stubGlobal('crypto', {})
  expect(await contentHash(bytes)).toBe(abc)
})
