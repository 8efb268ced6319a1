// Computes translate.ts in float64.
import { linear, linearBackward, type RefArrays } from './operations.ref.ts'

/** matrix [C, C], out by in, and bias [C]: of a tuned lens both, of a Jacobian lens the average
 * Jacobian alone. */
export interface RefTranslator {
  readonly matrix: Float64Array
  readonly bias?: Float64Array
}

/** matrix · state + bias of every state, [M, C]. */
export const translateRef = (states: Float64Array, { matrix, bias }: RefTranslator): Float64Array =>
  linear(states, Math.sqrt(matrix.length), matrix, bias)

/** Gradients of the states and of the translator. */
export function translateBackwardRef(
  states: Float64Array,
  { matrix, bias }: RefTranslator,
  dTranslated: Float64Array,
): { d_states: Float64Array; d_translator: RefTranslator } {
  const params: RefArrays = {
    'translator.weight': matrix,
    ...(bias && { 'translator.bias': bias }),
  }
  const own: RefArrays = {}
  const C = Math.sqrt(matrix.length)
  const d_states = linearBackward(params, own, 'translator', states, C, dTranslated)
  const d_bias = own['translator.bias']
  const d_translator = { matrix: own['translator.weight'], ...(d_bias && { bias: d_bias }) }
  return { d_states, d_translator }
}
