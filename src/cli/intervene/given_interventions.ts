// Reads interventions as a person gives them: JSON, or a file of it.
import { basename } from 'node:path'
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { HfModel } from '../../model/hf/hf_model.ts'
import type { GivenIntervention } from '../../model/internals/resolve.ts'
import {
  type Intervention,
  type OtherText,
  parseInterventions,
} from '../../model/interventions/intervention.ts'
import { readSteering } from '../../model/interventions/steering.ts'
import { modelHash } from '../../model/lenses/lens_file.ts'
import { LabFailure } from '../base/command.ts'
import { readInput, readText } from '../input/input_file.ts'

/** Reads --intervene for a text of `tokens` tokens; `encode` turns the other text of a patch into
 * ids. Throws LabFailure naming the entry and the field. */
export async function givenInterventions(
  given: string,
  hf: HfModel,
  tokens: number,
  encode: (text: string) => Promise<readonly number[]>,
): Promise<GivenIntervention[]> {
  const { layout, config } = hf
  const isJson = /^\s*[[{]/.test(given)
  const where = isJson ? '--intervene' : `--intervene ${given}`
  const text = isJson ? given : readText(given)
  let list: Intervention[]
  try {
    list = parseInterventions(withVectors(JSON.parse(text), hf), layout.shape, tokens)
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new LabFailure(`${where}: not JSON (${error.message}); expected [{"where": …}]`)
    if (error instanceof ShapeError) throw new LabFailure(`${where}: ${error.message}`)
    throw error
  }
  const idsOf = async (other: OtherText, at: string): Promise<readonly number[]> => {
    const ids = typeof other === 'string' ? await encode(other) : other
    const wrong = ids.find((id) => id >= config.vocab_size)
    if (wrong !== undefined)
      throw new LabFailure(
        `${where}: ${at}: expected token ids below vocab_size ${config.vocab_size}, got ${wrong}`,
      )
    return ids
  }
  const allOf = async (texts: readonly OtherText[], at: string) => {
    const found: (readonly number[])[] = []
    for (const other of texts) found.push(await idsOf(other, at))
    return found
  }
  const found: GivenIntervention[] = []
  for (const [i, { from, toward, away, ...rest }] of list.entries()) {
    const at = `interventions[${i}]`
    found.push({
      ...rest,
      ...(from && { from: await idsOf(from, `${at}.from`) }),
      ...(toward && { toward: await allOf(toward, `${at}.toward`) }),
      ...(away && { away: await allOf(away, `${at}.away`) }),
    })
  }
  return found
}

/** A list whose vectors of the stream may be files of lab steer: each entry gets that of its layer.
 * Whatever else the list is wrong in is said when it is parsed. Throws ModelFileError for a file
 * that is not of this model. */
function withVectors(list: unknown, { layout, weights }: HfModel): unknown {
  if (!Array.isArray(list)) return list
  const { shape } = layout
  return list.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return entry
    const { where, layer, value } = entry as Readonly<Record<string, unknown>>
    if (where !== 'residual' || typeof value !== 'string') return entry
    const owner = { ...shape, model_hash: modelHash(weights) }
    const bytes = new Uint8Array(readInput(value))
    const { vectors } = readSteering(bytes, basename(value), owner)
    const vector = vectors[Number(layer)]
    return vector ? { ...entry, value: [...vector] } : entry
  })
}
