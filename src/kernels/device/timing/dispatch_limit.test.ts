import { expect, test } from 'vitest'
import type { AnyKernel } from '../base/kernel.ts'
import type { Dispatch, Grid } from '../base/program.ts'
import type { Timing } from '../base/timing.ts'
import { DispatchLimit, type Sent, sharedTimes } from './dispatch_limit.ts'

const kernel: AnyKernel = {
  name: 'k',
  wgsl: `@compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3u) { }`,
  params: { count: 'u32' },
  bindings: {},
  workgroups: () => [1],
}
const dispatch = (grid: Grid | undefined, params = 0, of = kernel): Dispatch => ({
  kind: 'dispatch',
  kernel: of,
  tensors: {},
  grid,
  params: Uint8Array.of(params, 0, 0, 0),
  patches: [],
  pipeline: undefined as never,
  layout: undefined as never,
  storage: [],
})

/** What `Gpu` does of a dispatch that was found too long. */
const cut = (dispatches: readonly Dispatch[]) => {
  for (const each of dispatches)
    each.cut = { pipeline: undefined as never, group: undefined as never, parts: 1 }
}

const queries = () => ({ destroy: () => {} }) as unknown as GPUQuerySet
const ns = (...ms: number[]) =>
  BigUint64Array.from(ms.flatMap((t) => [1_000n, 1_000n + BigInt(t * 1e6)]))
/** Measures dispatches that take these milliseconds, from time 0 to 10,000. */
function measure(limit: DispatchLimit, calls: readonly (readonly [Dispatch, number])[]) {
  for (const [each] of calls) limit.begin(limit.timingOf(each), 0)
  return limit.learn(limit.take(), ns(...calls.map(([, ms]) => ms)), 10_000)
}

test('the longest of its samples decides, half of the limit is aimed at, and the grid bounds the parts', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const [quick, slow, few] = [
    dispatch([90, 1, 1], 1),
    dispatch([90, 1, 1], 2),
    dispatch([2, 3, 1], 3),
  ]
  expect(
    measure(limit, [
      [quick, 50],
      [slow, 10],
      [slow, 101],
      [few, 500],
    ]),
  ).toEqual([slow, few])
  expect([quick, slow, few].map(({ timing }) => timing?.parts)).toEqual([1, 5, 3])
  expect(limit.limits).toEqual({ longest_ms: 500, split_dispatches: 0 })
  cut([slow, few])
  expect(limit.limits).toEqual({ longest_ms: 500, split_dispatches: 2 })
  // What is cut is not measured again; what is whole is, in the next rounds.
  expect([quick, slow, few].map(({ timing }) => timing && limit.wants(timing))).toEqual([
    true,
    false,
    false,
  ])
})

test('dispatches of one kernel with the same params are known by each other, those that come later too', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const [first, second, other] = [dispatch([8, 1, 1]), dispatch([8, 1, 1]), dispatch([8, 1, 1], 1)]
  expect(limit.timingOf(second)).toBe(limit.timingOf(first))
  expect(limit.timingOf(other)).not.toBe(limit.timingOf(first))
  expect(
    measure(limit, [
      [first, 80],
      [other, 1],
    ]),
  ).toEqual([second, first].reverse())
  cut([first, second])
  expect(limit.isPending).toBe(false)
  const third = dispatch([8, 1, 1])
  limit.timingOf(third)
  expect(limit.isPending).toBe(true)
  expect(limit.learn(limit.take(), new BigUint64Array())).toEqual([third])
})

test('when everything is freed, what was recorded is forgotten, and what was learned is not', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const [old, late] = [dispatch([8, 1, 1]), dispatch([8, 1, 1])]
  expect(measure(limit, [[old, 80]])).toEqual([old])
  limit.begin(limit.timingOf(old))
  limit.forget()
  expect(limit.isPending).toBe(false)
  limit.timingOf(late)
  expect(limit.learn(limit.take(), new BigUint64Array())).toEqual([late])
})

test('three samples in each of three rounds, then nothing is measured any more', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const timing = limit.timingOf(dispatch([8, 1, 1]))
  let samples = 0
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 5 && limit.wants(timing); i++, samples++) limit.begin(timing, 0)
    expect(limit.isPending).toBe(round < 3)
    limit.learn(limit.take(), ns(1, 1, 1), 10)
  }
  expect([samples, timing.samples]).toEqual([9, 9])
})

test('dispatches are settled together once all were measured in three rounds and none is cut', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const [quick, slow, long] = [1, 2, 3].map((params) => dispatch([8, 1, 1], params))
  const [both, all] = [
    [quick, slow],
    [quick, slow, long],
  ]
  for (let round = 0; round < 3; round++) {
    expect(limit.settledMs(both)).toBeUndefined()
    measure(limit, [
      [quick, 2 + round],
      [slow, 40],
      [long, 80],
    ])
  }
  expect(limit.settledMs(both)).toBe(3 + 40)
  expect(limit.settledMs(all)).toBeUndefined()
})

test('unmeasured dispatches share a submit with few others, measured ones with as many as their mean allows', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const each = dispatch([8, 1, 1])
  const timing = limit.timingOf(each)
  expect(limit.mostSubmitMs / limit.expected(timing)).toBe(8)
  measure(limit, [
    [each, 1],
    [each, 3],
  ])
  expect(limit.expected(timing)).toBe(2)
})

test('a kernel that one workgroup runs stays whole, and says so by its time', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const single = dispatch([1, 1, 1], 0, {
    ...kernel,
    wgsl: kernel.wgsl.replace('workgroup_id', 'local_invocation_id'),
  })
  const alone = dispatch([1, 1, 1], 1)
  expect(
    measure(limit, [
      [single, 900],
      [alone, 60],
    ]),
  ).toEqual([])
  expect(limit.limits).toEqual({ longest_ms: 900, split_dispatches: 0 })
})

test('a clock that claims more time than has passed is not believed', () => {
  const limit = new DispatchLimit({ mostMs: 50 }, queries)
  const each = dispatch([8, 1, 1])
  limit.begin(limit.timingOf(each), 100)
  expect(limit.learn(limit.take(), ns(80), 179)).toEqual([])
  limit.begin(limit.timingOf(each), 100)
  expect(limit.learn(limit.take(), ns(80), 181)).toEqual([each])
})

test('without stamps a dispatch takes from its submit, or the end of the one before, to its end', async () => {
  const limit = new DispatchLimit({ mostMs: 50 }, undefined)
  const each = [1, 2].map((params) => dispatch([8, 1, 1], params))
  let clock = 0
  const ends: (() => void)[] = []
  const send = (timing: Timing | undefined, at: number) => {
    clock = at
    const done = new Promise<void>((resolve) => ends.push(resolve))
    limit.sent(timing, 1, done, () => clock)
  }
  send(undefined, 0)
  for (const one of each) {
    expect(limit.begin(limit.timingOf(one), 0)).toBeUndefined()
    send(limit.timingOf(one), 5)
  }
  for (const [i, at] of [70, 90, 190].entries()) {
    clock = at
    ends[i]()
    await Promise.resolve()
  }
  expect(limit.learn(limit.take(), new BigUint64Array(), 200)).toEqual([each[1]])
  expect(each.map(({ timing }) => timing?.longest_ms)).toEqual([20, 100])
})

test('submits whose ends cannot be told apart share their time by weight; one that marks a time ends alone', () => {
  const timing = {} as Timing
  const sent = (weight: number, sentAt: number, ended_at: number, isMark = false): Sent => ({
    timing: isMark ? undefined : timing,
    weight,
    sentAt,
    ended_at,
  })
  expect(sharedTimes([])).toEqual([])
  expect(
    sharedTimes([
      sent(1, 0, 40, true),
      sent(1, 1, 40.5),
      sent(9, 2, 100),
      sent(1, 3, 100.9),
      sent(5, 200, 230),
      sent(1, 201, 230.1, true),
    ]).map((ms) => Number(ms.toFixed(3))),
  ).toEqual([40, 0.5, 54.36, 6.04, 30, 0.1])
})
