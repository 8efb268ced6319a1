// Makes prompts of a run with tools: where the tokenizer has a chat template, it shows the model
// what it may call.
import type { Sample, Split, Task } from '../task/task.ts'
import type { Tool } from './tool.ts'
import type { Message } from './turn_format.ts'

/** The conversation that a problem begins; a text is what the user says. */
export const messagesOf = ({
  messages,
  prompt,
}: Pick<Sample, 'messages' | 'prompt'>): readonly Message[] =>
  (messages as readonly Message[] | undefined) ?? [{ role: 'user', content: prompt }]

/** Templates may write a little more where a conversation is longer. */
const MARGIN = 8
const [SYSTEM, USER]: readonly Message[] = [
  { role: 'system', content: 'x' },
  { role: 'user', content: 'x' },
]

/** A task whose prompts are written by the chat template with the schemas of the tools, as verl's
 * ToolAgentLoop does; the same task where the tokenizer has no template. Prompts have room for what
 * that adds. */
export function withToolPrompts(task: Task, tools: readonly Tool[]): Task {
  const { tokenizer } = task
  const { renderChat } = tokenizer
  if (!renderChat || tools.length === 0) return task
  const schemas = tools.map(({ schema }) => schema)
  const render = (messages: readonly Message[]) =>
    renderChat(messages, { tools: schemas, add_generation_prompt: true })
  const added = Math.max(
    ...[[USER], [SYSTEM, USER]].map((messages) => tokenizer.encode(render(messages)).length),
  )
  // The task knows its problems by their own prompts.
  const own = new Map<string, string>()
  const asked = (sample: Sample): Sample => {
    const prompt = render(messagesOf(sample))
    own.set(prompt, sample.prompt)
    return { ...sample, prompt, messages: messagesOf(sample) }
  }
  return {
    ...task,
    max_prompt_length: task.max_prompt_length + added + MARGIN,
    sample: (seed, index, split) => asked(task.sample(seed, index, split)),
    ...(task.verdicts && {
      verdicts: (split: Exclude<Split, 'train'>) =>
        task.verdicts?.(split).map((one) => ({ ...one, sample: asked(one.sample) })) ?? [],
    }),
    score: (prompt, response) => task.score(own.get(prompt) ?? prompt, response),
  }
}
