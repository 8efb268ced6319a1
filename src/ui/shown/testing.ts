// Helps the page's tests; never shipped.

import type { RunSource } from '../../record/run/record.ts'
import type { LineContext } from '../plot/lines/line_style.ts'
import type { Columns } from '../scales/columns.ts'

/** Columns with one value per step, from step `first`. */
export function columnsOf(values: readonly number[], first = 0): Columns {
  return { steps: values.map((_, i) => first + i), values, length: values.length }
}

/** A 2D context that writes down what is drawn: each call as 'name args'. */
export function recordingContext(): { readonly ctx: LineContext; readonly calls: string[] } {
  const calls: string[] = []
  const record =
    (name: string) =>
    (...args: unknown[]) => {
      calls.push([name, ...args.map((arg) => JSON.stringify(arg))].join(' '))
    }
  const ctx: LineContext = {
    beginPath: record('beginPath'),
    moveTo: record('moveTo'),
    lineTo: record('lineTo'),
    arc: (x, y) => record('arc')(x, y),
    stroke: record('stroke'),
    fill: record('fill'),
    fillRect: record('fillRect'),
    setLineDash: record('setLineDash'),
    lineDashOffset: 0,
    strokeStyle: '',
    fillStyle: '',
    lineWidth: 1,
    lineJoin: 'round',
    globalAlpha: 1,
  }
  return { ctx, calls }
}

/** What a run of verl was imported from. */
export const VERL_LOG: RunSource = { kind: 'verl', file: 'verl.jsonl', remarks: [] }
