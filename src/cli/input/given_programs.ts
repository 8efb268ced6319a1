// --reward FILE and --tool FILE: programs in Python (.py) or JavaScript that score responses and answer calls.
import { basename } from 'node:path'
import { type ContentFile, contentHash } from '../../lab/content/content.ts'
import { isObject } from '../../model/params/errors.ts'
import { MAX_PROGRAM_BYTES, PROGRAM_ID } from '../../tasks/program.ts'
import type { ToolChoice } from '../../tasks/tools/index.ts'
import { readToolProgram } from '../../tasks/tools/tool_program.ts'
import { LabFailure, UsageError } from '../command.ts'
import { reason } from '../output/disk.ts'
import type { DocumentChange } from './experiment_source.ts'
import { readInput } from './input_file.ts'

/** Throws UsageError or LabFailure. */
async function givenProgram(option: string, file: string): Promise<ContentFile> {
  if (!/\.(py|js|mjs)$/i.test(file))
    throw new UsageError(`${option}: expected a program in .py, .js or .mjs, got '${file}'`)
  const bytes = new Uint8Array(readInput(file))
  if (bytes.length > MAX_PROGRAM_BYTES)
    throw new LabFailure(
      `${option}: expected at most ${MAX_PROGRAM_BYTES} bytes, got ${bytes.length}`,
    )
  return { hash: await contentHash(bytes), name: basename(file), bytes }
}

/** Undefined where there is no --reward. Throws UsageError or LabFailure. */
export const givenReward = async (file: string | undefined): Promise<ContentFile | undefined> =>
  file === undefined ? undefined : givenProgram('--reward', file)

/** The programs of --tool, which can be given several times. Throws UsageError or LabFailure. */
export async function givenTools(files: readonly string[] = []): Promise<readonly ContentFile[]> {
  const programs = await Promise.all(files.map((file) => givenProgram('--tool', file)))
  for (const { name, bytes } of programs)
    try {
      readToolProgram(new TextDecoder().decode(bytes), name)
    } catch (error) {
      throw new LabFailure(`--tool: ${reason(error)}`)
    }
  return programs
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

/** An experiment with these tools beside its own. One whose responses have one turn gets a second, without which no tool could answer. */
export const answeredBy =
  (programs: readonly ContentFile[]): DocumentChange =>
  ({ tools, rollout }) => {
    const own = Array.isArray(tools) ? (tools as ToolChoice[]) : []
    const given = programs.map(({ hash, name }) => ({ id: PROGRAM_ID, code: hash, name }))
    const others = own.filter(({ code }) => given.every((one) => one.code !== code))
    const { max_turns = 1, ...settings } = isObject(rollout) ? rollout : {}
    return {
      tools: [...others, ...given],
      rollout: { ...settings, max_turns: max_turns === 1 ? 2 : max_turns },
    }
  }
