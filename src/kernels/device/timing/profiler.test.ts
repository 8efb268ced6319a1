import { expect, test } from 'vitest'
import type { AnyKernel } from '../base/kernel.ts'
import { Recording } from './profiler.ts'
import { QUERIES } from './stamps.ts'

const none = new DataView(new ArrayBuffer(0))
const kernel = (name: string, flops?: number): AnyKernel => ({
  name,
  wgsl: '',
  params: {},
  bindings: {},
  workgroups: () => [1],
  ...(flops === undefined ? {} : { cost: () => ({ flops, bytes: 2 * flops }) }),
})

test('time, operations and bytes are added up by kernel and by stage', () => {
  let sets = 0
  const recording = new Recording(() => ({ id: sets++ }) as unknown as GPUQuerySet)
  const [a, b] = [kernel('a', 10), kernel('b')]
  const dispatch = (which: AnyKernel) => {
    if (recording.count(which, none)) recording.stamps()
  }
  recording.enter('gen')
  dispatch(a)
  dispatch(a) // same pass
  dispatch(b)
  recording.enter('update_actor')
  dispatch(a)
  // The last pass's clock stepped back.
  const stamps = BigUint64Array.of(0n, 3_000_000n, 3_000_000n, 3_500_000n, 9_000_000n, 8_000_000n)
  const profile = recording.finish(stamps)
  expect(recording.queries.map(({ count }) => count)).toEqual([6])
  expect(profile).toEqual({
    source: 'timestamps',
    resolutionNs: 500_000,
    dispatches: 4,
    time_ms: 3.5,
    kernels: [
      { name: 'a', calls: 3, time_ms: 3, flops: 30, bytes: 60 },
      { name: 'b', calls: 1, time_ms: 0.5, flops: undefined, bytes: undefined },
    ],
    stages: [
      { name: 'gen', calls: 3, time_ms: 3.5, flops: 20, bytes: 40 },
      { name: 'update_actor', calls: 1, time_ms: 0, flops: 10, bytes: 20 },
    ],
  })
})

test('more passes than one query set holds go into another', () => {
  let sets = 0
  const recording = new Recording(() => ({ id: sets++ }) as unknown as GPUQuerySet)
  const first: number[] = []
  for (let i = 0; i < QUERIES / 2 + 1; i++) {
    recording.count(kernel(i % 2 ? 'a' : 'b'), none)
    first.push(recording.stamps()?.beginningOfPassWriteIndex ?? -1)
  }
  expect(sets).toBe(2)
  expect(first.slice(-2)).toEqual([QUERIES - 2, 0])
  expect(recording.queries.map(({ count }) => count)).toEqual([QUERIES, 2])
})

test('without timestamps a stage takes from its submit, or the end of the one before, to its end', async () => {
  const recording = new Recording(undefined)
  let clock = 0
  const now = () => clock
  const submit = (stage: string, sentAt: number) => {
    recording.enter(stage)
    recording.count(kernel(stage, 1), none)
    clock = sentAt
    let end = () => {}
    recording.submitted(
      new Promise<void>((resolve) => {
        end = resolve
      }),
      now,
    )
    return async (at: number) => {
      clock = at
      end()
      await Promise.resolve()
    }
  }
  const gen = submit('gen', 100)
  const update = submit('update_actor', 110)
  await gen(130)
  await update(180)
  const { source, stages, kernels, time_ms } = recording.finish()
  expect([source, time_ms]).toEqual(['wall', 80])
  expect(stages.map(({ name, time_ms }) => [name, time_ms])).toEqual([
    ['gen', 30],
    ['update_actor', 50],
  ])
  expect(kernels.map(({ time_ms }) => time_ms)).toEqual([undefined, undefined])
  expect(recording.stamps()).toBeUndefined()
})
