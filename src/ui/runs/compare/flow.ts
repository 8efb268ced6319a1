// Turns entropy changes of every block into bars: pure functions from an observation to rectangles.

import type { Observation } from '../../../host/protocol/observation.ts'
import type { KeptItem } from '../../../record/run/kept.ts'

/** What a block writes, and the block as a whole; nats. */
export const WRITES = [
  { key: 'dH_attn', label: 'attention' },
  { key: 'dH_ffn', label: 'feed-forward' },
  { key: 'dH_layer', label: 'whole block' },
] as const
type Write = (typeof WRITES)[number]['key']

/** Means over tokens, one number per block each. */
export type Flow = Readonly<Record<Write, readonly number[]>> & { readonly step: number }

/** Of the newest observation that measured all of it; undefined where none did. */
export function flowOf(items: readonly KeptItem<Observation>[]): Flow | undefined {
  for (const { step, item } of [...items].reverse()) {
    const { dH_attn, dH_ffn, dH_layer } = item.mean
    if (dH_attn && dH_ffn && dH_layer) return { step, dH_attn, dH_ffn, dH_layer }
  }
  return undefined
}

export interface Bar {
  readonly key: Write
  /** Counted from 1. */
  readonly layer: number
  readonly value: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Share of a block's width that its bars take. */
const FILLED = 0.75

/** Bars of a figure whose middle is 0 and whose edges are ±`scale`; a value that is not finite has
 * none. */
export function barsOf(flow: Flow, scale: number, width: number, height: number): Bar[] {
  const room = width / flow.dH_layer.length
  const each = (room * FILLED) / WRITES.length
  return WRITES.flatMap(({ key }, i) =>
    flow[key].flatMap((value, block) => {
      if (!Number.isFinite(value)) return []
      const length = (Math.abs(value) / scale) * (height / 2)
      const x = block * room + (room * (1 - FILLED)) / 2 + i * each
      const y = value > 0 ? height / 2 - length : height / 2
      return [{ key, layer: block + 1, value, x, y, width: each, height: length }]
    }),
  )
}
