// One geometry for every plot, so that the canvas lies exactly on the axes and steps line up between charts.

import type { Domain } from './domain.ts'

/** Room around the plot area, in CSS pixels: phase labels above, step ticks below, value ticks at the left. */
export const INSET = { top: 18, right: 12, bottom: 22, left: 42 } as const

export interface Size {
  readonly width: number
  readonly height: number
}

/** Size of the plot area inside a chart of this size; never negative. */
export function plotSize({ width, height }: Size): Size {
  return {
    width: Math.max(0, Math.floor(width - INSET.left - INSET.right)),
    height: Math.max(0, Math.floor(height - INSET.top - INSET.bottom)),
  }
}

/** A phase as the charts show it: it begins after `step` and ends after `end`, as planned while it runs. */
export interface PhaseSpan {
  readonly step: number
  readonly end: number
  /** 1 for the first phase of the experiment. */
  readonly number: number
  readonly name: string
  readonly is_sft: boolean
}

/** Number of a phase as one sign, so that neighbours never read as one number: ①, ②, … */
export const phaseMark = (number: number): string =>
  number <= 20 ? String.fromCodePoint(0x245f + number) : `(${number})`

/** Marker label: number and name where it fits before the next marker, else the number alone. */
export function markerLabels(
  spans: readonly PhaseSpan[],
  x: Domain,
  width: number,
  with_names: boolean,
): string[] {
  return spans.map((span, i) => {
    const next = i + 1 < spans.length ? spans[i + 1].step : x[1]
    const room = ((next - span.step) / (x[1] - x[0])) * width
    const text = `${phaseMark(span.number)} ${span.name}`
    return with_names && text.length * 6.2 + 8 < room ? text : phaseMark(span.number)
  })
}
