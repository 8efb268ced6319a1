import { afterAll, afterEach, expect, test, vi } from 'vitest'

/** As a browser's: a lock is free a moment after its holder has let go of it. */
class FakeLocks {
  readonly held = new Set<string>()
  async request(name: string, _: object, hold: (lock: object | null) => Promise<void> | undefined) {
    await undefined
    if (this.held.has(name)) return hold(null)
    this.held.add(name)
    await hold({ name })
    await new Promise((resolve) => setTimeout(resolve))
    this.held.delete(name)
  }
}

afterEach(() => void vi.unstubAllGlobals())
// The next file of this worker gets modules without our state.
afterAll(() => void vi.resetModules())

/** A page that was just opened, beside the others. */
async function freshPage(locks: FakeLocks | undefined) {
  vi.stubGlobal('navigator', { locks })
  vi.resetModules()
  return import('./locks.ts')
}

test('a run that this page has just released can be claimed again at once', async () => {
  const { claimRun, releaseRun } = await freshPage(new FakeLocks())
  for (let round = 0; round < 3; round++) {
    expect(await claimRun('a')).toBe(true)
    releaseRun('a')
  }
})

test('a run that another page holds is not to be had until it is released', async () => {
  const locks = new FakeLocks()
  const [one, other] = [await freshPage(locks), await freshPage(locks)]
  expect(await one.claimRun('a')).toBe(true)
  expect(await one.claimRun('a')).toBe(true)
  expect(await other.claimRun('a')).toBe(false)
  one.releaseRun('a')
  await vi.waitFor(async () => expect(await other.claimRun('a')).toBe(true))
  expect(await one.claimRun('a')).toBe(false)
})

test('where there are no locks every run is free', async () => {
  const { claimRun } = await freshPage(undefined)
  expect(await claimRun('a')).toBe(true)
})
