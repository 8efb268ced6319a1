// Finds the functions of a program that score responses, and the one that a person means who names
// none.
import { callProgram, languageOf, type ProgramChoice, programSource } from '../task/program.ts'
import { RewardError } from './composed.ts'
import { functionsOf, USUAL_FUNCTION } from './signature.ts'

/** A function of a program. */
export interface FoundFunction {
  readonly name: string
  /** With its parameters. */
  readonly shown: string
  /** Whether it can be called as verl, TRL or OpenRLHF call a reward, and no other reward of the
   * file calls it. */
  readonly isReward: boolean
}

export interface FoundFunctions {
  readonly functions: readonly FoundFunction[]
  /** Those that the file means: compute_score or reward_func, else all of TRL's form. */
  readonly chosen: readonly string[]
  /** Why its compute_score cannot be called; '' where it can, or there is none. */
  readonly problem: string
}

/** The entry that has a program say which functions it has, in place of calling one. */
const ASK = '?'

/** The functions of a program. Throws RewardError where it does not even begin. */
export async function rewardFunctions(program: ProgramChoice): Promise<FoundFunctions> {
  const source = programSource(program.code) ?? ''
  if (languageOf(program.name) === 'javascript') return inJavaScript(source)
  const [answer] = await callProgram(program, ASK, [{}])
  if ('problem' in answer) throw new RewardError(answer.message)
  return answer.value as FoundFunctions
}

const DECLARED =
  /^[ \t]*(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:function\s+(\w+)|(?:const|let)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>))/gm

function inJavaScript(source: string): FoundFunctions {
  const names = [...source.matchAll(DECLARED)].map(([, own, assigned]) => own ?? assigned)
  return {
    functions: names.map((name) => ({ name, shown: name, isReward: true })),
    chosen: names.includes(USUAL_FUNCTION) ? [USUAL_FUNCTION] : [],
    problem: '',
  }
}

/** What `function` of each part says that a program makes: the one that is `wanted`, else what the
 * file means; '' for compute_score. Throws RewardError, naming the functions that are there; `how`
 * says how one is chosen. */
export async function partFunctions(
  program: ProgramChoice,
  wanted: string,
  how: (name: string) => string,
): Promise<readonly string[]> {
  const source = programSource(program.code) ?? ''
  // What is plain to see needs no sandbox: a trial comes before training anyway.
  const declared = languageOf(program.name) === 'python' ? functionsOf(source) : []
  if (declared.includes(wanted || USUAL_FUNCTION)) return [wanted === USUAL_FUNCTION ? '' : wanted]
  const { functions, chosen, problem } = await rewardFunctions(program)
  if (wanted !== '' && functions.some(({ name }) => name === wanted)) return [wanted]
  if (wanted === '' && problem !== '') throw new RewardError(problem)
  if (wanted === '' && chosen.length > 0)
    return chosen.map((name) => (name === USUAL_FUNCTION ? '' : name))
  const others = functions.map(({ shown }) => shown).join(', ') || 'none'
  const [first] = [...functions.filter(({ isReward }) => isReward), ...functions]
  const advice = first ? `. Choose one: ${how(first.name)}` : ''
  throw new RewardError(
    `${program.name}: expected a function ${wanted || USUAL_FUNCTION}, found ${others}${advice}`,
  )
}
