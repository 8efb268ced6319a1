// Counts the calls of WebGPU that a replay makes, and the bytes that it uploads: encoding takes as
// long as these do, so a step of preset A stays where it was measured (docs/log/performance.md).
import { expect, test, vi } from 'vitest'
import { layOut, type Stretch } from './base/dispatch_table.ts'
import { defineKernel } from './base/kernel.ts'
import { collect, SLOT_BYTES } from './base/program.ts'
import type { Buffers } from './buffers.ts'
import { Commands } from './commands.ts'
import { Dispatcher } from './dispatcher.ts'
import { OpenDevice } from './open_device.ts'
import { createPlace } from './places.ts'

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

test('a dispatch takes three calls, and a program one upload where its params changed', () => {
  vi.stubGlobal('GPUBufferUsage', { UNIFORM: 64, COPY_DST: 8 })
  const calls: Record<string, number> = {}
  const open = new OpenDevice(counting(calls), [])
  const buffers = { create: () => ({}), createUncounted: () => ({}) } as unknown as Buffers
  const commands = new Commands(open, buffers)
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
  const { steps, table } = layOut(recorded)
  const place = createPlace(open, buffers, 'step', table)
  const replay = (live: { readonly rows: number; readonly scale: number }) => {
    table.setLive(live)
    dispatcher.fill(table, place)
    for (const step of steps) dispatcher.encode(table, step as Stretch, place)
    dispatcher.keep(place)
  }
  const dispatched = { setPipeline: STEP, setBindGroup: STEP, dispatchWorkgroups: STEP }
  const submitted = { createCommandEncoder: 1, beginComputePass: 1, end: 1, finish: 1, submit: 1 }
  const callsOf = (work: () => void) => {
    for (const name in calls) delete calls[name]
    work()
    dispatcher.submit()
    return calls
  }
  const live = { rows: 4, scale: 0.5 }
  const once = { ...dispatched, ...submitted }
  expect(callsOf(() => replay(live))).toEqual({ writeBuffer: 1, ...once })
  expect(open.counts.uploaded_bytes).toBe(STEP * SLOT_BYTES)
  expect(callsOf(() => replay(live))).toEqual(once)
  expect(callsOf(() => replay({ rows: 3, scale: 0.5 }))).toEqual({ writeBuffer: 1, ...once })

  // Twice in one submit: the second brings its params by a copy between two passes.
  const twice = () => {
    replay({ rows: 2, scale: 1 })
    replay({ rows: 1, scale: 1 })
  }
  expect(callsOf(twice)).toEqual({
    setPipeline: 2 * STEP,
    setBindGroup: 2 * STEP,
    dispatchWorkgroups: 2 * STEP,
    ...submitted,
    beginComputePass: 2,
    end: 2,
    writeBuffer: 2,
    copyBufferToBuffer: 1,
  })
  vi.unstubAllGlobals()
})
