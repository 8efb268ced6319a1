// Declares a reward composed of several parts: the sum of weight · score of each.
import { PROGRAM_ID, type ProgramLimits } from '../task/program.ts'
import { isRight, type Task } from '../task/task.ts'
import { fillParams, partNames } from './params.ts'
import { askForScores, readScore, type ScoringProgram } from './program.ts'
import type { ParamValue, Response, RewardKind, TextResponse } from './reward.ts'
import { rewardKinds } from './rewards.ts'

/** What an experiment says of one part: its kind, its weight and its settings. */
export interface PartChoice {
  readonly id: string
  readonly weight: number
  readonly [param: string]: ParamValue
}

/** What an experiment says of its reward. Without parts it is the task's own score. */
export interface RewardChoice extends ProgramLimits {
  readonly parts: readonly PartChoice[]
}

/** A response that could not be scored. */
export interface RewardProblem {
  readonly row: number
  readonly part: string
  readonly kind: 'timeout' | 'error'
  readonly message: string
}

/** What a composed reward says of responses, one number each. */
export interface Scored {
  /** Σ weight · part; 0 where a part has failed. */
  readonly scores: readonly number[]
  /** Whether every verifier among the parts gives 1; of a reward without verifiers, what the task
   * says. */
  readonly is_right: readonly boolean[]
  /** Each part by itself, without its weight, and what programs return beside their score;
   * undefined where there is none. */
  readonly columns: ReadonlyMap<string, readonly (number | undefined)[]>
  /** In the order of the rows, one for each response at most. */
  readonly problems: readonly RewardProblem[]
  /** The last of what programs printed about each row. */
  readonly printed?: readonly string[]
}

/** Not one response of a batch could be scored. */
export class RewardError extends Error {
  override readonly name = 'RewardError'
}

/** The same, if a response was scored. Throws RewardError with the first reason. */
export function someScored(scored: Scored): Scored {
  const { problems, scores } = scored
  const [first] = problems
  if (!first || problems.length < scores.length) return scored
  throw new RewardError(
    `None of ${scores.length} responses could be scored. ${first.part}: ${first.message}`,
  )
}

/** A reward composed of parts. */
export interface Reward {
  /** Names and weights of the parts, in their order. */
  readonly parts: readonly string[]
  readonly weights: readonly number[]
  score(responses: readonly Response[]): Promise<Scored>
}

/** One part's word on all responses. */
interface PartScores {
  readonly scores: readonly (number | undefined)[]
  readonly extra: ReadonlyMap<string, readonly (number | undefined)[]>
  readonly problems: readonly RewardProblem[]
  readonly printed?: readonly string[]
}

interface Part {
  readonly name: string
  readonly weight: number
  readonly is_verifier: boolean
  score(responses: readonly Response[]): Promise<PartScores> | PartScores
}

/** The reward of an experiment; undefined where it is the task's own score. Throws RangeError for
 * an unknown part or setting, naming the legal ones. */
export function createReward(choice: RewardChoice, task: Task): Reward | undefined {
  if (choice.parts.length === 0) return undefined
  const names = partNames(choice.parts)
  const parts = choice.parts.map((part, i) => createPart(part, names[i], i, choice, task))
  return {
    parts: names,
    weights: parts.map(({ weight }) => weight),
    score: (responses) => composed(parts, responses, task),
  }
}

function createPart(
  { id, weight, ...given }: PartChoice,
  name: string,
  index: number,
  { parts, timeout_ms, batch_timeout_ms }: RewardChoice,
  task: Task,
): Part {
  if (id === PROGRAM_ID) {
    const limits = { timeout_ms, batch_timeout_ms }
    const { code, name: file, function: chosen = '' } = given
    const program = { code: `${code}`, name: `${file}`, function: `${chosen}`, ...limits }
    // Of several functions of one file nobody says which one tells right from wrong.
    const is_verifier = parts.filter((part) => part.code === code).length === 1
    return programPart({ name, weight, is_verifier }, program)
  }
  const at = `reward.parts.${index}`
  const kinds = rewardKinds(task)
  const kind = kinds.find((own) => own.id === id)
  if (!kind)
    throw new RangeError(
      `${at}.id: expected one of ${[...kinds.map((own) => own.id), PROGRAM_ID].join(', ')}, got ${id}`,
    )
  const score = scoreOf(kind, given, at)
  return {
    name,
    weight,
    is_verifier: kind.is_verifier,
    score(responses) {
      const problems: RewardProblem[] = []
      const scores = responses.map((response, row) => {
        try {
          return finite(score(withText(response)))
        } catch (error) {
          problems.push({ row, part: name, kind: 'error', message: messageOf(error) })
          return undefined
        }
      })
      return { scores, extra: new Map(), problems }
    },
  }
}

function scoreOf(kind: RewardKind, given: Readonly<Record<string, ParamValue>>, at: string) {
  try {
    return kind.create(fillParams(kind, given))
  } catch (error) {
    throw new RangeError(`${at}: ${kind.id}: ${messageOf(error)}`)
  }
}

/** Rules read the right answer as a text. One that does not read it takes any. */
function withText({ ground_truth, ...response }: Response): TextResponse {
  return {
    ...response,
    get ground_truth(): string {
      if (typeof ground_truth === 'string') return ground_truth
      const what = Array.isArray(ground_truth) ? 'a list' : `${typeof ground_truth}`
      throw new RangeError(
        `expected the right answer as a text, got ${what.replace('object', 'an object')}; only a program scores such answers`,
      )
    },
  }
}

/** A program's part: its `score`, and its other numbers under their own names. */
function programPart(own: Omit<Part, 'score'>, program: ScoringProgram): Part {
  const { name } = own
  return {
    ...own,
    async score(responses) {
      const answers = await askForScores(program, responses)
      const problems: RewardProblem[] = []
      const extra = new Map<string, (number | undefined)[]>()
      const fail = (row: number, kind: RewardProblem['kind'], message: string) =>
        void problems.push({ row, part: name, kind, message })
      const scores = answers.map((answer, row) => {
        const { printed } = answer
        const said = printed === undefined ? '' : ` (it printed: ${printed.trimEnd()})`
        if ('problem' in answer) return fail(row, answer.problem, `${answer.message}${said}`)
        try {
          const read = readScore(answer.value)
          for (const [key, number] of Object.entries(read.extra)) {
            const column = extra.get(key) ?? responses.map(() => undefined)
            column[row] = number
            extra.set(key, column)
          }
          return read.score
        } catch (error) {
          return fail(row, 'error', `${messageOf(error)}${said}`)
        }
      })
      const printed = answers.map((answer) => answer.printed ?? '')
      return { scores: scores.map((score) => score ?? undefined), extra, problems, printed }
    },
  }
}

async function composed(
  parts: readonly Part[],
  responses: readonly Response[],
  task: Task,
): Promise<Scored> {
  const results: PartScores[] = []
  // One after the other: two programs share the machine, and each has its deadline.
  for (const part of parts) results.push(await part.score(responses))
  const failed = new Map<number, RewardProblem>()
  for (const { problems } of results)
    for (const problem of problems) if (!failed.has(problem.row)) failed.set(problem.row, problem)
  for (const row of responses.keys())
    if (!failed.has(row) && results.every(({ scores }) => scores[row] === undefined))
      failed.set(row, {
        row,
        part: parts[0].name,
        kind: 'error',
        message: 'no part scores this response: each returned None',
      })
  const columns = new Map<string, readonly (number | undefined)[]>()
  parts.forEach(({ name }, i) => {
    columns.set(name, results[i].scores)
    for (const [key, column] of results[i].extra) columns.set(`${name}/${key}`, column)
  })
  const total = (row: number) =>
    parts.reduce((sum, { weight }, i) => sum + weight * (results[i].scores[row] ?? 0), 0)
  const isVerified = parts.some((part) => part.is_verifier)
  const right = (row: number) =>
    isVerified
      ? parts.every((part, i) => !part.is_verifier || saysRight(results[i], row))
      : isTaskRight(task, responses[row])
  return {
    scores: responses.map((_, row) => (failed.has(row) ? 0 : total(row))),
    is_right: responses.map((_, row) => !failed.has(row) && right(row)),
    columns,
    problems: [...failed.values()].toSorted((a, b) => a.row - b.row),
    printed: responses.map((_, row) => results.map((own) => own.printed?.[row] ?? '').join('')),
  }
}

/** A program may say `acc` itself, as verl's do. */
const saysRight = ({ scores, extra }: PartScores, row: number) =>
  isRight(extra.get('acc')?.[row] ?? scores[row] ?? 0)

function isTaskRight(task: Task, { extra_info, solution_str }: Response): boolean {
  try {
    return isRight(task.score(extra_info.prompt, solution_str))
  } catch {
    return false
  }
}

function finite(score: number): number {
  if (!Number.isFinite(score)) throw new RangeError(`expected a finite number, got ${score}`)
  return score
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : `${error}`)
