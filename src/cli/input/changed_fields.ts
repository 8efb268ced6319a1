// What options of the command line put in place of an experiment's own fields: the seed and the data.
import { UsageError } from '../command.ts'
import { type Beginning, type GivenData, trainedOn } from './data_set.ts'
import type { DocumentChange } from './experiment_source.ts'

/** The change that --seed and the files of --data ask for; undefined where there is none. Throws UsageError or LabFailure. */
export async function changeOf(
  values: Beginning & { readonly seed?: string | undefined },
  data: GivenData | undefined,
): Promise<DocumentChange | undefined> {
  const seed = wholeNumber('--seed', values.seed)
  if (seed === undefined && data === undefined) return undefined
  const onData = data && (await trainedOn(data, values))
  return (document) => ({ ...(seed !== undefined && { seed }), ...onData?.(document) })
}

/** Throws UsageError. */
export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,15}$/.test(text))
    throw new UsageError(`${name}: expected a whole number, got '${text}'`)
  return text === undefined ? undefined : Number(text)
}
