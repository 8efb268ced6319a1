// Adds tokens to the ids of a text, such as a beginning token, as a Hugging Face tokenizer does:
// one function for each type.

import { isObject } from '../../../formats/json.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

export type PostProcess = (ids: readonly number[]) => readonly number[]

const MAKERS: Readonly<Record<string, (part: Part) => PostProcess>> = {
  ByteLevel: () => (ids) => ids,
  TemplateProcessing: template,
  BertProcessing: framed,
  RobertaProcessing: framed,
  Sequence: ({ processors }) => {
    const steps = (processors as readonly Part[]).map(postProcessorOf)
    return (ids) => steps.reduce((now, step) => step(now), ids)
  },
}

/** Throws TokenizerFileError for a type that cannot be followed exactly. */
export function postProcessorOf(part: Part | null): PostProcess {
  if (!part) return (ids) => ids
  const make = Object.hasOwn(MAKERS, part.type) ? MAKERS[part.type] : undefined
  if (make) return make(part)
  throw new TokenizerFileError(
    `tokenizer.json: post_processor: expected one of ${Object.keys(MAKERS).join(', ')}, found ${part.type}, which this lab does not follow`,
  )
}

/** cls and sep are [text, id]. */
function framed({ cls, sep }: Part): PostProcess {
  const [before, after] = [cls, sep].map((one) => (one as readonly [string, number])[1])
  return (ids) => [before, ...ids, after]
}

function template({ single, special_tokens }: Part): PostProcess {
  const idsOf = (item: unknown): readonly number[] | undefined => {
    if (!isObject(item)) return undefined
    if (isObject(item.Sequence)) return undefined
    const name = isObject(item.SpecialToken) ? `${item.SpecialToken.id}` : ''
    const token =
      isObject(special_tokens) && Object.hasOwn(special_tokens, name)
        ? special_tokens[name]
        : undefined
    if (isObject(token) && Array.isArray(token.ids)) return token.ids as number[]
    throw new TokenizerFileError(
      `tokenizer.json: post_processor.special_tokens: expected the ids of ${JSON.stringify(name)}`,
    )
  }
  if (!Array.isArray(single))
    throw new TokenizerFileError('tokenizer.json: post_processor.single: expected a list')
  const items = single.map(idsOf)
  return (ids) => items.flatMap((item) => item ?? ids)
}
