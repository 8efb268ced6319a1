// Teaches BuPO's two phases, and what the evidence says.
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import { formatNumber } from '../../kit/format.ts'
import { layerEntropy, REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { notYet, phaseWhere, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  sampler: question(
    'In the inner phase, whose policy writes the responses?',
    [
      { text: 'That of the inner layer' },
      { text: 'The whole model’s, as always', is_right: true },
      { text: 'The reference’s' },
    ],
    'Yes. The inner policy is only trained: its ratio replaces that of the final policy.',
    'Read the objective: what is under the expectation?',
  ),
  moved: question(
    'The inner phase trains layer 2 of three. Which weights does it leave unchanged, bit for bit?',
    [
      { text: 'Block 3 and the final norm', is_right: true },
      { text: 'Block 1 and the embedding' },
      { text: 'None' },
    ],
    'Yes. But the vocabulary’s matrix is shared, so the final policy moves at once all the same.',
    'Which weights does the policy of layer 2 read?',
  ),
  two_phases: tryIt(
    'Train the tiny preset: imitation, four steps of layer 2, then the whole model. Wait for five steps of the last phase.',
    'v=1&p=tiny',
    (run) => {
      const inner = phaseWhere(
        run,
        (phase) =>
          phase.kind === 'rl' && phase.target_layer < run.experiment.model.num_hidden_layers,
      )
      if (inner < 0) return notYet('This run has no phase that trains an inner layer.')
      const phase = resolvePhases(run.experiment)[inner]
      const layer = phase.kind === 'rl' ? phase.target_layer : 0
      const own = valuesIn(run, layerEntropy(layer), inner)
      if (own.length < 2) return notYet('The inner phase has not taken its steps yet.')
      const final = valuesIn(run, layerEntropy(run.experiment.model.num_hidden_layers), inner)
      const says = `In its own ${own.length} steps the entropy of layer ${layer} went from ${formatNumber(own[0])} to ${formatNumber(own.at(-1))} nats; that of the final policy from ${formatNumber(final[0])} to ${formatNumber(final.at(-1))}.`
      const after = valuesIn(run, REWARD, wholePhase(run)).length
      return after < 5 ? notYet(`${says} Now the whole model: ${after} of 5 steps.`) : seen(says)
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        The first run of this page has two parts: a few steps for a lower layer alone, then the rest
        for the whole model. The idea is that lower layers learn features of good responses first,
        and the rest builds on them. Does that first part help? Below stands what is known, and it
        is less than one would hope.
      </p>
      <p>
        If every layer has a policy, it can be trained. <b>Bottom-up Policy Optimization</b> does
        reinforcement in two phases: first, for a few steps, the policy of one inner layer{' '}
        <Formula inline tex="l" />; then the whole model as usual. As a formula, where{' '}
        <Formula inline tex="\rho_t" /> says how much likelier layer <Formula inline tex="l" />{' '}
        finds a token than it did before the update, and <Formula inline tex="A_t" /> how good that
        token was:
      </p>
      <Formula tex="\rho_t = \frac{\pi_l(o_t)}{\pi_{l,\text{old}}(o_t)}, \qquad J_\text{inner} = \mathbb{E}_{o \sim \pi_{\theta_\text{old}}} \Big[ \min\big( \rho_t A_t,\, \operatorname{clip}(\rho_t) A_t \big) \Big]" />
      <p>
        The gradient stops at layer <Formula inline tex="l" />: blocks above it are not in the
        formula. The rule for <Formula inline tex="l" />: the last layer whose feed-forward block
        still <i>raises</i> the entropy. The page measures that and names the layer.
      </p>
      <Ask name="sampler" of={parts.sampler} />
      <Ask name="moved" of={parts.moved} />
      <Try name="two_phases" of={parts.two_phases} />
      <h3>What the paper reports</h3>
      <p>
        On mathematics, with models of 3 to 8 billion weights, BuPO’s average is above GRPO’s: 58.5
        against 55.1 for Qwen3-4B, 66.4 against 64.2 for Qwen3-8B, 19.6 against 18.6 and 27.8
        against 24.1 for two Llama models. The same paper also reports:
      </p>
      <ul>
        <li>
          <b>It breaks when the inner phase is long.</b> On Qwen3-4B 30 steps give 58.5, 50 give
          42.1 and 70 give 9.9.
        </li>
        <li>
          <b>The layer matters, except where it does not.</b> On Qwen3-4B layers 6, 26 and 35 are
          nearly alike; on the 8B model layers 21 and 35 end below GRPO.
        </li>
        <li>
          <b>A control comes close.</b> GRPO with a tenth of the learning rate above the layer
          reaches 58.1 on Qwen3-4B. So part of the gain may come from moving the upper layers less.
        </li>
      </ul>
      <h3>What we measured</h3>
      <p>
        In this lab, with a model of six small layers, BuPO gained nothing. On two-skills addition,
        six seeds, each of layers 1 to 5 first: sampled accuracy ended 0.7 to 2.0 points{' '}
        <i>below</i> training the whole model for the same number of steps, with standard errors of
        0.4 to 0.7. On sorting the differences are within their errors. Training one layer{' '}
        <i>alone</i>, at the rate of the whole model, recovered two fifths to half of the gain in
        addition and a fifth in sorting. In smaller models whose arms had a rate each, the last
        layer alone recovered all of it, and searches for BuPO’s best settings found none that wins.
      </p>
      <p>
        Toys of 300,000 weights do not refute results at four billion. They show how small the
        effect is to look for: one seed proves nothing here. All rows are in{' '}
        <code>docs/studies</code>, with the files that made them.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv(
      '2512.19673',
      'Bottom-up Policy Optimization',
      'equations 5, 9 and 10, tables 1, 2, 3 and 11',
    ),
    arxiv(
      '2607.01232',
      'One layer alone recovers most of what reinforcement gains, at 0.5 to 8 billion weights',
    ),
  ],
}
