import { beforeEach, expect, test } from 'vitest'
import { initialState, labStore } from '../../page/state/store.ts'
import { uiStore } from '../shown/store.ts'
import { keepAwake, type WakeHost } from './wake_lock.ts'

beforeEach(() => {
  labStore.setState(initialState())
  uiStore.setState({ keep_awake: true })
})

function fake() {
  const said: string[] = []
  const state = { isVisible: true, refuses: false }
  const host: WakeHost = {
    request: async () => {
      if (state.refuses) throw new Error('low battery')
      said.push('awake')
      return {
        release: async () => {
          said.push('may sleep')
        },
      }
    },
    isVisible: () => state.isVisible,
  }
  return { said, state, look: keepAwake(host) }
}

test('the screen is kept awake while a run trains, and only by choice', async () => {
  const { said, look } = fake()
  await look()
  expect(said).toEqual([])
  labStore.setState({ status: 'running' })
  await look()
  await look()
  expect(said).toEqual(['awake'])
  labStore.setState({ status: 'paused' })
  await look()
  expect(said).toEqual(['awake', 'may sleep'])
  uiStore.setState({ keep_awake: false })
  labStore.setState({ status: 'running' })
  await look()
  expect(said).toHaveLength(2)
})

test('a page that was hidden asks again; a refusal is no failure', async () => {
  const { said, state, look } = fake()
  labStore.setState({ status: 'running' })
  await look()
  state.isVisible = false
  await look()
  state.isVisible = true
  await look()
  expect(said).toEqual(['awake', 'awake'])
  const other = fake()
  other.state.refuses = true
  await other.look()
  expect(other.said).toEqual([])
})
