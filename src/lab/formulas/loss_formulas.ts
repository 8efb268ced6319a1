// The policy losses and KL estimates of one token, as formulas.
import type { RlPhase } from '../../rl/config/phase.ts'
import type { TokenTable } from '../../rl/look/token_table.ts'
import {
  clamp,
  geoLogRatio,
  heldRatio,
  isChosen,
  type LossNumbers,
  logRatio,
  meanOf,
  type ResponseTokens,
  responseRatio,
  surrogates,
  tokenLoss,
} from '../../rl/losses/token_loss.ts'
import { type Formula, line, type Values } from './formula_text.ts'

type LossMode = TokenTable['loss_mode']
type KlPenalty = RlPhase['algorithm']['kl_penalty']

/** A token of a response, as a policy loss sees it. */
export interface LossInput {
  readonly row: ResponseTokens
  readonly t: number
  readonly k: LossNumbers
}

const RATIO = line('ratio', 'exp({log_prob} − {old_log_prob})')
const clipOf = (ratio: string) =>
  `max(−{advantage} · {${ratio}}, −{advantage} · clip({${ratio}}, 1 − {clip_ratio_low}, 1 + {clip_ratio_high}))`

/** What most losses are made of. */
const tokenValues = ({ row, t, k }: LossInput) => ({
  log_prob: row.log_probs[t],
  old_log_prob: row.old_log_probs[t],
  advantage: row.advantages[t],
  ratio: heldRatio(row, t),
  clip_ratio_low: k.clip_ratio_low,
  clip_ratio_high: k.clip_ratio_high,
})

const lossOf = (loss_mode: LossMode, { row, t, k }: LossInput) => tokenLoss(loss_mode, row, t, k)

/** The policy losses before weights and means; sources in kernels/policy_loss/policy_loss.ts. */
export const POLICY_LOSS_FORMULAS: Readonly<Record<LossMode, Formula<LossInput>>> = {
  vanilla: {
    lines: [
      RATIO,
      line('larger', clipOf('ratio')),
      // For a bad response the loss is not let grow above −A · c.
      line('loss', 'min(−{advantage} · {clip_ratio_c}, {larger})'),
      line('plain_loss', clipOf('ratio')),
    ],
    values: (input) => {
      const values = tokenValues(input)
      const loss = lossOf('vanilla', input)
      if (values.advantage >= 0) return { ...values, plain_loss: loss }
      const { plain, held } = surrogates(values.ratio, values.advantage, input.k)
      const { clip_ratio_c } = input.k
      return { ...values, larger: Math.max(plain, held), clip_ratio_c, loss }
    },
  },
  gspo: {
    lines: [
      line('response_ratio', 'exp(min({mean_log_ratio}, 10))'),
      line('loss', clipOf('response_ratio')),
    ],
    note: 'One ratio for the whole response: the mean is over its tokens.',
    values: (input) => ({
      ...tokenValues(input),
      mean_log_ratio: meanOf(input.row, (i) => logRatio(input.row, i)),
      response_ratio: responseRatio(input.row),
      loss: lossOf('gspo', input),
    }),
  },
  sapo: {
    lines: [
      RATIO,
      line('gate', 'sigmoid({tau} · ({ratio} − 1))'),
      line('loss', '−{advantage} · {gate} · 4 / {tau}'),
    ],
    values: (input) => {
      const values = tokenValues(input)
      const tau = values.advantage > 0 ? input.k.tau_pos : input.k.tau_neg
      const gate = 1 / (1 + Math.exp(-tau * (values.ratio - 1)))
      return { ...values, tau, gate, loss: lossOf('sapo', input) }
    },
  },
  gpg: {
    lines: [line('loss', '−{advantage} · {log_prob}')],
    values: (input) => ({ ...tokenValues(input), loss: lossOf('gpg', input) }),
  },
  reinforce: {
    lines: [line('loss', '−{advantage} · {log_prob}')],
    values: (input) => ({ ...tokenValues(input), loss: lossOf('reinforce', input) }),
  },
  cispo: {
    lines: [
      RATIO,
      line('held_ratio', 'clip({ratio}, 1 − {clip_ratio_low}, 1 + {clip_ratio_high})'),
      line('loss', '−{held_ratio} · {advantage} · {log_prob}'),
    ],
    note: 'The clipped ratio is a constant here: the gradient flows through log π alone.',
    values: (input) => {
      const values = tokenValues(input)
      const held_ratio = surrogates(values.ratio, values.advantage, input.k).clipped_ratio
      return { ...values, held_ratio, loss: lossOf('cispo', input) }
    },
  },
  clip_cov: {
    lines: [RATIO, line('loss', clipOf('ratio')), line('no_loss', '0')],
    note: 'A few tokens of the micro-batch whose log-prob and advantage vary together are drawn and left out: the column “chosen” says which.',
    values: (input) => {
      const { row, t } = input
      if (isChosen(row, t)) return { no_loss: 0 }
      const values = { ...tokenValues(input), ratio: Math.exp(logRatio(row, t)) }
      return { ...values, loss: lossOf('clip_cov', input) }
    },
  },
  kl_cov: {
    lines: [
      RATIO,
      line('loss', '−{advantage} · {ratio} + {ppo_kl_coef} · |{log_prob} − {old_log_prob}|'),
      line('plain_loss', '−{advantage} · {ratio}'),
    ],
    note: 'The few tokens of the micro-batch whose log-prob and advantage vary together most pay for moving: the column “chosen” says which.',
    values: (input) => {
      const { row, t, k } = input
      const values = { ...tokenValues(input), ratio: Math.exp(logRatio(row, t)) }
      const loss = lossOf('kl_cov', input)
      if (!isChosen(row, t)) return { ...values, plain_loss: loss }
      return { ...values, ppo_kl_coef: k.policy_loss.ppo_kl_coef, loss }
    },
  },
  geo_mean: {
    lines: [
      line(
        'held_log_ratio',
        '{sign} · min({sign} · ({log_prob} − {old_log_prob}), {sign} · clip({log_prob} − {old_log_prob}, −{clip_ratio_low}, {clip_ratio_high}))',
      ),
      line('loss', '−{mean_advantage} · exp({mean_held_log_ratio})'),
      line('heavy_loss', '−{mean_advantage} · exp({mean_held_log_ratio} + {mean_log_weight})'),
    ],
    note: 'One loss for the whole response: the means are over its tokens.',
    values: (input) => {
      const { row, t, k } = input
      const loss = lossOf('geo_mean', input)
      const weights = row.rollout_is_weights
      return {
        ...tokenValues(input),
        sign: Math.sign(row.advantages[t]),
        held_log_ratio: geoLogRatio(row, t, k),
        mean_held_log_ratio: meanOf(row, (i) => geoLogRatio(row, i, k)),
        mean_advantage: meanOf(row, (i) => row.advantages[i]),
        ...(weights
          ? { mean_log_weight: meanOf(row, (i) => Math.log(weights[i] + 1e-10)), heavy_loss: loss }
          : { loss }),
      }
    },
  },
}

/** What the KL estimators are made of. */
export interface KlInput {
  readonly log_prob: number
  readonly ref_log_prob: number
  readonly kl: number
  /** Name of the policy's log-prob: KL in the reward is of the old policy. */
  readonly policy: 'log_prob' | 'old_log_prob'
}

/** A KL estimate of one token (kernels/kl/kl_penalty.ts); a name with a plus sign has the same value. */
export function klFormula(kind: KlPenalty, policy: KlInput['policy']): Formula<KlInput> {
  const d = `{${policy}} − {ref_log_prob}`
  const name = kind.replace(/\+$/, '')
  const values = ({ log_prob, ref_log_prob, kl }: KlInput): Values => ({
    [policy]: log_prob,
    ref_log_prob,
    q: clamp(ref_log_prob - log_prob, -20, 20),
    kl,
  })
  if (name === 'k3' || name === 'low_var_kl')
    return {
      lines: [line('q', `{ref_log_prob} − {${policy}}`), line('kl', 'min(exp({q}) − {q} − 1, 10)')],
      values,
    }
  if (name === 'abs') return { lines: [line('kl', `|${d}|`)], values }
  if (name === 'k2' || name === 'mse') return { lines: [line('kl', `½ · (${d})²`)], values }
  return { lines: [line('kl', d)], values }
}
