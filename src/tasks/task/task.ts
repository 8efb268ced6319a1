// Declares a task. Tasks are pure and synchronous: no GPU, no clock, no state.

import type { ChatMessage } from '../tokenizers/hugging_face/chat_template.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import type { Json } from './json.ts'

/** train: draws with repeats. train_set: each training problem once. test: held-out problems. */
export type Split = 'train' | 'train_set' | 'test'

/** One problem. */
export interface Sample {
  readonly prompt: string
  /** The conversation that the prompt writes, where it is one: what a chat template is given. */
  readonly messages?: readonly ChatMessage[]
  /** The right answer, without the end token; '' where there is none. */
  readonly ground_truth: string
  /** The right answer as the row has it, where that is no text: an object or a list, whose JSON
   * `ground_truth` is. Reward programs get it. */
  readonly truth?: Json
  /** Worse answers to the prompt, where rows of a data set have them. */
  readonly rejected?: readonly string[]
  /** What a demonstration shows as the answer; wrong on purpose in some tasks. */
  readonly demonstration: string
  /** What rows of a data set say to reward functions, under verl's names. */
  readonly data_source?: string
  readonly extra_info?: Readonly<Record<string, unknown>>
  /** All columns of a data set's row by their names: TRL's reward functions take them so. */
  readonly columns?: Readonly<Record<string, unknown>>
}

/** One number of a task that a person may change. */
export interface TaskParam {
  readonly name: string
  readonly label: string
  readonly help: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step: number
  /** e.g. 'digits', 'share'. */
  readonly unit: string
}

/** An answer that was judged alone. */
export interface TaskVerdict {
  readonly sample: Sample
  readonly response: string
  readonly is_desirable: boolean
}

/** What a task can say of a response beside its score: a part of a reward may count it. */
export interface TaskAspect {
  readonly id: string
  readonly label: string
  /** One sentence. */
  readonly help: string
  /** Whether it is a share, and not a yes or no. */
  readonly isShare?: boolean
  /** From 0 to 1. */
  of(prompt: string, response: string): number
}

/** A task with its parameters filled in. */
export interface Task {
  readonly id: string
  /** What a model of this task reads and writes: it decides the size of the model's vocabulary and
   * the special tokens. */
  readonly tokenizer: Tokenizer
  /** Longest prompt and longest answer (end token included), in tokens. */
  readonly max_prompt_length: number
  readonly max_response_length: number
  /** Problems in the held-out split; `sample` takes any index and wraps around. */
  readonly test_size: number
  /** Problems that training draws from; `sample` of split train_set wraps around. */
  readonly train_size: number
  /** Sample `index` of a split: a function of (seed, task and its parameters, index, split)
   * alone. */
  sample(seed: number, index: number, split: Split): Sample
  /** Answers that were judged one by one, in the order of their file; absent where rows are no
   * such. */
  verdicts?(split: Exclude<Split, 'train'>): readonly TaskVerdict[]
  /** Whether the ground truth scores 1 and any other response 0. Where not, the task needs a
   * verifier of its own outside the lab too. */
  readonly exact_match: boolean
  /** What a score between 0 and 1 means, as part of a sentence; absent where a response is right or
   * wrong and nothing else. */
  readonly partial_score?: string
  /** How good the response (without the end token) is, from 0 to 1. 1 is right, and accuracy is the
   * share of the responses that score 1. Throws RangeError for a prompt that is none of this
   * task. */
  score(prompt: string, response: string): number
  /** What else it says of a response; none in most tasks. */
  readonly aspects?: readonly TaskAspect[]
}

/** Whether a response with this score counts as right: what accuracy and pass@k mean, also where
 * scores are partial. */
export const isRight = (score: number): boolean => score === 1

/** Something of a problem that a probe can look for in a model's states. */
export interface TaskProperty {
  readonly id: string
  /** As part of a sentence: 'whether the units carry'. */
  readonly label: string
  /** What it is of a problem: one of a few texts. */
  of(problem: Pick<Sample, 'prompt' | 'ground_truth'>): string
}

/** A kind of task: what the menu shows and what makes one. */
export interface TaskKind {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly params: readonly TaskParam[]
  /** Parameters of the short run whose result the menu states, where the defaults are too hard for
   * a small model. */
  readonly short_run?: Readonly<Record<string, number>>
  /** What a person may ask of every problem beside its answer. */
  readonly properties?: readonly TaskProperty[]
  /** What its problems need and is loaded first; until then a task knows its sizes alone, and
   * `sample`, `score` and the tokenizer throw RangeError. */
  readonly needs?: { readonly isHere: () => boolean; readonly load: () => Promise<void> }
  create(params: Readonly<Record<string, number>>): Task
}
