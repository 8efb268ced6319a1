// Teaches supervised fine-tuning against reinforcement learning.
import { formatShare } from '../../kit/format.ts'
import { REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { endsOf, notOver, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  limit: question(
    'Four in ten demonstrations of a sum are right; the others forget the carry. What does perfect imitation sample?',
    [
      { text: 'Right answers only' },
      { text: 'Right answers about four times in ten where there is a carry', is_right: true },
      { text: 'Wrong answers only' },
    ],
    'Yes. Imitation copies the mixture that it is shown, mistakes included.',
    'Imitation matches the probabilities of the demonstrations. What are those?',
  ),
  start: question(
    'Reinforcement begins from random weights, and no sample is ever right. What happens?',
    [
      { text: 'It learns slowly' },
      { text: 'Nothing: every reward is 0, so no response is better than another', is_right: true },
      { text: 'It imitates the ground truth' },
    ],
    'Yes. That is why there is a warm start: the right answer has to be sampled now and then.',
    'Reinforcement compares samples with each other. What if they all score the same?',
  ),
  train: tryIt(
    'A tiny model imitates one-digit sums, of which four in ten show the carry. Then reinforcement takes over, with the program as reward. It has to end 10 points above where it began.',
    'v=1&p=rlhf-tiny&phases=sft,rl&phases.0.steps=400&phases.0.batch_size=64&phases.1.steps=40&phases.1.adv_estimator=rloo&phases.1.reward_model.enable=false&algorithm.use_kl_in_reward=false',
    (run) => {
      const phase = wholePhase(run)
      const ends = endsOf(run, REWARD, phase)
      if (!ends)
        return notYet(
          phase >= 0 && valuesIn(run, REWARD, phase).length === 0
            ? 'It still imitates: there is no reward yet.'
            : 'Reinforcement has begun; ten steps are needed.',
        )
      const says = `${formatShare(ends.before)} of the samples were right after imitation, ${formatShare(ends.after)} are now, and no demonstration was added.`
      return notOver(run) ?? (ends.after > ends.before + 0.1 ? seen(says) : notYet(says))
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        <b>Supervised fine-tuning</b> (SFT) shows the model what to write, and makes exactly that
        more probable. Its loss is the cross-entropy of the demonstrations:
      </p>
      <Formula tex="L_\text{SFT}(\theta) = -\,\mathbb{E}_{(q,\,o^*)} \frac{1}{|o^*|} \sum_t \log \pi_\theta(o^*_t \mid q, o^*_{<t})" />
      <p>
        Every token has a target, so the gradient is dense and learning is fast. But the best that
        it can do is to repeat its teacher, with the teacher’s mistakes in the teacher’s
        proportions.
      </p>
      <Ask name="limit" of={parts.limit} />
      <p>
        <b>Reinforcement learning</b> (RL) shows nothing. The model writes, and a score comes back.
        It can end up better than every demonstration that it saw, because it only has to{' '}
        <i>recognise</i> a good response among its own, and needs nobody who writes one. The price:
        the score is one number for a whole response, and the model must already sample something
        good.
      </p>
      <Ask name="start" of={parts.start} />
      <p>
        So the two are used one after the other. In this lab the phases are on one line: a warm
        start in sand, then phases of reinforcement. The task of the try-it is made for the
        difference. Its warm start holds <i>two skills</i>, adding and forgetting the carry, and
        imitation cannot tell which one is meant. The reward can.
      </p>
      <Try name="train" of={parts.train} />
      <p className="soft">
        Is that learning something new, or choosing what was there? In this task it is choosing:
        both skills were taught. For large models the same question is open; see the second source.
      </p>
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    arxiv('2501.17161', 'Chu et al., SFT Memorizes, RL Generalizes'),
    arxiv(
      '2504.13837',
      'Yue et al., Does reinforcement learning really incentivize reasoning capacity beyond the base model?',
    ),
  ],
}
