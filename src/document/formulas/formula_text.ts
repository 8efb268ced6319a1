// Writes formulas as people read them: every line with symbols, and with the numbers of one token.
import type { Formula, Values } from '../../rl/math/formula.ts'

/** A line with a token's numbers in it. */
export interface FilledLine {
  readonly result: string
  /** What people read in place of that name. */
  readonly symbol: string
  /** As text, with names. */
  readonly symbols: string
  /** The same with numbers. */
  readonly numbers: string
  readonly value: number
}

/** What people read in place of a name, in more formulas than one. */
const SYMBOLS: Readonly<Record<string, string>> = {
  log_prob: 'log π',
  old_log_prob: 'log π_old',
  ref_log_prob: 'log π_ref',
  ratio: 'r',
  clip_ratio_low: 'ε_low',
  clip_ratio_high: 'ε_high',
  advantage: 'A',
  centred_advantage: 'A',
  no_advantage: 'A',
  loss: 'L',
  plain_loss: 'L',
  weight: 'w',
  weighted_loss: 'w·L',
  total: 'J',
  entropy: 'H',
  entropy_coeff: 'β_H',
  kl: 'KL',
  kl_sum: 'Σ KL',
  q: 'q',
  kl_coef: 'β',
  kl_loss_coef: 'β_KL',
  score: 's',
  token_score: 's_t',
  reward: 'r_t',
  group_mean: 'mean s',
  group_std: 'std s',
  epsilon: 'ε',
  n: 'n',
  gamma: 'γ',
  return_: 'G_t',
  baseline: 'b',
  batch_mean: 'mean',
  batch_std: 'std',
}

const DIGITS = 5

/** A number as a formula shows it. */
export function formulaNumber(value: number): string {
  if (value === 0) return '0'
  if (!Number.isFinite(value)) return `${value}`
  const size = Math.abs(value)
  const text =
    size < 1e-4 || size >= 1e6
      ? size.toExponential(DIGITS - 2).replace(/\.?0*e\+?/, 'e')
      : String(Number(size.toPrecision(DIGITS)))
  return value < 0 ? `−${text}` : text
}

/** A negative number behind a sign or a factor gets brackets of its own. */
function placed(text: string, before: string): string {
  return text.startsWith('−') && !/(^|[(|])\s*$/.test(before) && !/, $/.test(before)
    ? `(${text})`
    : text
}

const NAMES = /\{(\w+)\}/g

/** A template with the names' symbols; `own` has those of its formula alone. */
export const symbolic = (template: string, own: Formula<unknown>['symbols'] = {}): string =>
  template.replace(NAMES, (_, name: string) => own[name] ?? SYMBOLS[name] ?? name)

/** A template with numbers. Throws RangeError for a name without a value. */
export function filled(template: string, values: Values): string {
  return template.replace(NAMES, (_, name: string, at: number) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`formula: ${name} has no value in ${template}`)
    return placed(formulaNumber(value), template.slice(0, at))
  })
}

/** A formula with one token's numbers in it. */
export function fillFormula<I>({ lines, symbols, values }: Formula<I>, input: I): FilledLine[] {
  const known = values(input)
  return lines.flatMap(({ result, template }) => {
    const value = known[result]
    if (value === undefined || !names(template).every((name) => name in known)) return []
    return [
      {
        result,
        symbol: symbolic(`{${result}}`, symbols),
        symbols: symbolic(template, symbols),
        numbers: filled(template, known),
        value,
      },
    ]
  })
}

const names = (template: string): string[] => Array.from(template.matchAll(NAMES), ([, n]) => n)
