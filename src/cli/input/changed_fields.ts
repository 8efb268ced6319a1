// Puts options of the command line in place of an experiment's own fields: the seed, the data, the
// reward, the tools and the teacher.
import { basename } from 'node:path'
import type { ContentFile } from '../../document/content/content.ts'
import { UsageError } from '../base/command.ts'
import { withSettings } from '../options/settings.ts'
import { type Beginning, type GivenData, trainedOn } from './data_set.ts'
import type { DocumentChange } from './experiment_source.ts'
import { answeredBy, type GivenReward, rewardedBy } from './given_programs.ts'

/** The files of --data, --reward and --tool. */
export interface GivenFiles {
  readonly data?: GivenData | undefined
  readonly rewards?: readonly GivenReward[]
  readonly tools?: readonly ContentFile[]
}

/** The change that --set, --seed, --data, --reward and --tool ask for; undefined where there is
 * none. Throws UsageError or LabFailure. */
export async function changeOf(
  values: Beginning & {
    readonly seed?: string | undefined
    readonly set?: readonly string[] | undefined
    readonly teacher?: string | undefined
  },
  { data, rewards = [], tools = [] }: GivenFiles,
): Promise<DocumentChange | undefined> {
  const seed = wholeNumber('--seed', values.seed)
  const set = values.set ?? []
  const { teacher } = values
  if (
    seed === undefined &&
    teacher === undefined &&
    set.length + rewards.length + tools.length === 0 &&
    !data
  )
    return undefined
  const onData = data && (await trainedOn(data, values))
  const byReward = rewards.length > 0 ? rewardedBy(rewards) : undefined
  const byTools = tools.length > 0 ? answeredBy(tools) : undefined
  const byFiles: DocumentChange = (document) => ({
    ...(seed !== undefined && { seed }),
    ...(teacher !== undefined && { teacher: namedTeacher(document, teacher) }),
    ...onData?.(document),
    ...byReward?.(document),
    // The rows bring a length of responses of their own.
    ...byTools?.({ ...document, ...onData?.(document) }),
  })
  return set.length === 0
    ? byFiles
    : (document) => withSettings({ ...document, ...byFiles(document) }, set)
}

/** The section of a teacher whose files are still to be read: its hash and its sizes follow. */
function namedTeacher(document: Readonly<Record<string, unknown>>, path: string) {
  const { teacher, model } = document as {
    readonly teacher?: object
    readonly model?: { readonly vocab_size?: unknown }
  }
  const unread = { source: `sha256-${'0'.repeat(64)}`, source_name: basename(path) }
  const { vocab_size } = model ?? {}
  return { ...teacher, ...(vocab_size !== undefined && { vocab_size }), ...unread }
}

/** Throws UsageError. */
export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,15}$/.test(text))
    throw new UsageError(`${name}: expected a whole number, got '${text}'`)
  return text === undefined ? undefined : Number(text)
}
