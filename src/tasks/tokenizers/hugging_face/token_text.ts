// Finds the text of every token of a vocabulary, so that a person can read it and a program can
// find its bytes again.

import { isObject } from '../../../formats/json.ts'
import { bytesOfSigns, fromUtf8, utf8 } from './byte_level.ts'
import { byteOfToken } from './decoders.ts'
import type { Part, TokenizerJson } from './tokenizer_json.ts'

/** What each id adds to a text. A token of a byte-level vocabulary is the text of its bytes, and
 * where these are no whole characters, their numbers, <0xE2><0x96>, as vocabularies with byte
 * fallback write them. ▁ is the space that it stands for. Added tokens and continued pieces (##ing)
 * are as the file writes them. */
export function tokenTexts({ entries, added_tokens, ...json }: TokenizerJson): readonly string[] {
  const added = new Set(added_tokens.map(({ id }) => id))
  const textOf = isByteLevel(json) ? byteLevelText : spaceSign(json)
  return entries.map((entry, id) => (added.has(id) ? entry : textOf(entry)))
}

type Parts = Pick<TokenizerJson, 'decoder' | 'pre_tokenizer' | 'normalizer'>

/** A part and those that are in it. */
function* within(part: Part | null): Generator<Part> {
  if (!part) return
  yield part
  for (const list of [part.pretokenizers, part.decoders, part.normalizers])
    if (Array.isArray(list))
      for (const one of list) if (isObject(one)) yield* within(one as unknown as Part)
}

const isByteLevel = ({ decoder }: Parts) =>
  [...within(decoder)].some(({ type }) => type === 'ByteLevel')

function byteLevelText(entry: string): string {
  const bytes = bytesOfSigns(entry)
  const text = fromUtf8(bytes)
  return utf8(text).length === bytes.length && !text.includes('\ufffd') ? text : byteNames(bytes)
}

const byteNames = (bytes: readonly number[]) =>
  bytes.map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`).join('')

/** ▁ where a Metaspace, or a Replace of ▁ by a space, decodes it. */
function spaceSign({ decoder }: Parts): (entry: string) => string {
  const parts = [...within(decoder)]
  const metaspace = parts.find(({ type }) => type === 'Metaspace')
  const replace = parts.find(({ type, content }) => type === 'Replace' && content === ' ')
  const pattern = isObject(replace?.pattern) ? replace.pattern.String : undefined
  const sign = metaspace ? (metaspace.replacement ?? '▁') : pattern
  if (typeof sign !== 'string' || sign === '') return (entry) => entry
  return (entry) => (byteOfToken(entry) === undefined ? entry.replaceAll(sign, ' ') : entry)
}
