// Checks the rules about tools: turns need some, and the vocabulary can write their calls.
import { programSource } from '../../../tasks/task/program.ts'
import { createTools, type ToolChoice } from '../../../tasks/tools/index.ts'
import { markProblem } from '../../../tasks/tools/marked_turns.ts'
import type { Tool } from '../../../tasks/tools/tool.ts'
import { taskOf } from '../fields/task_fields.ts'
import type { Experiment } from '../schema/schema.ts'
import type { RuledPhase } from './rule.ts'

export function toolRules({ experiment, settings, path, rule }: RuledPhase): void {
  const { max_turns = 1 } = settings.rollout
  rule(
    max_turns === 1 || experiment.tools.length > 0,
    path('rollout.max_turns'),
    ['tools'],
    `expected 1, because the experiment has no tools that could answer between two turns; choose some (tools) first; got ${max_turns}`,
  )
  const { tools, why } = toolsHere(experiment)
  rule(why === undefined, 'tools', [], `${why}`)
  const { tokenizer } = taskOf(experiment.task)
  // A chat template has its own way to write calls.
  const isMarked = max_turns > 1 && !tokenizer.renderChat
  const problem = isMarked ? markProblem(tokenizer, tools) : undefined
  rule(problem === undefined, 'tools', ['task.id', path('rollout.max_turns')], `${problem}`)
}

/** The tools of which everything is known; a program is not before its file is here. */
function toolsHere({ tools, reward }: Experiment): { tools: readonly Tool[]; why?: string } {
  const isHere = ({ code }: ToolChoice) => code === undefined || programSource(code) !== undefined
  try {
    return { tools: createTools(tools.filter(isHere), reward) }
  } catch (error) {
    return { tools: [], why: error instanceof Error ? error.message : String(error) }
  }
}
