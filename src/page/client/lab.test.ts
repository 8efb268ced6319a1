// Tests how the page opens, and what it does with events and a worker that dies.
import { expect, test, vi } from 'vitest'
import { encodeCard, makeCard } from '../../host/protocol/card.ts'
import { PLAN_REST_MS } from '../state/asked_plan.ts'
import { labStore } from '../state/store.ts'
import { benchmark, train } from './controls.ts'
import { editField } from './edits.ts'
import {
  adapter,
  draw,
  frames,
  openPage,
  port,
  ports,
  step,
  types,
  withTestPages,
} from './testing.ts'

withTestPages()

test('the page opens on the preset of a first run and asks for the adapter', () => {
  openPage('')
  expect(labStore.getState()).toMatchObject({
    status: 'loading',
    preset_id: 'first-steps',
    notices: [],
  })
  expect(types()).toEqual(['open'])
  port().says({ type: 'adapter', adapter })
  draw()
  expect(labStore.getState().status).toBe('idle')
})

test('a GPU opens on a larger first run, unless a link or a person has chosen', () => {
  const gpu = { type: 'adapter', adapter: { ...adapter, is_software: false } } as const
  const opened = () => labStore.getState().preset_id
  openPage('')
  port().says(gpu)
  draw()
  expect(opened()).toBe('first-steps-gpu')
  openPage('?v=1&p=first-steps')
  port().says(gpu)
  draw()
  expect(opened()).toBe('first-steps')
  openPage('')
  editField('seed', 7)
  port().says(gpu)
  draw()
  expect(opened()).toBe('first-steps')
})

test('a link opens its experiment and says what it could not read', () => {
  openPage('?v=1&p=tiny&seed=7&colour=red')
  const { experiment, preset_id, notices } = labStore.getState()
  expect(preset_id).toBe('tiny')
  expect(experiment.seed).toBe(7)
  expect(notices).toEqual([expect.stringMatching(/'colour'/)])
})

test('a burst of steps is one update, and a stale run changes nothing', () => {
  openPage()
  train()
  let updates = 0
  const unsubscribe = labStore.subscribe(() => updates++)
  for (let n = 1; n <= 100; n++) port().says(step(1, n))
  port().says(step(0, 999))
  expect(frames).toHaveLength(1)
  draw()
  unsubscribe()
  expect(updates).toBe(1)
  expect(labStore.getState().step).toBe(100)
  expect(labStore.getState().series.get('loss')?.length).toBe(100)
})

test('train sends what the settings show, and an edit afterwards is for the next run', () => {
  openPage()
  expect(editField('seed', 5)).toBeUndefined()
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', run: 1, paused: false })
  expect(port().commands.at(-1)).toHaveProperty('experiment.seed', 5)
  const { runExperiment, experiment, status } = labStore.getState()
  expect(status).toBe('preparing')
  expect(runExperiment).toBe(experiment)
  editField('seed', 6)
  expect(labStore.getState().runExperiment?.seed).toBe(5)
  expect(labStore.getState().experiment.seed).toBe(6)
})

test('a dead worker is said, and the next run gets a new one', () => {
  openPage()
  train()
  port().says(step(1, 2))
  port().listeners.error({ message: 'boom' })
  expect(labStore.getState()).toMatchObject({
    status: 'failed',
    step: 2,
    error: { code: 'worker', message: 'boom' },
  })
  const [dead] = ports
  expect(dead.isTerminated).toBe(true)
  dead.says(step(1, 3))
  draw()
  expect(labStore.getState().step).toBe(2)
  train()
  expect(ports).toHaveLength(2)
  expect(types()).toEqual(['open', 'start'])
  expect(labStore.getState()).toMatchObject({ status: 'preparing', error: undefined, step: 0 })
})

test('an unreadable message counts as a dead worker', () => {
  openPage()
  port().listeners.messageerror({})
  expect(labStore.getState()).toMatchObject({ status: 'failed', error: { code: 'worker' } })
})

test('a card in the hash is shown and leaves the experiment alone; a broken one is a notice', async () => {
  const numbers = {
    peak_gflops: 1,
    peak_gbps: 2,
    matmul_256_gflops: 3,
    matmul_512_gflops: 4,
    sft_steps_per_second: 5,
    rl_steps_per_second: 6,
    rollout_tokens_per_second: 7,
  }
  const card = makeCard('NVIDIA H100', 'Chrome 142', numbers)
  openPage('?v=1&p=tiny&seed=7', `#${encodeCard(card)}`)
  await vi.waitFor(() =>
    expect(labStore.getState()).toMatchObject({ sharedCard: card, notices: [] }),
  )
  expect(labStore.getState().experiment.seed).toBe(7)
  benchmark()
  expect(types()).toEqual(['open', 'benchmark'])
  expect(labStore.getState().benchmark.status).toBe('running')
  openPage('', '#card=1&adapter=x')
  await vi.waitFor(() =>
    expect(labStore.getState().notices[0]).toMatch(
      /^The benchmark result in the link was left out/,
    ),
  )
  expect(labStore.getState().sharedCard).toBeUndefined()
})

test('the memory of what Train would train is asked for soon, and again when that has changed', () => {
  openPage('?p=tiny')
  const plans = () => port().commands.filter(({ type }) => type === 'plan')
  expect(plans()).toEqual([])
  vi.advanceTimersByTime(PLAN_REST_MS)
  expect(plans()).toEqual([{ type: 'plan', experiment: labStore.getState().experiment }])
  editField('rollout.n', 4)
  editField('rollout.n', 2)
  vi.advanceTimersByTime(PLAN_REST_MS)
  expect(plans()).toHaveLength(2)
  expect(plans()[1]).toHaveProperty('experiment.rollout.n', 2)
  port().says({ type: 'plan', bytes: 7, allowed_bytes: 9 })
  draw()
  expect(labStore.getState().plan).toEqual({ bytes: 7, allowed_bytes: 9 })
})
