// Makes the rows of a job of distillation: the problems that the run itself would draw next, with
// their demonstrations, as the ids that the lab trains on.
import type { OutFile } from '../formats/out_file.ts'
import { hasSet } from '../rl/config/data.ts'
import type { Task } from '../tasks/task/task.ts'
import type { ModelSource } from './model_folders.ts'
import { trainRows } from './rows/rows.ts'

/** One line: the prompt as a text, and prompt and demonstration as ids, of which those with a 1 are
 * learned. TRL's collator takes them as they are, so no chat template has a say. */
interface Row {
  readonly prompt: string
  readonly input_ids: readonly number[]
  readonly completion_mask: readonly (0 | 1)[]
}

/** Rows of data/train.jsonl. */
export const distillRows = ({ experiment: { data } }: ModelSource, count: number): number =>
  trainRows({ data, count })

/** data/train.jsonl with so many rows. */
export function distillRowsFile(
  { experiment: { seed, data }, firstProblem }: ModelSource,
  task: Task,
  rows: number,
): OutFile {
  const [split, first] = hasSet(data)
    ? (['train_set', 0] as const)
    : (['train', firstProblem] as const)
  const rowAt = (i: number): Row => {
    const { prompt, demonstration } = task.sample(seed, first + i, split)
    const { tokenizer, max_response_length } = task
    const asked = tokenizer.encode(prompt)
    const answer = [...tokenizer.encode(demonstration), tokenizer.eos_token_id]
    const learned = answer.slice(0, max_response_length)
    return {
      prompt,
      input_ids: [...asked, ...learned],
      completion_mask: [...asked.map(() => 0 as const), ...learned.map(() => 1 as const)],
    }
  }
  function* pieces() {
    const lines = Array.from({ length: rows }, (_, i) => `${JSON.stringify(rowAt(i))}\n`)
    yield new TextEncoder().encode(lines.join(''))
  }
  return { path: 'data/train.jsonl', pieces: { [Symbol.iterator]: pieces } }
}
