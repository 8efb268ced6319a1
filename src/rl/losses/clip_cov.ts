// Declares Clip-Cov: PPO's clip, and no loss at some of the tokens whose log-prob and advantage
// vary together: those drain the entropy.
import { line } from '../math/formula.ts'
import choose from './choose.wgsl?raw'
import chosen from './chosen.wgsl?raw'
import pass from './clip_cov.wgsl?raw'
import key from './clip_cov_key.wgsl?raw'
import { CLIP_RANGE, clipOf, RATIO, surrogates } from './clip_range.ts'
import { covariances, covRatio, largest, selectCount, unmasked } from './cov.ts'
import { policyLoss } from './policy_loss.ts'
import { isChosen, logRatio, tokenValues } from './response.ts'

/** MurmurHash3's finalizer. */
function mixed(x: number): number {
  let h = x >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0
  return (h ^ (h >>> 16)) >>> 0
}

/** The shader's random number of a token, a u32 from 1: what it draws by. */
export const selectionKey = (index: number, seed: number): number =>
  Math.max(1, mixed(mixed(index) ^ mixed(seed ^ 0x9e3779b9)))

const covariance = {
  section: 'policy_loss',
  min: -100,
  max: 1000,
  step: 0.1,
} as const

/** L = corr · max(-A r, -A clamp(r, 1 - low, 1 + high)), r = exp(log_prob - old_log_prob), held at
 * e^80 on the GPU; no dual clip. Candidates are unmasked, not clipped already and have clip_cov_lb
 * < (A - mean A)(log_prob - mean log_prob) < clip_cov_ub, means over the unmasked tokens of this
 * call. min(candidates, select_count) of them, drawn without replacement by `seed` and index, get
 * corr = 0: no loss, no gradient, the divisor stays. pg_clipfrac counts them; ppo_kl = mean(-x).
 * The kernel uses d_log_probs as scratch, too.
 *
 * Source: Cui et al. 2025, arXiv 2505.22617; verl core_algos.py compute_policy_loss_clip_cov. verl
 * draws by torch.randperm, so the tokens differ from a run of verl where there are more candidates
 * than select_count. */
export const clip_cov = policyLoss({
  name: 'clip_cov',
  label: 'Clip-Cov',
  numbers: {
    ...CLIP_RANGE,
    clip_cov_ratio: covRatio(
      'How many tokens of a micro-batch Clip-Cov leaves out of the gradient; always at least one.',
    ),
    clip_cov_lb: {
      ...covariance,
      label: 'Least covariance',
      help: 'Clip-Cov leaves out only tokens whose log-prob and advantage move together at least this much.',
      default: 1,
    },
    clip_cov_ub: {
      ...covariance,
      label: 'Greatest covariance',
      help: 'Clip-Cov leaves out only tokens whose log-prob and advantage move together at most this much.',
      default: 5,
    },
  },
  metrics: ['actor/ppo_kl', 'actor/pg_clipfrac'],
  code: { main: pass + key + choose },
  choice: {
    main: chosen + key + choose,
    count: (k, tokenCount) => selectCount('clip_cov_ratio', k.clip_cov_ratio, tokenCount),
    chosen: (batch, k, seed) => {
      const valid = unmasked(batch.response_mask)
      const cov = covariances(batch, valid, 1e-8)
      const candidates = valid.filter((i) => {
        const { plain, held } = surrogates(Math.exp(logRatio(batch, i)), batch.advantages[i], k)
        return plain >= held && cov[i] > k.clip_cov_lb && cov[i] < k.clip_cov_ub
      })
      const count = selectCount('clip_cov_ratio', k.clip_cov_ratio, valid.length)
      return largest(candidates, (i) => selectionKey(i, seed), count)
    },
  },
  rule: (row, k) => (t) => {
    const isLeftOut = isChosen(row, t)
    const { plain, held } = surrogates(Math.exp(logRatio(row, t)), row.advantages[t], k)
    const isClipped = held > plain
    return {
      loss: isLeftOut ? 0 : Math.max(plain, held),
      slope: isLeftOut || isClipped ? 0 : plain,
      kl: -logRatio(row, t),
      clipped: isClipped ? 1 : 0,
      isLeftOut,
    }
  },
  formula: {
    lines: [RATIO, line('loss', clipOf('ratio')), line('no_loss', '0')],
    symbols: { no_loss: 'L' },
    note: 'A few tokens of the micro-batch whose log-prob and advantage vary together are drawn and left out: the column “chosen” says which.',
    values: ({ row, t, k, loss }) =>
      isChosen(row, t)
        ? { no_loss: 0 }
        : { ...tokenValues(row, t), ...k, ratio: Math.exp(logRatio(row, t)), loss },
  },
  contradiction: ({ clip_cov_lb, clip_cov_ub }) =>
    clip_cov_lb < clip_cov_ub
      ? undefined
      : {
          at: 'clip_cov_lb',
          with: ['clip_cov_ub'],
          expected: `less than clip_cov_ub (${clip_cov_ub}), because only tokens with a covariance between the two are left out; got ${clip_cov_lb}`,
        },
})
