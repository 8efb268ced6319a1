// Tests which kernels can be part of another, and what a joined list of commands keeps apart.
import { expect, test } from 'vitest'
import { everyKernel } from '../../wgsl/testing.ts'
import { defineKernel } from '../base/kernel.ts'
import { collect, type Recorder } from '../base/program.ts'
import { joinCommands } from './join_commands.ts'
import { kernelParts } from './kernel_parts.ts'
import { SeparateBuffers } from './testing.ts'

const double = defineKernel({
  name: 'double',
  wgsl: `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { out[id.x] = 2.0 * x[id.x]; }
}`,
  params: { count: 'u32' },
  bindings: { x: 'read', out: 'read_write' },
  workgroups: ({ count }) => [Math.ceil(count / 64)],
})

const plan = new SeparateBuffers()
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((label) => plan.tensor(label, 'f32', [128]))

/** Names of the kernels that run after joining; copies and clears by their kind. */
const joined = (build: (r: Recorder<'count'>) => void) =>
  joinCommands(collect('test', build)).map((command) =>
    command.kind === 'dispatch' ? command.kernel.name : command.kind,
  )
const run = (r: Recorder<'count'>, x = a, out = b) => r.run(double, { count: 128 }, { x, out })

test('independent calls become one, in which what both read is bound once', () => {
  const names = joined((r) => {
    run(r, a, b)
    run(r, a, c)
  })
  expect(names).toEqual(['double + double (p1_x=p0_x)'])
})

test('a call that needs another, or overwrites what it reads or writes, stays behind it', () => {
  for (const second of [
    [b, c],
    [c, a],
    [c, b],
  ])
    expect(
      joined((r) => {
        run(r, a, b)
        run(r, second[0], second[1])
      }),
    ).toEqual(['double', 'double'])
})

test('a call joins an earlier one past calls that it does not touch, and waits for one below them', () => {
  const chain = joined((r) => {
    run(r, a, b)
    run(r, b, c)
    run(r, a, d)
  })
  expect(chain).toEqual(['double + double (p1_x=p0_x)', 'double'])
  const waiting = joined((r) => {
    run(r, a, d)
    run(r, a, b)
    run(r, b, c)
    r.clear(b)
  })
  expect(waiting).toEqual(['double + double (p1_x=p0_x)', 'double', 'clear'])
  const below = joined((r) => {
    r.clear(a)
    run(r, a, d)
    r.copy(a, b)
    run(r, b, c)
  })
  expect(below).toEqual(['clear', 'copy', 'double + double'])
})

test('no buffer is bound for reading and for writing, even in different places', () => {
  const [low, high] = [plan.view(a, 'low', 0, [64]), plan.view(a, 'high', 64, [64])]
  const names = joined((r) => {
    run(r, b, low)
    run(r, high, c)
  })
  expect(names).toEqual(['double', 'double'])
})

test('the grid of a joined call follows live values', () => {
  const [command] = joinCommands(
    collect<'count'>('test', (r) => {
      r.run(double, { count: ({ count }) => count }, { x: a, out: b })
      run(r, a, c)
    }),
  )
  if (command.kind !== 'dispatch') throw new Error('expected a dispatch')
  expect(command.grid).toBeUndefined()
  const values = command.patches.map(({ offset, value }) => [offset / 4, value({ count: 65 })])
  expect(Object.keys(command.kernel.params).slice(0, 4)).toEqual([
    'p0_count',
    'p0_workgroups',
    'p0_workgroups_x',
    'p0_workgroups_y',
  ])
  expect(values).toEqual([
    [0, 65],
    [1, 2],
    [2, 2],
    [3, 1],
  ])
})

test('kernels are read, but for those that keep structs or single values in workgroup memory', () => {
  const unread = everyKernel.filter((kernel) => !kernelParts(kernel)).map(({ name }) => name)
  expect(
    unread.filter((name) =>
      /^(matmul(?!\w*_matrices_)|rms_norm|reduce_rows|qk_norm|embedding_f)/.test(name),
    ),
  ).toEqual([])
  expect(unread.length / everyKernel.length).toBeLessThan(0.2)
})
