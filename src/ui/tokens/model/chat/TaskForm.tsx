// Says what a model learned to do and in which form it is asked, with problems to type by a press.
import { taskOf } from '../../../../document/experiment/fields/task_fields.ts'
import { taskCard } from '../../../../document/experiment/task_card.ts'
import type { Judging } from './judged.ts'

const EXAMPLES = 3
/** Problems whose forms are known. */
const FORMS = 64
/** Longer problems are no form that one sees at a glance. */
const LONGEST = 24

/** A task as it is asked. */
export interface AskedForm {
  readonly summary: string
  readonly problems: readonly string[]
  /** Whether a text looks like a problem of the task, as far as digits, letters and signs go. */
  readonly hasForm: (text: string) => boolean
}

/** '0+0=' for 12+7=. */
const formOf = (text: string): string =>
  text.replaceAll(/\p{N}+/gu, '0').replaceAll(/\p{L}+/gu, 'a')

/** Undefined where texts of any form are continued, or where the task's problems are not here. */
export function askedForm({ task: choice, seed }: Judging): AskedForm | undefined {
  try {
    const task = taskOf(choice)
    if (task.aspects) return undefined
    const known = Array.from({ length: Math.min(FORMS, task.test_size) }, (_, i) =>
      task.sample(seed, i, 'test'),
    )
    const samples = known.slice(0, EXAMPLES)
    const isShort = samples.every(
      ({ prompt, messages }) => !messages && prompt.length <= LONGEST && !prompt.includes('\n'),
    )
    if (!isShort || samples.length === 0) return undefined
    const problems = [...new Set(samples.map(({ prompt }) => prompt))]
    const forms = new Set(known.map(({ prompt }) => formOf(prompt)))
    const hasForm = (text: string) => forms.has(formOf(text))
    return { summary: taskCard(choice, 0).summary, problems, hasForm }
  } catch {
    return undefined
  }
}

/** What a problem looks like, below a text that looks like none. */
export function FormHint({ form, text }: { readonly form: AskedForm; readonly text: string }) {
  if (text === '' || form.hasForm(text)) return null
  return (
    <small className="soft" data-testid="chat-form-hint">
      {`A problem of this task looks like “${form.problems[0]}”, to its last sign. The model learned no other form.`}
    </small>
  )
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
