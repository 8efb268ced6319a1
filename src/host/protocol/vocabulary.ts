// Tells the page the vocabulary of a run: the tokens that every policy of its model chooses from.
import { type TaskChoice, taskOf } from '../../document/experiment/fields/task_fields.ts'

export interface Vocabulary {
  /** The text of every id. */
  readonly tokens: readonly string[]
  /** Largest entropy that a policy can have, ln V nats: all tokens alike. */
  readonly max_entropy: number
  /** Names of tokens that are no text: padding, ends, and what marks the turns of a
   * conversation. */
  readonly special_tokens: ReadonlySet<string>
}

/** The vocabulary of a task, which is that of the model that learns it; or `tokens`, where a record
 * says what it was. */
export function vocabularyOf(task: TaskChoice, tokens?: readonly string[]): Vocabulary {
  const { tokens: own, special_ids } = taskOf(task).tokenizer
  const special = Array.from(special_ids, (id) => own[id])
  if (!tokens || sameTexts(tokens, own))
    return { ...sizeOf(tokens ?? own), special_tokens: new Set(special) }
  return { ...sizeOf(tokens), special_tokens: new Set(tokens.filter(isNamedSpecial)) }
}

const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((token, id) => token === b[id])

/** How tokenizers name tokens that are no text; a record keeps the names alone. */
const SPECIAL = /^(?:<\|.+\|>|<\/?(?:pad|eos|bos|s|unk|mask)>|\[(?:PAD|UNK|CLS|SEP|MASK)\])$/
const isNamedSpecial = (token: string): boolean => SPECIAL.test(token)

const sizeOf = (tokens: readonly string[]) => ({ tokens, max_entropy: Math.log(tokens.length) })

/** Ids by text, made when a vocabulary is first asked: one of 160,000 tokens takes some 50 ms. */
const idsOf = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/** The id of a token; undefined where the vocabulary lacks it. */
export function tokenId({ tokens }: Vocabulary, token: string): number | undefined {
  let ids = idsOf.get(tokens)
  if (!ids) {
    ids = new Map(tokens.map((text, id) => [text, id] as const))
    idsOf.set(tokens, ids)
  }
  return ids.get(token)
}

/** What another task means for a run that is to begin with it; undefined where both tasks have the
 * same vocabulary. */
export function newModelWords(before: TaskChoice, after: TaskChoice): string | undefined {
  const [old, other] = [vocabularyOf(before).tokens, vocabularyOf(after).tokens]
  if (old === other || JSON.stringify(old) === JSON.stringify(other)) return undefined
  return `The task has another vocabulary, ${other.length} tokens instead of ${old.length}: a restart begins with a new model, and no checkpoint of this run fits it.`
}

/** Why what was made with `tokens` is not for this task, in words that say what to do; undefined
 * where it is. Ids mean other texts in another vocabulary, so weights would load and mean
 * nothing. */
export function otherVocabulary(tokens: readonly string[], task: TaskChoice): string | undefined {
  const { tokens: own, isUnknown } = taskOf(task).tokenizer
  // The files that an experiment names decide the texts, and their hash is checked when they are
  // loaded.
  if (isUnknown && tokens.length === own.length) return undefined
  if (sameTexts(tokens, own)) return undefined
  const id = own.findIndex((token, i) => token !== tokens[i])
  const differs =
    tokens.length === own.length
      ? `token ${id} is ${JSON.stringify(tokens[id])} instead of ${JSON.stringify(own[id])}`
      : `${tokens.length} tokens instead of ${own.length}`
  return `made with another vocabulary than task ${task.id} has (${differs}), so its ids mean other texts. Begin with a new model, or choose the task that it was made for`
}
