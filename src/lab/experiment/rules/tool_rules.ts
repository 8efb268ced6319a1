// The rules about tools: turns need some, and the vocabulary can write their calls.
import { createTools } from '../../../tasks/tools/index.ts'
import { missingMark } from '../../../tasks/tools/marked_turns.ts'
import { taskOf } from '../fields/task_fields.ts'
import type { RuledPhase } from './rule.ts'

export function toolRules({ experiment, settings, path, rule }: RuledPhase): void {
  const { max_turns = 1 } = settings.rollout
  const tools = createTools(experiment.tools)
  rule(
    max_turns === 1 || tools.length > 0,
    path('rollout.max_turns'),
    ['tools'],
    `expected 1, because the experiment has no tools that could answer between two turns; choose some (tools) first; got ${max_turns}`,
  )
  const { tokenizer } = taskOf(experiment.task)
  // A chat template has its own way to write calls.
  const is_marked = max_turns > 1 && !tokenizer.renderChat
  const missing = is_marked ? missingMark(tokenizer, tools) : undefined
  rule(
    missing === undefined,
    'tools',
    ['task.id', path('rollout.max_turns')],
    `expected tools whose calls the task's vocabulary can write, but it has no ${missing}`,
  )
}
