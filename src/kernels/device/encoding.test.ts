// Counts the calls of WebGPU that a replay makes, and the bytes that it uploads: encoding takes as
// long as these do, so a step of preset A stays where it was measured (docs/log/performance.md).
import { expect, test, vi } from 'vitest'
import { defineKernel } from './base/kernel.ts'
import { collect, SLOT_BYTES } from './base/program.ts'
import { type Stretch, stepsOf } from './base/stretch.ts'
import type { Buffers } from './buffers.ts'
import { Commands } from './commands.ts'
import { Dispatcher } from './dispatcher.ts'
import { OpenDevice } from './open_device.ts'

/** Dispatches of a reinforcement step of preset A on a GPU (src/rl/train/dispatches.test.ts). */
const STEP = 281

/** A function of WebGPU that counts its calls by name, and gives an object of such functions. */
function counting(calls: Record<string, number>): GPUDevice {
  const face: object = new Proxy(
    {},
    {
      get: (_, name: string) => {
        if (name === 'queue') return face
        if (name === 'lost') return new Promise(() => {})
        return () => {
          calls[name] = (calls[name] ?? 0) + 1
          return face
        }
      },
    },
  )
  return face as GPUDevice
}

const kernel = defineKernel({
  name: 'any',
  wgsl: '',
  params: { rows: 'u32', cols: 'u32', scale: 'f32' },
  bindings: { a: 'read', b: 'read', out: 'read_write' },
  workgroups: ({ rows }) => [rows, 1, 1],
})

test('a dispatch takes three calls, and a submit six with one upload of all params', () => {
  vi.stubGlobal('GPUBufferUsage', { UNIFORM: 64, COPY_DST: 8 })
  const calls: Record<string, number> = {}
  const open = new OpenDevice(counting(calls), [])
  const commands = new Commands(open, { create: () => ({}) } as unknown as Buffers)
  const dispatcher = new Dispatcher(open, commands)
  const tensor = {
    label: '',
    dtype: 'f32',
    shape: [8],
    offset: 0,
    buffer: {} as GPUBuffer,
  } as const
  const recorded = collect<'scale' | 'rows'>('step', ({ run }) => {
    for (let i = 0; i < STEP; i++)
      run(
        kernel,
        { rows: i % 2 ? 8 : ({ rows }) => rows, cols: 8, scale: ({ scale }) => scale },
        { a: tensor, b: tensor, out: tensor },
      )
  })
  const [stretch] = stepsOf(recorded) as Stretch[]
  delete calls.addEventListener
  stretch.setLive({ rows: 4, scale: 0.5 })
  dispatcher.encode(stretch)
  dispatcher.submit()
  expect(calls).toEqual({
    setPipeline: STEP,
    setBindGroup: STEP,
    dispatchWorkgroups: STEP,
    createCommandEncoder: 1,
    beginComputePass: 1,
    end: 1,
    finish: 1,
    writeBuffer: 1,
    submit: 1,
  })
  expect(open.counts.uploaded_bytes).toBe(STEP * SLOT_BYTES)
  vi.unstubAllGlobals()
})
