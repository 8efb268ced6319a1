// Says where the model of an experiment can be fetched, for a person who opens a link to it and
// does not have it.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { modelAddress } from '../../host/content/models/model_address.ts'

/** What to look for, and what it is called: the place as the address says it, not as the link calls
 * it. */
export interface StartOffer {
  readonly address: string
  readonly place: string
}

/** Undefined where the hash is of another file, or the document says no address that a page may
 * fetch from. */
export function startOffer(
  { model, teacher }: Pick<Experiment, 'model' | 'teacher'>,
  hash: string,
): StartOffer | undefined {
  const { source_address } = [model, teacher].find(({ source }) => source === hash) ?? {}
  if (!source_address) return undefined
  try {
    const { name, origins } = modelAddress(source_address)
    return { address: source_address, place: `${name} on ${new URL(origins[0]).host}` }
  } catch {
    return undefined
  }
}
