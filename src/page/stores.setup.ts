// Gives every file of unit tests the stores of a fresh page, whatever the file before it left in
// them: files of one process share their modules.
import { beforeAll, vi } from 'vitest'
import type { StoreApi } from 'zustand/vanilla'

type Stores = Set<StoreApi<unknown>>
const shared = globalThis as { storesOfTests?: Stores }

vi.mock('zustand/vanilla', async (original) => {
  const vanilla = await original<typeof import('zustand/vanilla')>()
  shared.storesOfTests ??= new Set()
  const stores = shared.storesOfTests
  const kept = (store: StoreApi<unknown>) => {
    stores.add(store)
    return store
  }
  // Called with types alone, it takes what makes the store in a second call.
  const createStore = (make?: never) =>
    make ? kept(vanilla.createStore(make)) : (made: never) => kept(vanilla.createStore(made))
  return { ...vanilla, createStore }
})

beforeAll(() => {
  for (const store of shared.storesOfTests ?? []) store.setState(store.getInitialState(), true)
})
