// Says what a model learned to do and in which form it is asked, with problems to type by a press.
import { taskOf } from '../../../../document/experiment/fields/task_fields.ts'
import { taskCard } from '../../../../document/experiment/task_card.ts'
import type { Judging } from './judged.ts'

const EXAMPLES = 3
/** Longer problems are no form that one sees at a glance. */
const LONGEST = 24

/** A task as it is asked. */
export interface AskedForm {
  readonly summary: string
  readonly problems: readonly string[]
}

/** Undefined where texts of any form are continued, or where the task's problems are not here. */
export function askedForm({ task: choice, seed }: Judging): AskedForm | undefined {
  try {
    const task = taskOf(choice)
    if (task.aspects) return undefined
    const samples = Array.from({ length: Math.min(EXAMPLES, task.test_size) }, (_, i) =>
      task.sample(seed, i, 'test'),
    )
    const isShort = samples.every(
      ({ prompt, messages }) => !messages && prompt.length <= LONGEST && !prompt.includes('\n'),
    )
    if (!isShort || samples.length === 0) return undefined
    const problems = [...new Set(samples.map(({ prompt }) => prompt))]
    return { summary: taskCard(choice, 0).summary, problems }
  } catch {
    return undefined
  }
}

interface TaskFormProps {
  readonly form: AskedForm
  readonly onChoose: (problem: string) => void
}

export function TaskForm({ form: { summary, problems }, onChoose }: TaskFormProps) {
  return (
    <div className="chat-form" data-testid="chat-form">
      <span>Its task:</span> <span>{summary}</span> <span>Ask it in this form:</span>
      {problems.map((problem) => (
        <button
          key={problem}
          type="button"
          className="response"
          title="Types this held-out problem"
          onClick={() => onChoose(problem)}
        >
          {problem}
        </button>
      ))}
    </div>
  )
}
