import { expect, test } from 'vitest'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { readHeader, readRun } from '../../page/runs/record/read.ts'
import { begun, recorderOn, stepEvent, told } from '../../page/runs/testing.ts'
import { initialState } from '../../page/state/store.ts'
import { readRecording, writeRecording } from '../../record/files/recording.ts'
import { memoryStorage } from '../../record/run/storage.ts'
import { presetOf } from '../presets/presets.ts'
import { type RolloutDType, rolloutDTypeText } from './rollout_dtype.ts'

const FALLEN: RolloutDType = { dtype: 'float32', difference: 0.5, reason: 'halves differ by 0.50' }
const memory = (rollout_dtype?: RolloutDType): Extract<LabEvent, { type: 'memory' }> => ({
  type: 'memory',
  run: 1,
  memory: {} as Extract<LabEvent, { type: 'memory' }>['memory'],
  counts: { buffers: 1 } as Extract<LabEvent, { type: 'memory' }>['counts'],
  ...(rollout_dtype && { rollout_dtype }),
})

test('what ran and what was measured is one sentence', () => {
  expect(rolloutDTypeText({ dtype: 'float16', difference: 0.000_412 })).toBe(
    'Rollouts ran on a float16 cache; attention from it differs by 0.00041 of its largest value on this adapter.',
  )
  expect(rolloutDTypeText(FALLEN)).toBe(
    'rollout.dtype: float16 was asked for, and rollouts ran on float32: halves differ by 0.50.',
  )
})

test('the page knows it from the first step on, and a run without halves has none', () => {
  const state = told(begun(1), memory(FALLEN), stepEvent(1, 0), stepEvent(1, 1))
  expect(state.rollout_dtype).toEqual(FALLEN)
  expect(told(state, memory()).rollout_dtype).toBeUndefined()
  expect(initialState().rollout_dtype).toBeUndefined()
})

test('a kept run holds it', async () => {
  const storage = memoryStorage()
  const { recorder, settle } = recorderOn(storage)
  recorder.see(
    told(begun(1), memory(FALLEN), stepEvent(1, 0), {
      type: 'status',
      run: 1,
      status: 'finished',
    }),
  )
  await recorder.flush()
  await settle()
  const stored = await storage.read('run-1')
  if (!stored) throw new Error('nothing was stored')
  const read = readHeader(stored.header)
  expect(read.ok && read.header.rollout_dtype).toEqual(FALLEN)
  expect(read.ok && readRun(read.header, stored, 1).state.rollout_dtype).toEqual(FALLEN)
  const spoiled = readHeader({ ...(stored.header as object), rollout_dtype: { dtype: 'int4' } })
  expect(spoiled.ok ? 'sound' : spoiled.why).toMatch(/^rollout_dtype/)
})

test('a recording holds it', () => {
  const experiment = presetOf('tiny')?.experiment
  if (!experiment) throw new Error('no preset')
  const { run: _, ...event } = memory(FALLEN)
  const adapter = {
    vendor: 'v',
    architecture: 'a',
    description: 'an adapter',
    is_software: true,
    features: [],
    has_subgroups: true,
    has_f16: false,
    max_buffer_bytes: 1,
    max_binding_bytes: 1,
  }
  const text = writeRecording({
    experiment,
    adapter,
    date: '2026-11-21',
    versions: {},
    events: [
      { at_ms: 0, event: { type: 'step', step: 0, phase: 0, phase_step: 0, metrics: {} } },
      { at_ms: 1, event },
    ],
  })
  const read = readRecording(text)
  expect(read.ok && read.recording.events[1].event).toMatchObject({ rollout_dtype: FALLEN })
})
