// Reads --reward FILE:NAME and --tool FILE: programs in Python (.py) or JavaScript that score
// responses and answer calls.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { type ContentFile, contentHash } from '../../document/content/content.ts'
import { isObject } from '../../formats/json.ts'
import { partFunctions } from '../../tasks/rewards/functions.ts'
import { loadProgram, MAX_PROGRAM_BYTES, PROGRAM_ID } from '../../tasks/task/program.ts'
import type { ToolChoice } from '../../tasks/tools/index.ts'
import { readToolProgram } from '../../tasks/tools/tool_program.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { reason } from '../base/disk.ts'
import { runPrograms } from '../sandbox/programs.ts'
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

/** A program of --reward, and its functions that score; '' is compute_score. */
export interface GivenReward {
  readonly file: ContentFile
  readonly functions: readonly string[]
}

/** Time to import a program, which may be slow on a busy machine. */
const LOOKING = { timeout_ms: 60_000, batch_timeout_ms: 60_000 }

/** The programs of --reward FILE or FILE:NAME, which can be given several times. Throws UsageError,
 * LabFailure or RewardError. */
export async function givenRewards(asked: readonly string[] = []): Promise<readonly GivenReward[]> {
  const endPrograms = runPrograms()
  try {
    const given: GivenReward[] = []
    for (const one of asked) {
      const [path, wanted] = fileAndName(one)
      const file = await givenProgram('--reward', path)
      loadProgram(file.hash, new TextDecoder().decode(file.bytes))
      const program = { code: file.hash, name: file.name, ...LOOKING }
      const how = (name: string) => `--reward ${path}:${name}`
      given.push({ file, functions: await partFunctions(program, wanted, how) })
    }
    return given
  } finally {
    endPrograms()
  }
}

/** reward.py:name as both; a file whose own name has the colon is that file. */
function fileAndName(given: string): readonly [file: string, name: string] {
  const [, file, name] = /^(.+):([A-Za-z_]\w*)$/s.exec(given) ?? []
  return file === undefined || existsSync(given) ? [given, ''] : [file, name]
}

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

/** An experiment whose only rewards are the programs, each function a part of weight 1. */
export const rewardedBy =
  (given: readonly GivenReward[]): DocumentChange =>
  ({ reward }) => ({
    reward: {
      ...(reward as object),
      parts: given.flatMap(({ file: { hash, name }, functions }) =>
        functions.map((own) => ({
          id: PROGRAM_ID,
          weight: 1,
          code: hash,
          name,
          ...(own !== '' && { function: own }),
        })),
      ),
    },
  })

/** An experiment with these tools beside its own. One whose responses have one turn gets a second,
 * without which no tool could answer. */
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
