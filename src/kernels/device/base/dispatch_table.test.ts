// Tests that a table holds what dispatches of their own would have, and works out only what
// changes.
import { expect, test } from 'vitest'
import { joinCommands } from '../joined/join_commands.ts'
import { SeparateBuffers } from '../joined/testing.ts'
import { type DispatchTable, layOut } from './dispatch_table.ts'
import { defineKernel } from './kernel.ts'
import { type Command, collect, type Recorder, readParams, SLOT_BYTES } from './program.ts'

const asked: number[] = []
const kernel = defineKernel({
  name: 'rows',
  wgsl: `@compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3u) {
  out[group.x] = x[group.x] * params.scale;
}`,
  params: { rows: 'u32', scale: 'f32', seed: 'u32' },
  bindings: { x: 'read', out: 'read_write' },
  workgroups: ({ rows }) => {
    asked.push(rows)
    return [rows, 2]
  },
})
const plan = new SeparateBuffers()
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((label) => plan.tensor(label, 'f32', [64]))

type Live = 'rows' | 'scale' | 'seed'
const rows = ({ rows }: { readonly rows: number }) => rows

const paramsOf = (table: DispatchTable, index: number) =>
  readParams(
    table.dispatches[index].kernel.params,
    new DataView(table.params.buffer),
    index * SLOT_BYTES,
  )

const record = (build: (r: Recorder<Live>) => void) => collect('test', build)
const tableOf = (commands: readonly Command[]) => layOut(commands).table

test('params and grids are those of the last live values, -0 and NaN among them', () => {
  const table = tableOf(
    record((r) => {
      r.run(kernel, { rows: 7, scale: 0.5, seed: 1 }, { x: a, out: b })
      r.run(
        kernel,
        { rows, scale: ({ scale }) => scale, seed: ({ seed }) => seed },
        { x: b, out: c },
      )
    }),
  )
  for (const [live, scale, seed] of [
    [{ rows: 3, scale: 0.1, seed: -1 }, Math.fround(0.1), 0xffffffff],
    [{ rows: 5, scale: 0, seed: 2 }, 0, 2],
    [{ rows: 5, scale: -0, seed: 2 }, -0, 2],
    [{ rows: 4, scale: Number.NaN, seed: 0 }, Number.NaN, 0],
    [{ rows: 4, scale: Number.NaN, seed: 0 }, Number.NaN, 0],
  ] as const) {
    table.setLive(live)
    expect(paramsOf(table, 0)).toEqual({ rows: 7, scale: 0.5, seed: 1 })
    expect(paramsOf(table, 1)).toEqual({ rows: live.rows, scale, seed })
    expect([...table.grids]).toEqual([7, 2, 1, live.rows, 2, 1])
    expect(table.gridOf(1)).toEqual([live.rows, 2, 1])
  }
})

test('a function of several dispatches is asked once, and grids only when their params change', () => {
  let calls = 0
  const counted = (live: { readonly rows: number }) => {
    calls++
    return live.rows
  }
  const table = tableOf(
    record((r) => {
      r.run(kernel, { rows: counted, scale: 1, seed: 1 }, { x: a, out: b })
      r.run(kernel, { rows: counted, scale: 1, seed: 1 }, { x: b, out: c })
    }),
  )
  asked.length = 0
  for (const rows of [3, 3, 4]) table.setLive({ rows, scale: 1, seed: 1 })
  expect(calls).toBe(3)
  expect(asked).toEqual([3, 3, 4, 4])
})

test('a grid that cannot be dispatched is an error in every replay that asks for it', () => {
  for (const joins of [false, true]) {
    const recorded = record((r) => {
      r.run(kernel, { rows, scale: 1, seed: 1 }, { x: a, out: b })
      r.run(kernel, { rows, scale: 1, seed: 1 }, { x: c, out: d })
    })
    const table = tableOf(joins ? joinCommands(recorded) : recorded)
    expect(table.dispatches).toHaveLength(joins ? 1 : 2)
    table.setLive({ rows: 2, scale: 1, seed: 1 })
    const grids = [...table.grids]
    for (let i = 0; i < 2; i++)
      expect(() => table.setLive({ rows: 0, scale: 1, seed: 1 })).toThrow(/rows.*must be 1 to/)
    table.setLive({ rows: 2, scale: 1, seed: 1 })
    expect([...table.grids]).toEqual(grids)
  }
})

test('copies and clears part stretches', () => {
  const { steps } = layOut(
    record((r) => {
      r.clear(a)
      r.run(kernel, { rows: 1, scale: 1, seed: 1 }, { x: a, out: b })
      r.run(kernel, { rows: 1, scale: 1, seed: 1 }, { x: b, out: c })
      r.copy(c, d)
      r.run(kernel, { rows: 1, scale: 1, seed: 1 }, { x: d, out: a })
    }),
  )
  expect(
    steps.map((step) =>
      step.kind === 'stretch' ? [step.first, step.dispatches.length] : step.kind,
    ),
  ).toEqual(['clear', [0, 2], 'copy', [2, 1]])
})
