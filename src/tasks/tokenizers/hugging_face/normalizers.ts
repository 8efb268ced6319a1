// Normalises a text before a Hugging Face tokenizer cuts it: one function for each type of
// normalizer.
import { toByteSigns } from './byte_level.ts'
import { refuseGrowth, replaced } from './pattern_guard.ts'
import { patternOf, whereOf } from './pieces.ts'
import { type Part, TokenizerFileError } from './tokenizer_json.ts'

export type Normalize = (text: string) => string

const unicode = (form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD') => (): Normalize => (text) =>
  text.normalize(form)

const MAKERS: Readonly<Record<string, (part: Part) => Normalize>> = {
  NFC: unicode('NFC'),
  NFD: unicode('NFD'),
  NFKC: unicode('NFKC'),
  NFKD: unicode('NFKD'),
  Lowercase: () => lowercase,
  StripAccents: () => (text) => text.replaceAll(/\p{M}/gu, ''),
  Strip: stripped,
  Replace: (part) => {
    const [pattern, content, where] = [patternOf(part), `${part.content ?? ''}`, whereOf(part)]
    return (text) => replaced(text, pattern, content, where)
  },
  Prepend:
    ({ prepend = '' }) =>
    (text) => {
      refuseGrowth(`${prepend}`.length + text.length, text, 'tokenizer.json: Prepend.prepend')
      return text === '' ? '' : `${prepend}${text}`
    },
  ByteLevel: () => toByteSigns,
  BertNormalizer: bert,
  Sequence: ({ normalizers }) => {
    const steps = (normalizers as readonly Part[]).map(normalizerOf)
    return (text) => steps.reduce((now, step) => step(now), text)
  },
}

/** Throws TokenizerFileError for a type that cannot be followed exactly. */
export function normalizerOf(part: Part | null): Normalize {
  if (!part) return (text) => text
  const make = Object.hasOwn(MAKERS, part.type) ? MAKERS[part.type] : undefined
  if (make) return make(part)
  throw new TokenizerFileError(
    `tokenizer.json: normalizer: expected one of ${Object.keys(MAKERS).join(', ')}, found ${part.type}, which this lab does not follow`,
  )
}

/** Each character alone, as Rust's tokenizers do: a sigma at the end of a word becomes σ, not ς. */
const lowercase: Normalize = (text) =>
  Array.from(text, (character) => character.toLowerCase()).join('')

function stripped({ strip_left, strip_right }: Part): Normalize {
  return (text) => {
    const right = strip_right ? text.replace(/\p{White_Space}+$/u, '') : text
    return strip_left ? right.replace(/^\p{White_Space}+/u, '') : right
  }
}

const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu

function bert({ clean_text, handle_chinese_chars, lowercase: isLower, strip_accents }: Part) {
  const steps: Normalize[] = []
  if (clean_text ?? true)
    steps.push((text) =>
      text
        .replaceAll(/(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Co}]/gu, '')
        .replaceAll(/\p{White_Space}/gu, ' '),
    )
  if (handle_chinese_chars ?? true) steps.push((text) => text.replaceAll(CHINESE, ' $& '))
  if (strip_accents ?? isLower ?? true)
    steps.push((text) => text.normalize('NFD').replaceAll(/\p{Mn}/gu, ''))
  if (isLower ?? true) steps.push(lowercase)
  return (text: string) => steps.reduce((now, step) => step(now), text)
}
