// Makes the story task with its words and its tokenizer: which prompts there are, how each
// continues, and how a continuation is scored. Loaded when somebody chooses the task
// (tasks/story.ts).
import { choices, numberKinds } from '../task/numbering.ts'
import { splitProblems, uniform } from '../task/problems.ts'
import type { Sample, Task } from '../task/task.ts'
import { loadTokenizer } from '../tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import { bpeOfMerges } from '../tokenizers/train_bpe.ts'
import merges from './merges.txt?raw'
import { readStory } from './read.ts'
import type { Sentence } from './sentences/sentence.ts'
import type { StoryAspect } from './sizes.ts'
import {
  OPENING_SENTENCES,
  openingsOf,
  PLOT_OPENINGS,
  PROMPTS_OF_AN_OPENING,
  plotsOf,
  STORY_TOKENS,
} from './sizes.ts'
import { fill, slotsOf, toldWords } from './slots.ts'
import { BEATS, type Told, tell } from './tell.ts'
import type { Mood } from './words/feelings.ts'
import { after, EMPTY, type World } from './world.ts'

/** Stories that the vocabulary was trained on: the first of the default parameters. */
export const VOCABULARY_STORIES = {
  plots: 8,
  words: STORY_TOKENS.words,
  seed: 1,
  count: 5000,
} as const

let tokenizer: Tokenizer | undefined

/** Byte-pair encoding of the stories; undefined until `loadStoryTokenizer` has read it. */
export const storyTokenizer = (): Tokenizer | undefined => tokenizer

/** Reads the tokenizer from its merges. */
export async function loadStoryTokenizer(): Promise<void> {
  tokenizer ??= await loadTokenizer(bpeOfMerges(merges))
}

/** The two sentences of a prompt, with the slots that are to be filled. */
interface Opening {
  readonly sentences: readonly [Sentence, Sentence]
  readonly slots: readonly string[]
  /** The words that each slot may have. */
  readonly lists: readonly (readonly string[])[]
  readonly count: bigint
}

function promptsOf(opening: keyof typeof BEATS, most: number): Opening[] {
  return BEATS.who.flatMap((who) =>
    BEATS[opening].map((second) => {
      const slots = [...new Set([...slotsOf(who.text), ...slotsOf(second.text)])]
      const lists = slots.map((slot) => toldWords(slot, most))
      const count = lists.reduce((product, { length }) => product * BigInt(length), 1n)
      return { sentences: [who, second] as const, slots, lists, count }
    }),
  )
}

/** Prompt number `index` of an opening, and what is true after it. */
function promptAt(openings: readonly Opening[], index: bigint): { prompt: string; world: World } {
  let [rest, i] = [index, 0]
  while (rest >= openings[i].count) rest -= openings[i++].count
  const { sentences, slots, lists } = openings[i]
  const digits = choices(
    rest,
    lists.map(({ length }) => length),
  )
  const words: Record<string, string> = {}
  slots.forEach((slot, s) => {
    words[slot] = lists[s][digits[s]]
  })
  return {
    prompt: sentences.map(({ text }) => fill(text, words)).join(' '),
    world: sentences.reduce((now, own) => after(now, own, words), EMPTY),
  }
}

/** Draws that follow from a few numbers. */
function drawsOf(words: readonly number[]): () => number {
  let count = 0
  return () => uniform([...words, count++])
}

export interface StoryParams {
  /** How many plots, from the simplest. */
  readonly plots: number
  /** Words of a kind that stories use, from the most common. */
  readonly words: number
  /** Sentences of a story that its prompt tells, at most: never how it comes out. Default 2. */
  readonly told?: number
}

/** The parts of a task that need the words. */
export function storyProblems({
  plots,
  words,
  told = OPENING_SENTENCES,
}: StoryParams): Pick<Task, 'sample' | 'score'> {
  const names = openingsOf(plots)
  const openings = names.map((name) => promptsOf(name, words))
  const sizes = openings.map((own) => own.reduce((sum, { count }) => sum + count, 0n))
  const numbering = numberKinds(sizes, PROMPTS_OF_AN_OPENING)
  const problems = splitProblems(`story plots=${plots} words=${words}`, numbering.total)
  return {
    sample(seed, index, split): Sample {
      const { problem, chance } = problems.draw(seed, index, split)
      const at = numbering.at(problem)
      const { prompt: opening, world } = promptAt(openings[at.kind], at.index)
      const draw = drawsOf([problem, Math.floor(chance * 2 ** 32)])
      const fitting = plotsOf(plots).filter((name) => PLOT_OPENINGS[name] === names[at.kind])
      const plot = fitting[Math.floor(draw() * fitting.length)]
      const story = tell(world, plot, draw, words)
      const outcome = story.findIndex(({ isOutcome }) => isOutcome)
      const textOf = (part: readonly Told[]) => part.map(({ text }) => text).join('')
      const given = Math.min(told - OPENING_SENTENCES, outcome)
      const prompt = opening + textOf(story.slice(0, given))
      const ground_truth = textOf(story.slice(given))
      return { prompt, ground_truth, demonstration: ground_truth }
    },
    score(prompt, response) {
      if (!isPrompt(prompt))
        throw new RangeError(`story: expected a prompt like ${EXAMPLE}, got ${prompt}`)
      const { sentences, has_ended } = readStory(prompt + response)
      const fitting = sentences.filter(({ faults }) => faults.length === 0).length
      return has_ended ? fitting / sentences.length : 0
    },
  }
}

/** What a story, prompt and continuation, is like: each from 0 to 1. */
export function aspectsOf(text: string): Readonly<Record<StoryAspect, number>> {
  const { sentences, has_ended, mood } = readStory(text)
  const endsIn = (wanted: Mood) => Number(has_ended && mood === wanted)
  return {
    has_end: Number(has_ended),
    happy_end: endsIn('happy'),
    sad_end: endsIn('sad'),
    coherence: sentences.filter(({ faults }) => faults.length === 0).length / sentences.length,
  }
}

function isPrompt(prompt: string): boolean {
  const { sentences, has_ended } = readStory(prompt)
  const fits = sentences.every(({ faults }) => faults.length === 0)
  return sentences.length >= OPENING_SENTENCES && fits && !has_ended
}

const EXAMPLE = 'Once there was a small fox named Pip. He had a red kite.'
