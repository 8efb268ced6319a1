// Teaches the four parts of DAPO.
import { formatNumber } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notOver, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Within a formula. */
const INSTEAD = 'instead of'

const parts = {
  higher: question(
    'A token has probability 0.01. With ε_high = 0.2, how probable can one batch make it before the clip stops it? And with 0.28?',
    [
      { text: '0.012 and 0.0128', is_right: true },
      { text: '0.21 and 0.29' },
      { text: '0.2 and 0.28' },
    ],
    'Yes: the bound is on the ratio. Rare tokens can hardly rise, and that is why DAPO lifts the upper bound alone.',
    'The clip bounds the ratio of the new probability to the old one.',
  ),
  token: question(
    'One response has 10 tokens and another 1,000. Each gets the mean over its own tokens, and then the two are averaged. How much does a token of the long one weigh?',
    [
      { text: 'As much as one of the short one' },
      { text: 'A hundredth of one of the short one', is_right: true },
      { text: 'A hundred times as much' },
    ],
    'Yes. So a long bad response is hardly punished per token. Counting all tokens alike (token-mean) changes that.',
    'Each response weighs the same. How many tokens share that weight?',
  ),
  sampled: tryIt(
    'Train DAPO for 20 steps, after 66 of imitation. In each, groups whose responses all score the same are dropped and other prompts are drawn, up to eight batches.',
    'v=1&p=tiny-dapo&phases.1.steps=20',
    (run) => {
      const drawn = valuesIn(run, 'train/num_gen_batches', wholePhase(run))
      const early = notOver(run)
      if (early) return early
      const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length
      return seen(
        `A step drew ${formatNumber(mean)} batches on average to fill one with groups that differ. That is the price: as many times the rollouts for one update.`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        DAPO is GRPO with four repairs, found while training long reasoning. Each is a setting of
        this lab, under verl’s name.
      </p>
      <h3>1. Clip higher</h3>
      <p>
        The clip of PPO is symmetric in the ratio, but not in what it does: a token at 0.9 can still
        become certain, a token at 0.01 can hardly grow. Exploration dies first. So the upper bound
        is lifted alone (<code>clip_ratio_high</code>):
      </p>
      <Formula tex="\operatorname{clip}(r_t,\; 1 - \epsilon_\text{low},\; 1 + \epsilon_\text{high}), \qquad \epsilon_\text{low} = 0.2,\; \epsilon_\text{high} = 0.28" />
      <Ask name="higher" of={parts.higher} />
      <h3>2. Dynamic sampling</h3>
      <p>
        A group that is all right or all wrong has advantage 0. The better the policy, the more of
        the batch is spent for nothing, and the noisier the rest. DAPO draws prompts until the batch
        is full of groups that differ (<code>filter_groups</code>).
      </p>
      <h3>3. Count tokens, not responses</h3>
      <Formula
        tex={`L = \\frac{1}{\\sum_i |o_i|} \\sum_i \\sum_t L_{i,t} \\qquad \\text{${t(INSTEAD)}}\\;  \\frac{1}{G} \\sum_i \\frac{1}{|o_i|} \\sum_t L_{i,t}`}
      />
      <Ask name="token" of={parts.token} />
      <h3>4. Soften the length limit</h3>
      <p>
        A response that is cut off at the limit scores 0 although it may have been on its way to the
        answer. That noise is replaced by a slope: from some tokens before the limit on, the reward
        falls evenly (<code>overlong_buffer</code>). It also leaves the KL out.
      </p>
      <p>
        Which part helps here? In this lab’s tiny sorting task, dynamic sampling does the work: over
        three seeds, sampled accuracy ends at 69 to 84 % with DAPO and at 60 to 73 % with GRPO after
        the same number of updates. But a step draws more batches, so per rollout the comparison is
        closer.
      </p>
      <Try name="sampled" of={parts.sampled} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv(
      '2503.14476',
      'Yu et al., DAPO: An Open-Source LLM Reinforcement Learning System at Scale',
    ),
  ],
}
