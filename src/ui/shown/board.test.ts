import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** The board of a page with this hash, and where its address is kept. */
async function boardAt(hash: string) {
  const location = { hash, pathname: '/', search: '?v=1&p=tiny' }
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', {
    state: null,
    replaceState: (_: unknown, __: string, url: string) => {
      location.hash = url.includes('#') ? url.slice(url.indexOf('#')) : ''
    },
  })
  return { location, ...(await import('./board.ts')) }
}

test('a board survives its way through the address, beside the rest of it', async () => {
  const { location, togglePinned } = await boardAt('#tab=gpu')
  togglePinned('timing_s/step')
  togglePinned('values')
  expect(location.hash).toBe('#tab=gpu&board=timing_s%2Fstep,values')
  vi.resetModules()
  const again = await boardAt(location.hash)
  expect(again.boardStore.getState().pinned).toEqual(['timing_s/step', 'values'])
  again.togglePinned('timing_s/step')
  again.togglePinned('values')
  expect(again.location.hash).toBe('#tab=gpu')
  expect(again.boardPart()).toBeUndefined()
})

test('what is no board is none, and a board has room for twelve charts', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `m${i}`)
  const { boardStore, togglePinned } = await boardAt(`#board=%E0%A4%A,,a,a,${names}`)
  expect(boardStore.getState().pinned).toEqual(['a', ...names.slice(0, 11)])
  togglePinned('new')
  expect(boardStore.getState().pinned).toHaveLength(12)
  expect(boardStore.getState().pinned.at(-1)).toBe('new')
})
