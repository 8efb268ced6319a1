// Teaches how a reward and what it stands for part: gold and proxy, and what holds them together.
import { formatNumber, formatShare } from '../../kit/format.ts'
import { HELD_OUT_PREFERENCES, REWARD, TASK_SCORE } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, section, tryIt } from '../base/lesson.ts'
import { endsOf, notYet, phaseWhere, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

/** Fewer steps of reinforcement say little. */
const STEPS = 30
/** Steps that a curve is smoothed over. */
const WIDTH = 5
/** Share of right answers below its best from which gold has fallen. */
const FALL = 0.05

/** The largest mean of neighbouring values, and after how many it comes. */
function peakOf(values: readonly number[]): { readonly value: number; readonly step: number } {
  let best = { value: Number.NEGATIVE_INFINITY, step: 0 }
  for (let end = WIDTH; end <= values.length; end++) {
    const value = values.slice(end - WIDTH, end).reduce((a, b) => a + b, 0) / WIDTH
    if (value > best.value) best = { value, step: end }
  }
  return best
}

const parts = {
  warm: tryIt(
    'Warm words are counted, ten are worth 1, and nothing else is rewarded. Beside it two things are measured that a warm story has: a happy end, and sentences that do not repeat.',
    'v=1&p=story-warm-words',
    (run) => {
      const phase = wholePhase(run)
      const steps = valuesIn(run, REWARD, phase).length
      const proxy = endsOf(run, REWARD, phase)
      const happy = endsOf(run, 'reward/happy_end/mean', phase)
      const varied = endsOf(run, 'reward/distinct_ngrams/mean', phase)
      if (!proxy || !happy || !varied || steps < STEPS)
        return notYet(`${steps} of ${STEPS} steps of reinforcement so far.`)
      const says = `The score for warm words went from ${formatShare(proxy.before)} to ${formatShare(proxy.after)}. Of the stories ${formatShare(happy.before)} ended happily at first, ${formatShare(happy.after)} at the end; of runs of words ${formatShare(varied.before)} were different, then ${formatShare(varied.after)}.`
      return proxy.after > proxy.before ? seen(says) : notYet(says)
    },
  ),
  peak: question(
    'Take α = 2 and β = 1 in the second formula. At which distance is the gold reward highest?',
    [
      { text: 'd = 1' },
      { text: 'd = e, about 2.7', is_right: true },
      { text: 'Nowhere: it rises for ever' },
    ],
    'Yes. The slope is α − β (log d + 1), which is 0 at log d = α/β − 1 = 1. Beyond it the proxy still rises.',
    'Where is the slope of d (2 − log d) zero?',
  ),
  pairs: question(
    'In that study the reward model learned from more and more pairs. What happened to gold?',
    [
      { text: 'Nothing: reinforcement finds every mistake anyway' },
      { text: 'It came higher before it fell', is_right: true },
      { text: 'It rose for ever' },
    ],
    'Yes. A reward model that is wrong in fewer places leaves less to find. It is still wrong in some.',
    'What does reinforcement look for, and how much of it is left?',
  ),
  parted: tryIt(
    'The task knows which sum is right: it is gold. It judges sixteen pairs, a reward model learns from them, and the policy is trained against the reward model, without a leash.',
    'v=1&p=rlhf-tiny&algorithm.use_kl_in_reward=false&phases.1.pairs.count=16&phases.2.steps=80',
    (run) => {
      const phase = wholePhase(run)
      const proxy = endsOf(run, REWARD, phase)
      const gold = valuesIn(run, TASK_SCORE, phase)
      const ends = endsOf(run, TASK_SCORE, phase)
      if (!proxy || !ends || gold.length < STEPS)
        return notYet(`${gold.length} of ${STEPS} steps of reinforcement so far.`)
      const model = phaseWhere(run, ({ kind }) => kind === 'reward_model')
      const accuracy = valuesIn(run, HELD_OUT_PREFERENCES, model).at(-1)
      const peak = peakOf(gold)
      const says = `The reward model orders ${formatShare(accuracy)} of held-out pairs as gold does. Its score went from ${formatNumber(proxy.before)} to ${formatNumber(proxy.after)}. Gold went from ${formatShare(ends.before)} to ${formatShare(ends.after)}, and was highest, ${formatShare(peak.value)}, around step ${peak.step}.`
      const hasParted = proxy.after > proxy.before && ends.after < peak.value - FALL
      return seen(
        `${says} ${hasParted ? 'Where gold falls while the proxy rises, stop.' : 'They have not parted yet: train longer, or with fewer pairs.'}`,
      )
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        A reward is nearly always a stand-in: a test for a good program, a reward model for a
        person. What is trained on is the <b>proxy</b>; what is meant is <b>gold</b>. Usually nobody
        can measure gold. So Gao, Schulman and Hilton let a large model play the person: it judges
        pairs, a smaller reward model learns from them, and the policy follows the small one while
        the large one watches.
      </p>
      <p>
        Say that stories are to be warm. That is gold, and a program can only count warm words: that
        is the proxy. Happy ends have such words, so both can rise at first. But the proxy is
        highest where <i>together</i> stands in every sentence, needed or not.
      </p>
      <p>
        Distance is measured from the policy that training began with, and both rewards are drawn
        over it:
      </p>
      <Formula tex="d = \sqrt{\mathrm{KL}(\pi \,\|\, \pi_\text{ref})}" />
      <p>
        The proxy rises as long as one trains. Gold rises, comes to a peak and falls. For
        reinforcement they found
      </p>
      <Formula tex="R_\text{gold}(d) = d\,(\alpha - \beta \log d)" />
      <p>
        <Formula inline tex="\alpha" /> says how much each step gains at first,{' '}
        <Formula inline tex="\beta" /> how fast the mistakes of the proxy are found.
      </p>
      <Ask name="peak" of={parts.peak} />
      <h3>Words that are counted</h3>
      <Try name="warm" of={parts.warm} />
      <p>
        Read the answers before and after, side by side. With seed 1 the likeliest end of a story
        says <i>They danced around and sang</i> four times, one after the other. The reader of
        stories finds no contradiction in that: it was never asked for variety.
      </p>
      <h3>Both curves</h3>
      <p>
        Here gold is the task’s own rule, so both can be drawn: <i>Reward</i> is the proxy,{' '}
        <i>The task’s own score</i> is gold.
      </p>
      <Try name="parted" of={parts.parted} />
      <Ask name="pairs" of={parts.pairs} />
      <p>
        Do not expect it of every run. Here, with one seed, sixteen pairs brought gold from 66 to 48
        %, and 256 pairs from 72 to 43 %: the better reward model was hacked as soon.
      </p>
      <h3>What holds them together</h3>
      <ul>
        <li>
          <b>A KL to the reference</b> pays for distance. In that study it changes how far a policy
          comes, and not what gold is at a distance.
        </li>
        <li>
          <b>Stopping early</b>: held-out answers, judged by what is meant, say when.
        </li>
        <li>
          <b>More pairs, and fresh ones</b>: of what the policy writes by now.
        </li>
        <li>
          <b>Several reward models</b>, and the lowest of what they say: they are wrong in different
          places.
        </li>
        <li>
          <b>A second part of the reward</b>, of something that is meant as well: what deceives one
          part rarely deceives the other.
        </li>
      </ul>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2210.10760', 'Gao et al., Scaling laws for reward model overoptimization', section('3')),
    arxiv('2209.13085', 'Skalse et al., Defining and characterizing reward hacking'),
    arxiv('2310.02743', 'Coste et al., Reward model ensembles help mitigate overoptimization'),
    arxiv('2310.04373', 'Moskovitz et al., Confronting reward model overoptimization'),
  ],
}
