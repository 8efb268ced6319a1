// Makes timestamps on an open device and reads them back. Their buffers are not counted, because
// measuring should not show in what is measured.

import type { Dispatch } from './base/program.ts'
import type { OpenDevice } from './open_device.ts'
import type { DispatchLimit } from './timing/dispatch_limit.ts'
import { STAMPS, StageClock } from './timing/stage_clock.ts'
import { QUERIES, type Stamps } from './timing/stamps.ts'

/** Makes sets of QUERIES timestamps; undefined where the device has none. */
export function queryMaker({ device }: OpenDevice): (() => GPUQuerySet) | undefined {
  if (!device.features.has('timestamp-query')) return undefined
  return () => device.createQuerySet({ label: 'profile', type: 'timestamp', count: QUERIES })
}

/** A clock for the stages of a step; undefined where the device has no timestamps. */
export function createStageClock({ device }: OpenDevice): StageClock | undefined {
  if (!device.features.has('timestamp-query')) return undefined
  const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC
  return new StageClock(
    device.createQuerySet({ label: 'stages', type: 'timestamp', count: STAMPS }),
    device.createBuffer({ label: 'stages', size: STAMPS * 8, usage }),
  )
}

/** Reads the timestamps of all pairs in order. */
export async function readStamps(
  open: OpenDevice,
  queries: Stamps<unknown>['queries'],
): Promise<BigUint64Array> {
  if (queries.length === 0) return new BigUint64Array()
  const { device } = open
  const buffer = (usage: number) =>
    device.createBuffer({ label: 'profile', size: queries.length * QUERIES * 8, usage })
  const resolved = buffer(GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC)
  const staging = buffer(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)
  const encoder = device.createCommandEncoder()
  queries.forEach(({ set, count }, i) => {
    encoder.resolveQuerySet(set, 0, count, resolved, i * QUERIES * 8)
  })
  encoder.copyBufferToBuffer(resolved, 0, staging, 0, staging.size)
  device.queue.submit([encoder.finish()])
  try {
    await open.map(staging, staging.size, 'timestamps')
    const count = queries.reduce((sum, set) => sum + set.count, 0)
    return new BigUint64Array(staging.getMappedRange().slice(0)).subarray(0, count)
  } finally {
    resolved.destroy()
    staging.destroy()
  }
}

/** Waits for what was measured since the last call. Returns the dispatches to cut. */
export async function learnRound(open: OpenDevice, limit: DispatchLimit): Promise<Dispatch[]> {
  const round = limit.take()
  try {
    const stamps = await readStamps(open, round?.stamps?.queries ?? [])
    await Promise.all(round?.done ?? [])
    return limit.learn(round, stamps)
  } finally {
    round?.stamps?.destroy()
  }
}
