// Formulas as data: every line a template, and a function that says which numbers stand in it.

export type Values = Readonly<Record<string, number>>

/** One line: what it gives, and how, with every number's name in braces. */
export interface Line {
  readonly result: string
  readonly template: string
}

/** A formula: lines that build on each other. A line whose result has no value for a token is left out. */
export interface Formula<I> {
  readonly lines: readonly Line[]
  /** Said below it, where something is not in the lines. */
  readonly note?: string | undefined
  /** The numbers of one token by the names in the templates, results included. */
  readonly values: (input: I) => Values
}

/** A line with a token's numbers in it. */
export interface FilledLine {
  readonly result: string
  /** As text, with names. */
  readonly symbols: string
  /** The same with numbers. */
  readonly numbers: string
  readonly value: number
}

/** What people read in place of a name. */
export const SYMBOLS: Readonly<Record<string, string>> = {
  log_prob: 'log π',
  old_log_prob: 'log π_old',
  ref_log_prob: 'log π_ref',
  ratio: 'r',
  response_ratio: 'ρ',
  clip_ratio_low: 'ε_low',
  clip_ratio_high: 'ε_high',
  clip_ratio_c: 'c',
  advantage: 'A',
  centred_advantage: 'A',
  lone_advantage: 'A',
  no_advantage: 'A',
  mean_advantage: 'mean A',
  mean_log_ratio: 'mean(log π − log π_old)',
  mean_held_log_ratio: 'mean y',
  mean_log_weight: 'mean log w',
  held_log_ratio: 'y',
  held_ratio: 'c',
  sign: 'sign A',
  gate: 'σ',
  tau: 'τ',
  larger: 'M',
  loss: 'L',
  plain_loss: 'L',
  heavy_loss: 'L',
  no_loss: 'L',
  ppo_kl_coef: 'β_x',
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
  best: 's_best',
  second: 's_second',
  n: 'n',
  gamma: 'γ',
  lam: 'λ',
  value: 'V_t',
  next_value: 'V_t+1',
  next_advantage: 'Â_t+1',
  next_return: 'G_t+1',
  delta: 'δ',
  raw_advantage: 'Â',
  centred: 'a',
  return_: 'G_t',
  baseline: 'b',
  batch_mean: 'mean',
  batch_std: 'std',
  alpha: 'α',
}

const DIGITS = 5

/** A number as it stands in a formula. */
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

/** A template with the names' symbols. */
export const symbolic = (template: string): string =>
  template.replace(NAMES, (_, name: string) => SYMBOLS[name] ?? name)

/** A template with numbers. Throws RangeError for a name without a value. */
export function filled(template: string, values: Values): string {
  return template.replace(NAMES, (_, name: string, at: number) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`formula: ${name} has no value in ${template}`)
    return placed(formulaNumber(value), template.slice(0, at))
  })
}

/** A formula with one token's numbers in it. */
export function fillFormula<I>({ lines, values }: Formula<I>, input: I): FilledLine[] {
  const known = values(input)
  return lines.flatMap(({ result, template }) => {
    const value = known[result]
    if (value === undefined || !names(template).every((name) => name in known)) return []
    return [{ result, symbols: symbolic(template), numbers: filled(template, known), value }]
  })
}

const names = (template: string): string[] => Array.from(template.matchAll(NAMES), ([, n]) => n)

export const line = (result: string, template: string): Line => ({ result, template })
