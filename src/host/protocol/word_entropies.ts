// Means the entropies of a step's tokens by kind of word, in stories.

import {
  type PlacedClass,
  WORD_CLASSES,
  type WordClass,
  wordClassesOf,
} from '../../tasks/stories/word_classes.ts'
import type { TracedSample } from './results.ts'

/** A row of the table: a kind of word, or the sentence that ends a story, whatever its words. */
export interface WordEntropy {
  readonly kind: WordClass | 'ending'
  readonly label: string
  /** Tokens that were counted; a long word is several. */
  readonly tokens: number
  /** Nats; undefined without a token. */
  readonly mean: number | undefined
}

/** Which word each token of a response belongs to: the first that begins in it, else the one that
 * it continues; undefined for spaces alone and the end token. */
function wordsOfTokens(
  { response, tokens }: TracedSample,
  words: readonly PlacedClass[],
): readonly (PlacedClass | undefined)[] {
  let at = 0
  return tokens.map((token) => {
    const [start, end] = [at, at + token.length]
    if (response.slice(start, end) !== token) return undefined
    at = end
    return words.find((word) => word.end > start && word.start < end)
  })
}

/** Entropies that the policy had at the tokens, when the update saw them. */
export function wordEntropies(samples: readonly TracedSample[]): readonly WordEntropy[] {
  const labels = { ...WORD_CLASSES, ending: 'the sentence that ends the story' }
  const sums = new Map<string, { tokens: number; sum: number }>()
  const add = (kind: string, entropy: number) => {
    const own = sums.get(kind) ?? { tokens: 0, sum: 0 }
    sums.set(kind, { tokens: own.tokens + 1, sum: own.sum + entropy })
  }
  for (const sample of samples) {
    const words = wordsOfTokens(sample, wordClassesOf(sample.prompt, sample.response))
    words.forEach((word, t) => {
      const entropy = sample.columns.entropy?.[t]
      if (!word || entropy === undefined || !Number.isFinite(entropy)) return
      add(word.kind, entropy)
      if (word.isEnding) add('ending', entropy)
    })
  }
  return Object.entries(labels).map(([kind, label]) => {
    const { tokens, sum } = sums.get(kind) ?? { tokens: 0, sum: 0 }
    const mean = tokens > 0 ? sum / tokens : undefined
    return { kind: kind as WordEntropy['kind'], label, tokens, mean }
  })
}
