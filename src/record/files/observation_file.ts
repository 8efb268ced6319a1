// Writes observations as lines of text, as `lab train --observe` writes them.
import type { Observation } from '../../host/protocol/observation.ts'

/** Of float32 numbers: what a screen can show. */
const DIGITS = 6
const short = (x: number) => (Number.isFinite(x) ? Number(x.toPrecision(DIGITS)) : null)

/** One line of JSON, without its end: {"step": 3, "observation": {…}}, numbers to 6 digits, NaN as
 * null. */
export function observationLine(step: number, observation: Observation): string {
  const write = (_: string, value: unknown) => {
    if (value instanceof Float32Array) return Array.from(value, short)
    return typeof value === 'number' ? short(value) : value
  }
  return JSON.stringify({ step, observation }, write)
}
