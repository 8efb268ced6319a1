// Computes estimates of KL(policy ‖ reference) from the log-probs of one sampled token.

/** verl's names. `kl` = `k1`, `mse` = `k2`, `low_var_kl` = `k3`. A plus sign keeps the value and
 * takes the gradient of k2 (straight-through). `full` is missing, as in verl: it needs whole
 * distributions. */
export const KL_PENALTIES = [
  'kl',
  'k1',
  'abs',
  'mse',
  'k2',
  'low_var_kl',
  'k3',
  'k1+',
  'abs+',
  'k3+',
  'kl+',
  'mse+',
  'k2+',
  'low_var_kl+',
] as const
export type KlPenalty = (typeof KL_PENALTIES)[number]

type Estimator = 'k1' | 'abs' | 'k2' | 'k3'

/** The estimator's number in kl_loss.wgsl is its place here. */
const ESTIMATORS: readonly Estimator[] = ['k1', 'abs', 'k2', 'k3']
const SYNONYMS: ReadonlyMap<string, Estimator> = new Map([
  ...ESTIMATORS.map((name) => [name, name] as const),
  ['kl', 'k1'],
  ['mse', 'k2'],
  ['low_var_kl', 'k3'],
])

/** The estimator of a name. Throws a RangeError for a name that is not in KL_PENALTIES. */
function estimatorOf(kind: string): Estimator {
  const estimator = SYNONYMS.get(kind.replace(/\+$/, ''))
  if (!estimator)
    throw new RangeError(`kl_penalty: expected one of ${KL_PENALTIES.join(', ')}, got ${kind}`)
  return estimator
}

/** What the kernel kl_loss takes for `kind`. Throws a RangeError for an unknown name. */
export function klKind(kind: KlPenalty): { estimator: number; straight_through: 0 | 1 } {
  return {
    estimator: ESTIMATORS.indexOf(estimatorOf(kind)),
    straight_through: kind.endsWith('+') ? 1 : 0,
  }
}

/** The log ratio and the value of k3 are held within these; beyond them its slope is 0. */
const K3_LOG_RATIO = 20
const K3_VALUE = 10

/** Value and slope of k3 at d = log_prob - ref_log_prob. */
function k3At(d: number): { value: number; slope: number } {
  const q = Math.min(K3_LOG_RATIO, Math.max(-K3_LOG_RATIO, -d))
  const value = Math.expm1(q) - q
  const isHeld = Math.abs(d) > K3_LOG_RATIO || value > K3_VALUE
  return { value: Math.min(value, K3_VALUE), slope: isHeld ? 0 : -Math.expm1(q) }
}

function estimateAt(estimator: Estimator, d: number): { value: number; slope: number } {
  if (estimator === 'k1') return { value: d, slope: 1 }
  if (estimator === 'abs') return { value: Math.abs(d), slope: Math.sign(d) }
  if (estimator === 'k2') return { value: (d * d) / 2, slope: d }
  return k3At(d)
}

/** KL estimate of one token in nats, and its slope d value / d log_prob, with d = log_prob -
 * ref_log_prob: k1 = d; abs = |d| (slope 0 at 0); k2 = d²/2; k3 = min(e^q - q - 1, 10), q =
 * clamp(-d, ±20), slope 1 - e^q or 0 where held. With a plus sign the slope is d. Throws a
 * RangeError for an unknown name.
 *
 * Source: Schulman 2020, "Approximating KL divergence", http://joschu.net/blog/kl-approx.html;
 * verl verl/trainer/ppo/core_algos.py kl_penalty. */
export function klPenalty(
  kind: KlPenalty,
  logProb: number,
  refLogProb: number,
): { value: number; slope: number } {
  const d = logProb - refLogProb
  const { value, slope } = estimateAt(estimatorOf(kind), d)
  return { value, slope: kind.endsWith('+') ? d : slope }
}
