// Tests that another look for a GPU says what came of it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { initialState, labStore } from '../../page/state/store.ts'
import { uiStore } from '../shown/store.ts'
import { findGpu, needsStore } from './find_gpu.ts'

const { openAgain } = vi.hoisted(() => ({ openAgain: vi.fn() }))
vi.mock('../../page/client/starting.ts', () => ({ reset: openAgain }))

const lost = { name: 'GpuError', code: 'no_adapter', message: 'nothing here' } as const
const toast = () => uiStore.getState().toast

beforeEach(() => {
  // A file that ran before in the same worker may have left a GPU.
  labStore.setState(initialState(), true)
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, pushState() {} })
})
afterEach(() => {
  vi.unstubAllGlobals()
  openAgain.mockReset()
})

test('each press says that there is still no GPU, or that one was found', () => {
  openAgain.mockImplementation(() => labStore.setState({ error: undefined, status: 'loading' }))
  for (const press of [1, 2]) {
    uiStore.setState({ tab: 'gpu' })
    const before = needsStore.getState().asked
    findGpu()
    // While it still looks, another press asks for nothing.
    findGpu()
    expect(toast()).toBe('Looking for a GPU …')
    labStore.setState({ status: 'failed', error: lost })
    // A panel that comes says it; one that was there does not say it again.
    expect(toast()).toBe(press === 1 ? '' : 'The browser still gives the page no GPU.')
    // What training needs is open, and in sight.
    const { asked } = needsStore.getState()
    expect(asked).toBeDefined()
    expect(asked).not.toBe(before)
    expect(uiStore.getState().tab).toBe('learn')
    expect(openAgain).toHaveBeenCalledTimes(press)
  }
  findGpu()
  labStore.setState({ status: 'idle', adapter: { description: 'a GPU' } as never })
  expect(toast()).toContain('Found a GPU')
})

test('what else went wrong is said in its own words', () => {
  openAgain.mockImplementation(() => labStore.setState({ error: undefined, status: 'loading' }))
  findGpu()
  const error = { name: 'GpuError', code: 'out_of_memory', message: 'no room for it' } as const
  labStore.setState({ status: 'failed', error })
  expect(toast()).toBe('no room for it')
})
