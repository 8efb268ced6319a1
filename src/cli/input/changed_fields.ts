// What options of the command line put in place of an experiment's own fields: the seed, the data and the reward.
import type { ContentFile } from '../../lab/content/content.ts'
import { UsageError } from '../command.ts'
import { type Beginning, type GivenData, trainedOn } from './data_set.ts'
import type { DocumentChange } from './experiment_source.ts'
import { rewardedBy } from './reward_program.ts'

/** The files of --data and --reward. */
export interface GivenFiles {
  readonly data?: GivenData | undefined
  readonly reward?: ContentFile | undefined
}

/** The change that --seed, --data and --reward ask for; undefined where there is none. Throws UsageError or LabFailure. */
export async function changeOf(
  values: Beginning & { readonly seed?: string | undefined },
  { data, reward }: GivenFiles,
): Promise<DocumentChange | undefined> {
  const seed = wholeNumber('--seed', values.seed)
  if (seed === undefined && data === undefined && reward === undefined) return undefined
  const onData = data && (await trainedOn(data, values))
  const byReward = reward && rewardedBy(reward)
  return (document) => ({
    ...(seed !== undefined && { seed }),
    ...onData?.(document),
    ...byReward?.(document),
  })
}

/** Throws UsageError. */
export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,15}$/.test(text))
    throw new UsageError(`${name}: expected a whole number, got '${text}'`)
  return text === undefined ? undefined : Number(text)
}
