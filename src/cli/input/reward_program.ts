// --reward FILE: a program that scores responses, in Python (.py) or JavaScript.
import { basename } from 'node:path'
import { type ContentFile, contentHash } from '../../lab/content/content.ts'
import { MAX_PROGRAM_BYTES, PROGRAM_ID } from '../../tasks/rewards/program.ts'
import { LabFailure, UsageError } from '../command.ts'
import type { DocumentChange } from './experiment_source.ts'
import { readInput } from './input_file.ts'

/** Undefined where there is no --reward. Throws UsageError or LabFailure. */
export async function givenReward(file: string | undefined): Promise<ContentFile | undefined> {
  if (file === undefined) return undefined
  if (!/\.(py|js|mjs)$/i.test(file))
    throw new UsageError(`--reward: expected a program in .py, .js or .mjs, got '${file}'`)
  const bytes = new Uint8Array(readInput(file))
  if (bytes.length > MAX_PROGRAM_BYTES)
    throw new LabFailure(
      `--reward: expected at most ${MAX_PROGRAM_BYTES} bytes, got ${bytes.length}`,
    )
  return { hash: await contentHash(bytes), name: basename(file), bytes }
}

/** An experiment whose only reward is the program. */
export const rewardedBy =
  ({ hash, name }: ContentFile): DocumentChange =>
  ({ reward }) => ({
    reward: {
      ...(reward as object),
      parts: [{ id: PROGRAM_ID, weight: 1, code: hash, name }],
    },
  })
