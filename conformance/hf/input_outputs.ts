// Computes what follows from the ids and masks of a golden batch.
import { positionIds } from '../../src/rl/experience/batch.ts'
import type { Output } from '../base/report.ts'
import type { Expected } from './model_case.ts'

/** Labels that Hugging Face's loss leaves out. */
const IGNORE_INDEX = -100

/** Position ids and, where there are some, labels of the batch or list of batches under
 * `prefix`. */
export function inputOutputs(expected: Expected, prefix: string): Record<string, Output> {
  const { shape } = expected.tensor(`${prefix}.input_ids`)
  const width = shape[shape.length - 1]
  const compared = (name: string, actual: ArrayLike<number>): Output => {
    const golden = expected.tensor(`${prefix}.${name}`)
    return { actual, expected: golden.data, shape: golden.shape, tolerance: 'exact' }
  }
  const places = positionIds(expected.ids(`${prefix}.attention_mask`), width)
  return {
    position_ids: compared('position_ids', places),
    ...(expected.has(`${prefix}.labels`) && {
      labels: compared('labels', labelsOf(expected, prefix, width)),
    }),
  }
}

/** input_ids on response tokens, IGNORE_INDEX elsewhere. */
function labelsOf(expected: Expected, prefix: string, width: number): Int32Array {
  const { data: mask, shape } = expected.tensor(`${prefix}.response_mask`)
  const responseLength = shape[shape.length - 1]
  const promptLength = width - responseLength
  return Int32Array.from(expected.tensor(`${prefix}.input_ids`).data, (id, i) => {
    const row = Math.floor(i / width)
    const token = (i % width) - promptLength
    return token >= 0 && mask[row * responseLength + token] ? id : IGNORE_INDEX
  })
}
