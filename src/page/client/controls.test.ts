// The buttons of a run, and what they tell the worker.
import { expect, test } from 'vitest'
import { labStore } from '../state/store.ts'
import { pause, profileStep, resume, stepOnce, traceStep, train } from './controls.ts'
import { reset, trainAllowing } from './starting.ts'
import { nextPhase } from './steering.ts'
import { adapter, draw, openPage, port, step, types, withTestPages } from './testing.ts'

withTestPages()

test('the buttons send their commands', () => {
  openPage()
  train()
  pause()
  resume()
  nextPhase()
  port().says({ type: 'status', run: 1, status: 'paused' })
  draw()
  stepOnce()
  expect(types()).toEqual(['open', 'start', 'pause', 'resume', 'next_phase', 'step'])
})

test('a single step begins a run where there is none', () => {
  openPage()
  stepOnce()
  expect(port().commands.slice(1)).toMatchObject([
    { type: 'start', run: 1, paused: true },
    { type: 'step' },
  ])
})

test('where the run begins with a shipped model, the order waits until the run has begun', async () => {
  for (const order of [stepOnce, profileStep]) {
    openPage('')
    order()
    await expect.poll(() => types()).toContain('start')
    // A slow machine asks for the plan before the files of the model are read.
    const asked = types().filter((type) => type !== 'plan')
    expect(asked.slice(1)).toEqual(['start', order === stepOnce ? 'step' : 'profile'])
  }
})

test('reset goes back to before step 0, and what the old run still sends is dropped', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  port().says(step(1, 3))
  draw()
  expect(labStore.getState().step).toBe(3)
  reset()
  port().says(step(1, 4), {
    type: 'failed',
    run: 1,
    error: { name: '', code: 'lost', message: '' },
  })
  draw()
  const { status, step: at, series, runExperiment } = labStore.getState()
  expect({ status, at, size: series.size, runExperiment }).toEqual({
    status: 'idle',
    at: 0,
    size: 0,
    runExperiment: undefined,
  })
  expect(types().at(-1)).toBe('stop')
})

test('a pause is acknowledged before the worker has done the step in flight', () => {
  openPage()
  pause()
  expect(labStore.getState().isPausing).toBe(false)
  port().says({ type: 'adapter', adapter })
  draw()
  train()
  const { run } = labStore.getState()
  port().says({ type: 'status', run, status: 'running' }, step(run, 1))
  draw()
  pause()
  expect(labStore.getState()).toMatchObject({ status: 'running', isPausing: true })
  // The step in flight, and a progress that says nothing of the pause.
  port().says(step(run, 2))
  draw()
  expect(labStore.getState().isPausing).toBe(true)
  port().says({ type: 'status', run, status: 'paused' })
  draw()
  expect(labStore.getState()).toMatchObject({ status: 'paused', isPausing: false })
  resume()
  port().says({ type: 'status', run, status: 'running' })
  draw()
  pause()
  port().says({ type: 'failed', run, error: { name: 'E', code: 'internal', message: '' } })
  draw()
  expect(labStore.getState().isPausing).toBe(false)
})

test('profiling begins a run that pauses, or measures a step of the one that is on', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  profileStep()
  expect(port().commands.slice(1)).toMatchObject([
    { type: 'start', paused: true },
    { type: 'profile' },
  ])
  expect(labStore.getState().isProfiling).toBe(true)
  profileStep()
  expect(types()).toEqual(['open', 'start', 'profile', 'profile'])
  // Of a run that is over no step is left.
  port().says({ type: 'status', run: 1, status: 'finished' })
  draw()
  profileStep()
  expect(port().commands.slice(-2)).toMatchObject([
    { type: 'start', run: 2, paused: true },
    { type: 'profile' },
  ])
})

test('a trace is asked for in a run alone; in a pause it comes with one step', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  traceStep()
  expect(types()).toEqual(['open'])
  expect(labStore.getState().isTracing).toBe(false)
  train()
  traceStep()
  expect(types()).toEqual(['open', 'start', 'trace'])
  expect(labStore.getState().isTracing).toBe(true)
  port().says({ type: 'status', run: 1, status: 'paused' })
  draw()
  traceStep()
  expect(types()).toEqual(['open', 'start', 'trace', 'trace', 'step'])
})

test('a run that asks for much memory begins once a person has allowed it, and the next one asks again', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  const { run, record } = labStore.getState()
  expect(port().commands.at(-1)).toHaveProperty('allow_bytes', undefined)
  const error = { name: 'MemoryRefusal', code: 'memory', message: 'much', bytes: 9e9 } as const
  port().says({ type: 'failed', run, error })
  draw()
  trainAllowing(9e9)
  const again = port().commands.at(-1)
  expect(again).toMatchObject({ type: 'start', run: run + 1, allow_bytes: 9e9, paused: false })
  expect(again).not.toHaveProperty('record', record)
  port().says({ type: 'failed', run: run + 1, error })
  draw()
  train()
  expect(port().commands.at(-1)).toHaveProperty('allow_bytes', undefined)
})
