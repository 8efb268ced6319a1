// Writes numbers as the page shows them. What was not computed is a dash.

import { numberWords } from '../../document/experiment/fields/number_words.ts'

export const NONE = '–'

type Value = number | undefined

const isShown = (value: Value): value is number => value !== undefined && Number.isFinite(value)

/** A number as text with the sign U+2212, which is as wide as a plus; its exponent has the sign
 * that fields and names have. */
export const withMinus = (text: string): string => text.replace(/(?<!e)-/g, '−')

/** `toLocaleString` looks its language up each time. */
const grouped = new Intl.NumberFormat('en')

/** Three significant digits; scientific below 0.001 and from a million. */
export function formatNumber(value: Value): string {
  if (!isShown(value)) return value === undefined ? NONE : 'not finite'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size < 1e-3 || size >= 1e6) return withMinus(value.toExponential(1).replace('e+', 'e'))
  if (size >= 1000) return withMinus(grouped.format(Math.round(value)))
  return withMinus(String(Number(value.toPrecision(3))))
}

/** With a sign where it is above or below 0. */
export const formatSigned = (value: Value): string =>
  value === undefined ? NONE : `${value > 0 ? '+' : ''}${formatNumber(value)}`

/** "1 step", "2 steps". */
export const formatSteps = (steps: number): string => `${steps} ${steps === 1 ? 'step' : 'steps'}`

/** 0.8312 as 83.1 %. */
export function formatShare(value: Value): string {
  return isShown(value) ? `${withMinus((value * 100).toFixed(1))}\u00a0%` : NONE
}

/** As many digits as a tick needs, without what rounding left behind them. */
const exact = (value: number): number => Number(value.toPrecision(12))

/** Axis ticks of a share; a narrow space, so that 0.25 % fits beside an axis. */
export const formatPercent = (share: number): string =>
  `${withMinus(String(exact(share * 100)))}\u202f%`

/** An entropy, without its unit. */
export const formatEntropy = (value: Value, digits = 3): string =>
  isShown(value) ? withMinus(value.toFixed(digits)) : NONE

export const formatNats = (value: Value): string =>
  isShown(value) ? `${formatEntropy(value)} nats` : NONE

export function formatCount(value: Value): string {
  return isShown(value) ? withMinus(grouped.format(Math.round(value))) : NONE
}

/** Bytes in the largest unit that leaves at least 1. */
export function formatBytes(value: Value): string {
  if (!isShown(value)) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB']
  const power = value < 1 ? 0 : Math.min(3, Math.floor(Math.log2(value) / 10))
  const scaled = value / 1024 ** power
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`
}

/** Seconds as 45 s, 3 min 20 s or 1 h 05 min. */
export function formatDuration(value: Value): string {
  if (!isShown(value)) return NONE
  const seconds = Math.max(0, Math.round(value))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** How the ticks of a chart are written whose values are written so. */
export const tickOf = (format?: (value: Value) => string): ((value: number) => string) =>
  format === formatShare ? formatPercent : format === formatRate ? numberWords : formatTick

/** A learning rate as its field shows it, to three digits. */
export const formatRate = (value: Value): string =>
  isShown(value) ? numberWords(Number(value.toPrecision(3))) : NONE

/** Axis ticks: in their shortest form, so that no two say the same. */
export function formatTick(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e4 && size < 1e6) return withMinus(`${exact(value / 1000)}k`)
  if (size < 1e-3 || size >= 1e6) return withMinus(exact(value).toExponential().replace('e+', 'e'))
  return withMinus(String(exact(value)))
}
