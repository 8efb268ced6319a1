// Finds two prompts of equal length that ask for different answers: what a model keeps apart, and
// where.
import type { Task } from '../../../tasks/task/task.ts'

/** Two texts of as many tokens, each read up to where one token decides the answer. What is not
 * given is what the model prefers. */
export interface TextPair {
  readonly clean: readonly number[]
  readonly corrupted: readonly number[]
  readonly answer?: number
  readonly wrong?: number
}

export interface PromptPair extends TextPair {
  /** The token that the clean text asks for, and the one that the corrupted text does. */
  readonly answer: number
  readonly wrong: number
}

interface Candidate {
  readonly prompt: readonly number[]
  readonly answer: readonly number[]
}

/** Held-out problems that are looked through. */
const SEARCHED = 256

const differences = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, id, i) => sum + Number(id !== b[i]), 0)

/** Pairs of held-out problems of a task, those first whose prompts differ least, all as long as
 * the first and asking for the same token of the answer, so that their places say the same. Fewer
 * than `count`, or none, where the task has no such. */
export function pairsOf(task: Task, seed: number, count: number): PromptPair[] {
  const { tokenizer, test_size } = task
  const problems: Candidate[] = []
  for (let index = 0; index < Math.min(SEARCHED, test_size); index++) {
    const { prompt, ground_truth } = task.sample(seed, index, 'test')
    if (tokenizer.unknownIn(prompt + ground_truth).length > 0) continue
    const answer = [...tokenizer.encode(ground_truth), tokenizer.eos_token_id]
    problems.push({ prompt: tokenizer.encode(prompt), answer })
  }
  const found = problems.flatMap((clean) => {
    const other = nearest(clean, problems)
    return other
      ? [{ pair: pairOf(clean, other), by: differences(clean.prompt, other.prompt) }]
      : []
  })
  found.sort((a, b) => a.by - b.by)
  const first = found[0]?.pair.clean.length
  return found.flatMap(({ pair }) => (pair.clean.length === first ? [pair] : [])).slice(0, count)
}

/** The problem whose prompt is as long and differs in the fewest tokens, and whose answer is
 * another one. */
function nearest(clean: Candidate, problems: readonly Candidate[]): Candidate | undefined {
  let best: { readonly other: Candidate; readonly by: number } | undefined
  for (const other of problems) {
    if (other.prompt.length !== clean.prompt.length || firstOther(clean, other) < 0) continue
    const by = differences(clean.prompt, other.prompt)
    if (by > 0 && (!best || by < best.by)) best = { other, by }
  }
  return best?.other
}

/** The first token in which two answers differ; −1 where they are the same. */
const firstOther = (a: Candidate, b: Candidate) => a.answer.findIndex((id, i) => id !== b.answer[i])

function pairOf(clean: Candidate, other: Candidate): PromptPair {
  const at = firstOther(clean, other)
  const common = clean.answer.slice(0, at)
  return {
    clean: [...clean.prompt, ...common],
    corrupted: [...other.prompt, ...common],
    answer: clean.answer[at],
    wrong: other.answer[at],
  }
}

/** Two texts as a person writes them. Throws RangeError for what is not in the vocabulary, and for
 * texts that are not as long as each other or that are the same. */
export function typedPair(
  { tokenizer }: Pick<Task, 'tokenizer'>,
  texts: readonly [string, string],
): TextPair {
  const [clean, corrupted] = texts.map((text) => tokenizer.encode(text))
  if (clean.length !== corrupted.length || clean.length === 0)
    throw new RangeError(
      `Expected two texts of as many tokens, got ${clean.length} in ${JSON.stringify(texts[0])} and ${corrupted.length} in ${JSON.stringify(texts[1])}.`,
    )
  if (differences(clean, corrupted) === 0)
    throw new RangeError('Expected two different texts, got the same one twice.')
  return { clean, corrupted }
}
