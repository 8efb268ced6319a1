// Writes reward.py of an experiment that composes its reward: every part in Python, and the sum.
// src/cli/outside_judges.test.ts compares each with the lab's own.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { type OutFile, textFile } from '../../formats/out_file.ts'
import type { PartChoice } from '../../tasks/rewards/composed.ts'
import { fillParams, partNames } from '../../tasks/rewards/params.ts'
import { compilePattern } from '../../tasks/rewards/pattern.ts'
import { rewardKinds } from '../../tasks/rewards/rewards.ts'
import {
  parametersOf,
  takesBatch,
  USUAL_FUNCTION,
  VERL_NAMES,
} from '../../tasks/rewards/signature.ts'
import { languageOf, PROGRAM_ID, programSource } from '../../tasks/task/program.ts'
import type { Task } from '../../tasks/task/task.ts'
import { JobError } from '../settings/job_error.ts'
import aspect from '../templates/rewards/aspect.py?raw'
import distinct_ngrams from '../templates/rewards/distinct_ngrams.py?raw'
import edit_distance from '../templates/rewards/edit_distance.py?raw'
import equation from '../templates/rewards/equation.py?raw'
import exact_match from '../templates/rewards/exact_match.py?raw'
import format from '../templates/rewards/format.py?raw'
import frame from '../templates/rewards/frame.py?raw'
import json_schema from '../templates/rewards/json_schema.py?raw'
import length from '../templates/rewards/length.py?raw'
import mentions from '../templates/rewards/mentions.py?raw'
import multiple_choice from '../templates/rewards/multiple_choice.py?raw'
import normalised_match from '../templates/rewards/normalised_match.py?raw'
import number_match from '../templates/rewards/number_match.py?raw'
import program from '../templates/rewards/program.py?raw'
import regex from '../templates/rewards/regex.py?raw'
import task_score from '../templates/rewards/task.py?raw'
import countdown from '../templates/scores/countdown.py?raw'
import { rewardOf, scoreOf } from './rewards.ts'

/** Every kind of part in Python: a function `make` of its settings that returns the rule. */
const PARTS: Readonly<Record<string, string>> = {
  exact_match,
  normalised_match,
  number_match,
  multiple_choice,
  edit_distance,
  regex,
  json_schema,
  format,
  length,
  mentions,
  distinct_ngrams,
  // It works expressions out as the task does.
  equation: `${countdown}\n${equation}`,
  [PROGRAM_ID]: program,
}

/** reward.py and what it loads. Throws JobError for a part that does not exist in Python. */
export function rewardFiles({ reward, seed }: Experiment, task: Task): OutFile[] {
  if (reward.parts.length === 0) return [textFile('reward.py', rewardOf(task))]
  const names = partNames(reward.parts)
  const kinds = rewardKinds(task)
  const own = `${scoreOf(task)}\n\n${task_score}`
  const written = reward.parts.map((part, i) => ({
    name: names[i],
    weight: part.weight,
    source: part.id === 'task' ? own : sourceOf(part, task),
    params: paramsOf(part, task, names[i]),
    is_verifier: kinds.find(({ id }) => id === part.id)?.is_verifier ?? true,
  }))
  const hasVerifier = written.some(({ is_verifier }) => is_verifier)
  const sources = [
    ...written.map(({ name, source }) => inFunction(name, source)),
    ...(hasVerifier ? [] : [inFunction('own', own)]),
  ]
  const rules = written.map(
    ({ name, weight, is_verifier, params }) =>
      `    (${JSON.stringify(name)}, ${weight}, ${is_verifier ? 'True' : 'False'}, _${name}()(json.loads(${JSON.stringify(JSON.stringify(params))}))),`,
  )
  const text = frame
    .replace('# PARTS', () => sources.join('\n\n\n'))
    .replace(/^# RULES$/m, () => rules.join('\n'))
    .replace('IS_JSON = False  # IS_JSON', `IS_JSON = ${hasObjects(task, seed) ? 'True' : 'False'}`)
    .replace('TASK = None  # TASK', hasVerifier ? 'TASK = None' : 'TASK = _own()({})')
  return [textFile('reward.py', text), ...programFiles(reward.parts, names)]
}

/** Problems that are looked at for the kind of their right answers. */
const LOOKED_AT = 200

/** Whether right answers are objects or lists, at least some of them. */
const hasObjects = (task: Task, seed: number): boolean =>
  Array.from({ length: Math.min(LOOKED_AT, task.train_size) }).some(
    (_, i) => task.sample(seed, i, 'train_set').truth !== undefined,
  )

const isAspect = (id: string, { aspects = [] }: Task): boolean =>
  aspects.some((own) => own.id === id)

const sourceOf = ({ id }: PartChoice, task: Task): string => {
  if (isAspect(id, task)) return `${scoreOf(task)}\n\n${aspect}`
  if (!Object.hasOwn(PARTS, id))
    throw new JobError(
      `reward.parts: the reward ${id} does not exist in Python; add it to src/jobs/templates/rewards and to PARTS in src/jobs/reward/composed_reward.ts`,
    )
  return PARTS[id]
}

/** The settings as the Python of the part takes them. */
function paramsOf({ id, weight: _, ...given }: PartChoice, task: Task, name: string): object {
  if (id === PROGRAM_ID)
    return { file: `${name}.py`, function: given.function || USUAL_FUNCTION, names: VERL_NAMES }
  if (isAspect(id, task)) return { aspect: id }
  const kind = rewardKinds(task).find((own) => own.id === id)
  const params = kind ? fillParams(kind, given) : {}
  return id === 'regex' ? { ...params, code: compilePattern(`${params.pattern}`) } : params
}

/** A source in a function of its own, so that names of two parts do not meet. */
function inFunction(name: string, source: string): string {
  const lines = source.trim().split('\n')
  const body = lines.map((line) => (line === '' ? '' : `    ${line}`)).join('\n')
  return `def _${name}():\n${body}\n\n    return make`
}

function programFiles(parts: readonly PartChoice[], names: readonly string[]): OutFile[] {
  return parts.flatMap((part, i) => {
    if (part.id !== PROGRAM_ID) return []
    if (languageOf(`${part.name}`) !== 'python')
      throw new JobError(
        `reward.parts.${i}: ${part.name} is in JavaScript, and other systems run Python; write it as a .py file`,
      )
    const text = programText(`${part.code}`, `${part.name}`)
    const chosen = `${part.function || USUAL_FUNCTION}`
    if (takesBatch(text, `${part.function ?? ''}`))
      throw new JobError(
        `reward.parts.${i}: ${part.name}: ${part.function || 'its function'} takes all responses at once, and a job scores one after the other; give the file itself to TRL (reward_funcs) or OpenRLHF (reward.remote_url), or write a compute_score of solution_str and ground_truth`,
      )
    if (!parametersOf(text, chosen))
      throw new JobError(
        `reward.parts.${i}: ${part.name}: expected a function ${chosen} (def ${chosen}), found none`,
      )
    return [textFile(`${names[i]}.py`, text)]
  })
}

/** Throws JobError where nobody has loaded it. */
export function programText(code: string, name: string): string {
  const source = programSource(code)
  if (source === undefined)
    throw new JobError(`the program ${name} (${code}) is not here; give its file again`)
  return source
}
